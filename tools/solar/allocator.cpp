// The analyser makes and frees millions of small objects; mimalloc does that in less than half of
// the C library's time.

#ifndef __SANITIZE_ADDRESS__  // which has an allocator of its own
#include <mimalloc-new-delete.h>
#endif

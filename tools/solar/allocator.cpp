// The analyser makes and frees millions of small objects; with mimalloc, parsing and verifying a
// large program take about a quarter less processor time than with the C library's allocator.

#ifndef __SANITIZE_ADDRESS__  // which has an allocator of its own
#include <mimalloc-new-delete.h>
#endif

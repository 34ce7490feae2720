// The analyser makes and frees millions of small objects. With mimalloc, parsing and verifying a
// large program take about a quarter less processor time than with the C library's allocator.

#ifndef __SANITIZE_ADDRESS__  // which has an allocator of its own
#include <mimalloc-new-delete.h>
#include <mimalloc.h>
#include <sys/mman.h>

#include <cstdint>

namespace {

/// Addresses for mimalloc in huge pages where the system has them: a page's first touch is much of
/// what small objects cost. What is not touched takes no memory.
bool give_huge_pages() {
  constexpr size_t kBytes = size_t{1} << 30;
  constexpr size_t kAlignment = size_t{1} << 26;  // of mimalloc's segments
  void* reserved = ::mmap(nullptr, kBytes + kAlignment, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(reserved);
  void* aligned = reinterpret_cast<void*>((address + kAlignment - 1) & ~(kAlignment - 1));
  return ::madvise(aligned, kBytes, MADV_HUGEPAGE) == 0 &&
         mi_manage_os_memory(aligned, kBytes, true, false, true, -1);
}

[[maybe_unused]] const bool given = give_huge_pages();

}  // namespace
#endif

#include "coverage.h"

#include <bit>

namespace solar::fuzz {
namespace {

std::array<uint8_t, kEdges> current = {};
std::array<uint8_t, kEdges> seen = {};  // bit k: taken 2^k .. 2^(k+1) - 1 times
int64_t edges = 0;
thread_local uint64_t previous = 0;

}  // namespace

std::array<uint8_t, kEdges>& counters() { return current; }

bool merge() {
  bool found = false;
  for (size_t i = 0; i < kEdges; ++i) {
    if (current[i] == 0) continue;
    const auto bit = static_cast<uint8_t>(1U << (std::bit_width(current[i]) - 1));
    if (seen[i] == 0) ++edges;
    if ((seen[i] & bit) == 0) found = true;
    seen[i] |= bit;
    current[i] = 0;
  }
  return found;
}

int64_t edges_seen() { return edges; }

}  // namespace solar::fuzz

/// Called by instrumented code at every basic block.
extern "C" void __sanitizer_cov_trace_pc() {
  const auto here = reinterpret_cast<uint64_t>(__builtin_return_address(0)) * 0x9E3779B97F4A7C15U;
  using namespace solar::fuzz;
  uint8_t& counter = current[(here ^ previous) >> 46];
  if (counter != 255) ++counter;
  previous = here >> 1;
}

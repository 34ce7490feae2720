#pragma once
// Which edges of the instrumented code (-fsanitize-coverage=trace-pc) a run took, as a map of
// counters.

#include <array>
#include <cstddef>
#include <cstdint>

namespace solar::fuzz {

inline constexpr size_t kEdges = size_t{1} << 18;

/// Counters of the present run.
std::array<uint8_t, kEdges>& counters();

/// Adds the present run to what has been seen, and clears it. True if an edge is new, or was taken
/// about twice as often as ever before.
bool merge();

/// Edges seen in all.
int64_t edges_seen();

}  // namespace solar::fuzz

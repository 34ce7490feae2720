#pragma once
// A schedule of one einsum: tile loops, and where each tensor gets its buffer among them.

#include <cstdint>
#include <vector>

namespace solar::bound {

/// `Loop`: over the tiles (of `tile` points, the last ragged) of dim `index`. `Store`: from here
/// inwards the tensor `index` has a buffer for the box that the loops above leave; what consecutive
/// boxes share stays, everything else is fetched, or written back, anew. Tiles that a guard empties
/// are skipped.
struct Step {
  enum class Kind : uint8_t { Loop, Store } kind = Kind::Loop;
  int32_t index = 0;
  int64_t tile = 1;  // of a loop
  uint32_t whole =
      0;  // of a store: axes, bit by bit, of which it holds all elements between the box's ends
  friend bool operator==(const Step&, const Step&) = default;
};

/// Outermost first; every tensor is stored once. Dims that no loop has split down to 1 are walked
/// point by point innermost, in any order that keeps ordered dims ascending.
struct Mapping {
  std::vector<Step> steps = {};
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

/// One point of the curve of traffic against capacity.
struct Point {
  int64_t capacity = 0;  // bytes that all buffers together take
  int64_t traffic = 0;   // bytes between DRAM and them
  Mapping mapping = {};
};

/// By capacity ascending, traffic descending; each better than all smaller ones.
using Curve = std::vector<Point>;

}  // namespace solar::bound

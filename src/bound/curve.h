#pragma once
// The least traffic of one einsum at every capacity, over tilings with uneven tiles. Each point is
// attained by its mapping; it is no bound on what other schedules may do.

#include <cstdint>

#include "bound/einsum.h"
#include "bound/mapping.h"

namespace solar::bound {

struct SearchEffort {
  /// Ways to split, over all orders, up to which none is left out; past it tiles are thinned.
  int64_t ways = 1'500'000;
  /// Ways up to which each is costed exactly, with every order of the loops in a gap and every
  /// tile.
  int64_t thorough = 600;
};

/// The skyline of all mappings: every order of storage nodes, every choice of tiles. The mappings
/// are of `merge_dims(einsum)`. Of an einsum without windows exact up to what a ragged last tile
/// saves, and exact where `thorough` is not exceeded. Of an einsum of more than 2^63 points none.
Curve traffic_curve(const Einsum& einsum, const SearchEffort& effort = {});

}  // namespace solar::bound

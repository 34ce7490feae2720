#pragma once
// Traffic of two products of which the second sums over what the first makes: attention, two layers
// of a network.

#include <cstdint>

#include "bound/certified.h"

namespace solar::bound {

/// A pair (row, column) is an element between the products. One formed and used up between two
/// boundaries needs the elements of its row (of the first factor and of the result) and of its
/// column (of the two other factors).
struct PairProblem {
  int64_t pairs = 0;         // elements between the products: unmasked ones
  int64_t row_elements = 0;  // per row, of all tensors that have it
  int64_t column_elements = 0;
  Width width = {};  // the narrowest of all five tensors
};

/// The best over all numbers h of segments: at least this many bytes cross, counting a write of
/// each result as the read of it. Each element between the products is made once (`no-recompute`).
Certified pair_traffic(const PairProblem& problem, int64_t capacity,
                       CacheState cache = CacheState::Cold);

}  // namespace solar::bound

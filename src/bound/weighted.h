#pragma once
// The theorem of weighted segments, for one product or for several that share tensors.

#include <cstdint>
#include <vector>

#include "bound/certified.h"

namespace solar::bound {

/// A tensor as the theorem sees it, in bytes an element.
struct Transfer {
  int64_t elements = 0;
  long double width = 0;  // the narrowest in which an element may cross or be kept
};

/// Products of which a segment with elements a, b, c at hand forms at most sqrt(a b c) * `spread`.
struct Products {
  int64_t points = 0;
  long double spread = 1;
  std::vector<int32_t> tensors = {};  // three places in the list of transfers
};

/// What transfers cost beyond one of each element, at least: the best over all numbers of segments
///   3 (h V^2)^(1/3) - (h - 1) S - sum of weight * width * elements
/// with V the products times the root of their weights and widths, over `overlap` (how much more
/// products that share tensors can make of the same elements than one can alone). 0 if none is
/// above it.
struct Excess {
  int64_t bytes = 0;
  int64_t segments = 1;
  std::vector<double> weights = {};
};
Excess weighted_excess(const std::vector<Transfer>& transfers,
                       const std::vector<Products>& products, long double overlap, int64_t capacity,
                       CacheState cache);

}  // namespace solar::bound

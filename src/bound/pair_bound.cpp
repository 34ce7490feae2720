#include "bound/pair_bound.h"

#include <algorithm>

#include "bound/conservative.h"

namespace solar::bound {

// In a segment with T elements at hand, x of them pairs from or for other segments, at most
// ((T - x) / 2)^2 / (e_m e_b) + x pairs are done: the most at x = 0 or x = T.
Certified pair_traffic(const PairProblem& problem, int64_t capacity, CacheState cache) {
  Certified best;
  best.theorem = Theorem::Pairs;
  if (problem.pairs <= 0 || problem.row_elements <= 0 || problem.column_elements <= 0) return best;
  const long double width = static_cast<long double>(problem.width.bytes_per_32) / 32;
  const long double elements = std::floor(static_cast<long double>(capacity) / width);
  const auto pairs = static_cast<long double>(problem.pairs);
  const long double both = static_cast<long double>(problem.row_elements) *
                           static_cast<long double>(problem.column_elements);
  const long double boundaries = cache == CacheState::Cold ? 1 : 0;
  const auto try_segments = [&](long double h) {
    h = std::floor(h);
    if (!(h >= 1) || h > 1e18L) return;
    LowerSum sum;
    sum.add(h * std::min(2 * std::sqrt(pairs * both / h), pairs / h) * width);
    sum.add(-(h - boundaries) * elements * width);
    sum.add(-(h - 1) * width);  // a segment ends before the transfer that would overfill it
    const int64_t bytes = sum.floor();
    if (bytes <= best.bytes) return;
    best.bytes = bytes;
    best.segments = static_cast<int64_t>(h);
  };
  const long double smooth = elements > 0 ? pairs * both / (elements * elements) : pairs;
  for (const long double around : {smooth, pairs / (4 * both), 1.0L}) {
    for (int step = -2; step <= 2; ++step) try_segments(around + step);
  }
  return best;
}

}  // namespace solar::bound

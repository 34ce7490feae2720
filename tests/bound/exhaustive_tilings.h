#pragma once
// Every tiling of a tiny einsum, by brute force: all orders of storage nodes, all tiles in all
// gaps, all orders of the loops in a gap.

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "bound/random_einsum.h"
#include "bound/skyline.h"
#include "bound/traffic.h"

namespace solar::bound {

struct EveryTiling {
  bool only_divisors = false;
  bool orders_in_gaps = true;
};

/// Calls `visit` with each mapping. The number grows like the product of the extents to the power
/// of the tensors.
inline void for_every_tiling(const Einsum& einsum, const EveryTiling& rules,
                             const std::function<void(const Mapping&)>& visit) {
  const size_t count = einsum.tensors.size();
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<Step>> gaps(count);
  const auto by_dim = [](const Step& a, const Step& b) { return a.index < b.index; };
  // The buffers hold whole ranges or not.
  const std::function<void(Mapping&, size_t)> hold = [&](Mapping& mapping, size_t at) {
    if (at == mapping.steps.size()) return visit(mapping);
    hold(mapping, at + 1);
    Step& step = mapping.steps[at];
    if (step.kind == Step::Kind::Loop) return;
    const uint32_t all = ranges(einsum, step.index);
    for (uint32_t some = all; some != 0; some = (some - 1) & all) {
      step.whole = some;
      hold(mapping, at + 1);
    }
    step.whole = 0;
  };
  const std::function<void(size_t)> arrange = [&](size_t gap) {
    if (gap == count) {
      Mapping mapping;
      for (size_t i = 0; i < count; ++i) {
        mapping.steps.insert(mapping.steps.end(), gaps[i].begin(), gaps[i].end());
        mapping.steps.push_back({.kind = Step::Kind::Store, .index = order[i]});
      }
      return hold(mapping, 0);
    }
    if (!rules.orders_in_gaps) return arrange(gap + 1);
    std::sort(gaps[gap].begin(), gaps[gap].end(), by_dim);
    const std::vector<Step> before = gaps[gap];
    do arrange(gap + 1);
    while (std::next_permutation(gaps[gap].begin(), gaps[gap].end(), by_dim));
    gaps[gap] = before;
  };
  const std::function<void(size_t, size_t, int64_t)> split = [&](size_t dim, size_t gap,
                                                                 int64_t tile) {
    if (dim == einsum.dims.size()) return arrange(0);
    const int64_t extent = einsum.dims[dim].extent;
    if (gap == count)
      return split(dim + 1, 0, dim + 1 < einsum.dims.size() ? einsum.dims[dim + 1].extent : 0);
    split(dim, gap + 1, tile);
    for (int64_t next = 1; next < tile; ++next) {
      if (rules.only_divisors && (extent % next != 0 || tile % next != 0)) continue;
      const std::vector<Step> before = gaps[gap];
      gaps[gap].push_back({.index = static_cast<int32_t>(dim), .tile = next});
      split(dim, gap + 1, next);
      gaps[gap] = before;
    }
  };
  do split(0, 0, einsum.dims.empty() ? 0 : einsum.dims[0].extent);
  while (std::next_permutation(order.begin(), order.end()));
}

inline Skyline<Mapping> exhaustive_skyline(const Einsum& einsum, const EveryTiling& rules = {}) {
  Skyline<Mapping> skyline;
  const CostModel model(einsum);
  for_every_tiling(einsum, rules, [&](const Mapping& mapping) {
    const Cost cost = model.cost(mapping);
    if (!skyline.beats(cost.capacity, cost.traffic))
      skyline.add(cost.capacity, cost.traffic, mapping);
  });
  return skyline;
}

}  // namespace solar::bound

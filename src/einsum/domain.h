#pragma once
// Sets of loop points that satisfy constraints, and their images under subscripts. Exact, by closed
// forms for boxes and by enumeration of all loops but one (an interval) inside each independent
// component; beyond a budget of steps the result is a subset and says so.

#include <vector>

#include "einsum/nest.h"
#include "einsum/region.h"

namespace solar::einsum {

/// A condition on loop points: one of the guards holds, or `index` lies in `set`, if that is given.
struct Constraint {
  LoopMask support = 0;
  std::vector<Guard> any_of = {};
  Linear index = {};
  SharedRunSet set = nullptr;

  friend bool operator==(const Constraint&, const Constraint&) = default;
};

Constraint guard_constraint(const Nest& nest, Guard guard);
/// `subscripts` (one per axis of the group) lie in the group's set.
Constraint membership(const Nest& nest, const std::vector<Linear>& subscripts,
                      const RegionGroup& group, const std::vector<int64_t>& shape);
/// One constraint per group of `region`; an empty region gives one that never holds.
std::vector<Constraint> memberships(const Nest& nest, const std::vector<Linear>& subscripts,
                                    const Region& region);

/// A set over the row-major index of some loops; not complete: a subset.
struct Found {
  RunSet set = {};
  bool complete = true;
};

/// The points of `loops` (in this order) that satisfy all constraints, whose support lies within
/// `loops`.
Found search(const Nest& nest, const std::vector<int32_t>& loops,
             const std::vector<Constraint>& constraints);

/// The points that satisfy all constraints: a region over the loops.
Region solve(const Nest& nest, const std::vector<Constraint>& constraints);

/// The elements of a tensor of `shape` that `subscripts` reach from `domain`. Axes marked in
/// `whole` are whole.
Region image(const Nest& nest, const Region& domain, const std::vector<Linear>& subscripts,
             const std::vector<int64_t>& shape, const std::vector<bool>& whole = {});

/// Number of different values of the loops in `keep` over the domain's points.
std::optional<int64_t> count_projection(const Region& domain, LoopMask keep);

}  // namespace solar::einsum

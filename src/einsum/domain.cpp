#include "einsum/domain.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace solar::einsum {

namespace {

// Evaluates a constraint that no loop influences.
bool always_holds(const Constraint& constraint) {
  if (constraint.set && constraint.set->contains(constraint.index.constant)) return true;
  return std::any_of(constraint.any_of.begin(), constraint.any_of.end(),
                     [](const Guard& guard) { return Nest::holds(guard, {}); });
}

// The set of an identity membership whose loops stand in the group's order already.
SharedRunSet identity_set(const Nest& nest, const std::vector<int32_t>& loops,
                          const std::vector<const Constraint*>& constraints) {
  if (constraints.size() != 1 || !constraints[0]->set || !constraints[0]->any_of.empty())
    return nullptr;
  const auto strides = strides_of(loops, nest.extents());
  Linear plain;
  for (size_t i = 0; i < loops.size(); ++i) plain = add(plain, scale(single(loops[i]), strides[i]));
  if (plain != constraints[0]->index) return nullptr;
  const auto& runs = constraints[0]->set->runs();
  if (!runs.empty() && runs.back().end > extent_product(loops, nest.extents())) return nullptr;
  return constraints[0]->set;
}

}  // namespace

Constraint guard_constraint(const Nest& nest, Guard guard) {
  Constraint constraint;
  constraint.support = nest.support(guard);
  constraint.any_of.push_back(std::move(guard));
  return constraint;
}

Constraint membership(const Nest& nest, const std::vector<Linear>& subscripts,
                      const RegionGroup& group, const std::vector<int64_t>& shape) {
  Constraint constraint;
  const auto strides = strides_of(group.axes, shape);
  for (size_t i = 0; i < subscripts.size(); ++i) {
    constraint.index = add(constraint.index, scale(subscripts[i], strides[i]));
  }
  constraint.index = nest.join_divisions(std::move(constraint.index));
  constraint.support = nest.support(constraint.index);
  constraint.set = group.set;
  return constraint;
}

std::vector<Constraint> memberships(const Nest& nest, const std::vector<Linear>& subscripts,
                                    const Region& region) {
  if (region.empty()) return {Constraint{}};
  std::vector<Constraint> constraints;
  for (const RegionGroup& group : region.groups()) {
    std::vector<Linear> inside;
    for (const int32_t axis : group.axes) inside.push_back(subscripts[static_cast<size_t>(axis)]);
    constraints.push_back(membership(nest, inside, group, region.shape()));
  }
  return constraints;
}

Region solve(const Nest& nest, const std::vector<Constraint>& constraints) {
  Region domain = Region::full(nest.extents());
  std::vector<LoopMask> components;  // disjoint
  for (const Constraint& constraint : constraints) {
    if (constraint.support == 0) {
      if (!always_holds(constraint)) return Region::none(nest.extents());
      continue;
    }
    LoopMask joined = constraint.support;
    std::erase_if(components, [&](LoopMask component) {
      const bool touches = (component & joined) != 0;
      if (touches) joined |= component;
      return touches;
    });
    components.push_back(joined);
  }
  for (const LoopMask component : components) {
    std::vector<int32_t> loops;
    for (int32_t loop = 0; loop < nest.loop_count(); ++loop) {
      if (component & loop_bit(loop)) loops.push_back(loop);
    }
    loops = preferred_order(std::move(loops), nest.extents());
    std::vector<Constraint> inside;
    std::vector<const Constraint*> pointers;
    for (const Constraint& constraint : constraints) {
      if ((constraint.support & component) == 0) continue;
      if (std::find(inside.begin(), inside.end(), constraint) != inside.end()) continue;
      inside.push_back(constraint);
      pointers.push_back(&constraint);
    }
    std::vector<int64_t> extents;
    for (const int32_t loop : loops) extents.push_back(nest.extent(loop));
    if (!checked_product(extents)) {
      // Too many points even to number them: nothing is proved.
      Region unknown = Region::none(nest.extents());
      unknown.mark_inexact();
      return unknown;
    }
    if (SharedRunSet same = identity_set(nest, loops, pointers)) {
      domain.restrict(std::move(loops), std::move(same));
    } else {
      Found found = search(nest, loops, inside);
      if (!found.complete) domain.mark_inexact();
      domain.restrict(std::move(loops), std::move(found.set));
    }
    if (domain.empty()) break;
  }
  return domain;
}

std::optional<int64_t> count_projection(const Region& domain, LoopMask keep) {
  if (domain.empty()) return 0;
  std::vector<int64_t> shape = domain.shape();
  Region kept = Region::full(shape);
  for (const RegionGroup& group : domain.groups()) {
    LoopMask mask = 0;
    std::vector<int32_t> inside;
    for (const int32_t loop : group.axes) {
      mask |= loop_bit(loop);
      if (keep & loop_bit(loop)) inside.push_back(loop);
    }
    if (inside.empty()) continue;
    if (inside.size() == group.axes.size()) {
      kept.restrict(group.axes, group.set);
      continue;
    }
    const Nest nest(shape);
    Region only = Region::full(shape);
    only.restrict(group.axes, group.set);
    std::vector<Linear> subscripts;
    std::vector<int64_t> extents;
    for (const int32_t loop : inside) {
      subscripts.push_back(single(loop));
      extents.push_back(shape[static_cast<size_t>(loop)]);
    }
    const auto projected = image(nest, only, subscripts, extents).count();
    if (!projected) return std::nullopt;
    // Put the projected count in place of the first kept loop's extent.
    for (const int32_t loop : inside) shape[static_cast<size_t>(loop)] = 1;
    shape[static_cast<size_t>(inside[0])] = *projected;
  }
  std::optional<int64_t> product = 1;
  std::vector<bool> done(shape.size(), false);
  for (const RegionGroup& group : kept.groups()) {
    for (const int32_t loop : group.axes) done[static_cast<size_t>(loop)] = true;
    product = checked_mul(*product, group.set->count());
    if (!product) return product;
  }
  for (size_t loop = 0; loop < shape.size(); ++loop) {
    if (done[loop] || !(keep & loop_bit(static_cast<int32_t>(loop)))) continue;
    product = checked_mul(*product, shape[loop]);
    if (!product) return product;
  }
  return product;
}

}  // namespace solar::einsum

#include "einsum/region.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "einsum/domain.h"

namespace solar::einsum {

namespace {

// The groups of `region` inside `axes`, as one set over all of `axes`.
RunSet joined(const Region& region, const std::vector<int32_t>& axes, bool& complete) {
  std::vector<const RegionGroup*> inside;
  for (const RegionGroup& group : region.groups()) {
    if (std::find(axes.begin(), axes.end(), group.axes[0]) != axes.end()) inside.push_back(&group);
  }
  if (inside.empty()) return RunSet::interval(0, extent_product(axes, region.shape()));
  if (inside.size() == 1 && inside[0]->axes == axes) return *inside[0]->set;
  std::vector<int64_t> extents;
  for (const int32_t axis : axes) extents.push_back(region.shape()[static_cast<size_t>(axis)]);
  const Nest nest(extents);
  std::vector<Constraint> constraints;
  for (const RegionGroup* group : inside) {
    std::vector<Linear> subscripts;
    for (const int32_t axis : group->axes) {
      const auto at = std::find(axes.begin(), axes.end(), axis) - axes.begin();
      subscripts.push_back(single(static_cast<int32_t>(at)));
    }
    constraints.push_back(membership(nest, subscripts, *group, region.shape()));
  }
  std::vector<int32_t> loops(axes.size());
  std::iota(loops.begin(), loops.end(), 0);
  Found found = search(nest, loops, constraints);
  complete = complete && found.complete;
  return std::move(found.set);
}

// The finest partition of the axes that both regions respect, without the axes whole in both.
std::vector<std::vector<int32_t>> common_partition(const Region& a, const Region& b) {
  std::vector<int32_t> root(a.shape().size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int32_t axis) {
    while (root[static_cast<size_t>(axis)] != axis) axis = root[static_cast<size_t>(axis)];
    return axis;
  };
  std::vector<bool> used(root.size(), false);
  for (const Region* region : {&a, &b}) {
    for (const RegionGroup& group : region->groups()) {
      for (const int32_t axis : group.axes) {
        used[static_cast<size_t>(axis)] = true;
        root[static_cast<size_t>(find(axis))] = find(group.axes[0]);
      }
    }
  }
  std::vector<std::vector<int32_t>> parts;
  for (int32_t axis = 0; axis < static_cast<int32_t>(root.size()); ++axis) {
    if (!used[static_cast<size_t>(axis)] || find(axis) != axis) continue;
    std::vector<int32_t> part;
    for (int32_t other = 0; other < static_cast<int32_t>(root.size()); ++other) {
      if (used[static_cast<size_t>(other)] && find(other) == axis) part.push_back(other);
    }
    parts.push_back(preferred_order(std::move(part), a.shape()));
  }
  return parts;
}

struct Product {
  RunSet outer;
  RunSet inner;
};

// The set as {a * extent + b : a in outer, b in inner}, if it has that form.
std::optional<Product> factor(const RunSet& set, int64_t extent) {
  std::vector<Run> outer;
  std::vector<Run> row;
  size_t at = 0;
  int64_t current = -1;
  bool whole = true;
  for (const Run run : set.runs()) {
    const int64_t first = run.begin / extent;
    const int64_t last = (run.end - 1) / extent;
    const Run inside{run.begin - first * extent, run.end - last * extent};
    const bool covers_rows = inside.begin == 0 && inside.end == extent;
    whole = whole && covers_rows;
    if (covers_rows != whole || (first != last && !covers_rows)) return std::nullopt;
    if (whole) {
      outer.push_back({first, last + 1});
      continue;
    }
    if (first != current) {
      if (current >= 0 && at != row.size()) return std::nullopt;
      current = first;
      at = 0;
      outer.push_back({first, first + 1});
    }
    if (outer.size() == 1) {
      row.push_back(inside);
    } else if (at >= row.size() || row[at] != inside) {
      return std::nullopt;
    }
    ++at;
  }
  if (whole) return Product{RunSet::from_runs(std::move(outer)), RunSet::interval(0, extent)};
  if (at != row.size()) return std::nullopt;
  return Product{RunSet::from_runs(std::move(outer)), RunSet::from_runs(std::move(row))};
}

struct Part {
  std::vector<int32_t> axes;
  RunSet a;
  RunSet b;
};

// Both regions over their common partition.
std::vector<Part> align(const Region& a, const Region& b, bool& complete) {
  std::vector<Part> parts;
  for (auto& axes : common_partition(a, b)) {
    RunSet in_a = joined(a, axes, complete);
    RunSet in_b = joined(b, axes, complete);
    parts.push_back({std::move(axes), std::move(in_a), std::move(in_b)});
  }
  return parts;
}

// `a` (combine) `b` where more than one part differs: over all differing axes at once.
template <class Combine>
Region combine_parts(const Region& a, const Region& b, std::vector<Part> parts, bool complete,
                     Combine combine) {
  Region result = Region::full(a.shape());
  std::vector<int32_t> differing;
  size_t count = 0;
  for (const Part& part : parts) {
    if (part.a == part.b) continue;
    differing.insert(differing.end(), part.axes.begin(), part.axes.end());
    ++count;
  }
  for (Part& part : parts) {
    if (part.a == part.b) {
      result.restrict(part.axes, std::move(part.a));
    } else if (count == 1) {
      result.restrict(part.axes, combine(part.a, part.b));
    }
  }
  if (count > 1) {
    const auto axes = preferred_order(differing, a.shape());
    const RunSet all_a = joined(a, axes, complete);
    const RunSet all_b = joined(b, axes, complete);
    result.restrict(axes, combine(all_a, all_b));
  }
  if (!complete || !a.exact() || !b.exact()) result.mark_inexact();
  return result;
}

}  // namespace

std::vector<int32_t> preferred_order(std::vector<int32_t> axes,
                                     const std::vector<int64_t>& extents) {
  std::sort(axes.begin(), axes.end());
  const auto extent = [&](int32_t axis) { return extents[static_cast<size_t>(axis)]; };
  const auto largest = std::max_element(
      axes.begin(), axes.end(), [&](int32_t a, int32_t b) { return extent(a) < extent(b); });
  if (largest != axes.end() && extent(*largest) / 8 > extent(axes.back())) {
    std::rotate(largest, largest + 1, axes.end());
  }
  return axes;
}

std::vector<int64_t> strides_of(const std::vector<int32_t>& axes,
                                const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(axes.size());
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = wrapping_mul(stride, extents[static_cast<size_t>(axes[i])]);
  }
  return strides;
}

int64_t extent_product(const std::vector<int32_t>& axes, const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int32_t axis : axes)
    product = wrapping_mul(product, extents[static_cast<size_t>(axis)]);
  return product;
}

Region Region::full(std::vector<int64_t> shape) {
  Region region;
  region.shape_ = std::move(shape);
  return region;
}

Region Region::none(std::vector<int64_t> shape) {
  Region region = full(std::move(shape));
  region.empty_ = true;
  return region;
}

std::optional<int64_t> Region::count() const {
  if (empty_) return 0;
  std::optional<int64_t> product = 1;
  std::vector<bool> grouped(shape_.size(), false);
  for (const RegionGroup& group : groups_) {
    for (const int32_t axis : group.axes) grouped[static_cast<size_t>(axis)] = true;
    product = checked_mul(*product, group.set->count());
    if (!product) return product;
  }
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    if (grouped[axis]) continue;
    product = checked_mul(*product, shape_[axis]);
    if (!product) return product;
  }
  return product;
}

void Region::restrict(std::vector<int32_t> axes, RunSet set) {
  restrict(std::move(axes), std::make_shared<const RunSet>(std::move(set)));
}

void Region::restrict(std::vector<int32_t> axes, SharedRunSet set) {
  if (empty_) return;
  if (set->empty()) {
    groups_.clear();
    empty_ = true;
    return;
  }
  if (set->is_interval(0, extent_product(axes, shape_))) return;
  // Independent axes apart: later steps cost what the sets' runs cost.
  for (size_t cut = 1; cut < axes.size(); ++cut) {
    std::vector<int32_t> outer(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(cut));
    std::vector<int32_t> inner(axes.begin() + static_cast<std::ptrdiff_t>(cut), axes.end());
    if (preferred_order(outer, shape_) != outer || preferred_order(inner, shape_) != inner)
      continue;
    auto product = factor(*set, extent_product(inner, shape_));
    if (!product) continue;
    restrict(std::move(outer), std::move(product->outer));
    restrict(std::move(inner), std::move(product->inner));
    return;
  }
  const int32_t smallest = *std::min_element(axes.begin(), axes.end());
  const auto at = std::find_if(groups_.begin(), groups_.end(), [&](const RegionGroup& group) {
    return *std::min_element(group.axes.begin(), group.axes.end()) > smallest;
  });
  groups_.insert(at, {std::move(axes), std::move(set)});
}

bool Region::same_as(const Region& other) const {
  if (empty_ || other.empty_) return empty_ == other.empty_;
  if (groups_.size() != other.groups_.size()) return false;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].axes != other.groups_[i].axes) return false;
    if (groups_[i].set != other.groups_[i].set && *groups_[i].set != *other.groups_[i].set)
      return false;
  }
  return true;
}

bool covers(const Region& a, const Region& b) {
  if (b.empty() || a.is_full()) return true;
  if (a.empty()) return false;
  if (a.same_as(b)) return true;
  bool complete = true;
  const auto parts = align(a, b, complete);
  return complete && std::all_of(parts.begin(), parts.end(),
                                 [](const Part& part) { return part.a.covers(part.b); });
}

Region unite(const Region& a, const Region& b) {
  if (a.empty() || b.is_full()) return b;
  if (b.empty() || a.is_full() || a.same_as(b)) return a;
  bool complete = true;
  auto parts = align(a, b, complete);
  const auto within = [](const Part& part) { return part.a.covers(part.b); };
  const auto around = [](const Part& part) { return part.b.covers(part.a); };
  if (complete && std::all_of(parts.begin(), parts.end(), within)) return a;
  if (complete && std::all_of(parts.begin(), parts.end(), around)) return b;
  return combine_parts(a, b, std::move(parts), complete,
                       [](const RunSet& x, const RunSet& y) { return unite(x, y); });
}

Region intersect(const Region& a, const Region& b) {
  if (a.empty() || b.is_full()) return a;
  if (b.empty() || a.is_full()) return b;
  if (a.same_as(b)) return a;
  bool complete = true;
  Region result = Region::full(a.shape());
  for (Part& part : align(a, b, complete)) {
    result.restrict(part.axes, intersect(part.a, part.b));
  }
  if (!complete || !a.exact() || !b.exact()) result.mark_inexact();
  return result;
}

Region subtract(const Region& a, const Region& b) {
  if (a.empty() || b.empty()) return a;
  bool complete = true;
  auto parts = align(a, b, complete);
  // Parts where b holds all of a need not be cut, the others only together.
  Region result = Region::full(a.shape());
  std::vector<int32_t> cut;
  for (const Part& part : parts) {
    if (part.b.covers(part.a)) {
      result.restrict(part.axes, RunSet(part.a));
    } else {
      cut.insert(cut.end(), part.axes.begin(), part.axes.end());
    }
  }
  if (cut.empty()) return Region::none(a.shape());
  const auto axes = preferred_order(cut, a.shape());
  result.restrict(axes, subtract(joined(a, axes, complete), joined(b, axes, complete)));
  if (!complete || !a.exact() || !b.exact()) result.mark_inexact();
  return result;
}

Region close_along(const Region& region, int32_t axis, bool descending) {
  for (const RegionGroup& group : region.groups()) {
    if (std::find(group.axes.begin(), group.axes.end(), axis) == group.axes.end()) continue;
    const int64_t extent = region.shape()[static_cast<size_t>(axis)];
    Region result = Region::full(region.shape());
    for (const RegionGroup& other : region.groups()) {
      if (&other != &group) result.restrict(other.axes, other.set);
    }
    // For every element, the elements before it: a triangle over (element, axis), projected.
    std::vector<int64_t> extents;
    for (const int32_t a : group.axes) extents.push_back(region.shape()[static_cast<size_t>(a)]);
    const auto loop = std::find(group.axes.begin(), group.axes.end(), axis) - group.axes.begin();
    const auto earlier = static_cast<int32_t>(extents.size());
    extents.push_back(extent);
    const Nest nest(extents);
    std::vector<Linear> at;
    std::vector<Linear> target;
    for (int32_t i = 0; i < earlier; ++i) {
      at.push_back(single(i));
      target.push_back(single(i == loop ? earlier : i));
    }
    const Linear distance = subtract(single(static_cast<int32_t>(loop)), single(earlier));
    Constraint order;
    order.any_of = {{Guard::Kind::NonNegative, descending ? scale(distance, -1) : distance}};
    order.support = nest.support(distance);
    const Region pairs = solve(nest, {membership(nest, at, group, region.shape()), order});
    std::vector<int64_t> shape(extents.begin(), extents.end() - 1);
    const Region closed = image(nest, pairs, target, shape);
    if (!closed.exact() || !region.exact()) result.mark_inexact();
    std::vector<int32_t> all(shape.size());
    std::iota(all.begin(), all.end(), 0);
    bool complete = true;
    result.restrict(group.axes, joined(closed, all, complete));
    if (!complete) result.mark_inexact();
    return result;
  }
  return region;
}

}  // namespace solar::einsum

#pragma once
// Sets of tensor elements (or of loop points) as products: the axes are partitioned into groups,
// each group whole or a RunSet over the product of its extents. What no group mentions is whole.
//
// Everything is exact unless `exact()` is false; then the region is a subset of the true one.

#include <cstdint>
#include <optional>
#include <vector>

#include "einsum/run_set.h"

namespace solar::einsum {

/// A restriction on some axes: the row-major index over `axes` (in this order) lies in `set`.
struct RegionGroup {
  std::vector<int32_t> axes = {};
  SharedRunSet set = nullptr;
};

class Region {
 public:
  Region() = default;
  static Region full(std::vector<int64_t> shape);
  static Region none(std::vector<int64_t> shape);

  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<RegionGroup>& groups() const { return groups_; }
  bool empty() const { return empty_; }
  bool is_full() const { return !empty_ && groups_.empty(); }
  bool exact() const { return exact_; }
  void mark_inexact() { exact_ = false; }
  /// Number of elements, if it fits 64 bits.
  std::optional<int64_t> count() const;

  /// Intersects with a restriction on axes that no group mentions yet. `axes` in preferred order.
  void restrict(std::vector<int32_t> axes, RunSet set);
  void restrict(std::vector<int32_t> axes, SharedRunSet set);

  /// The same set, found without counting (equal sets may be called different).
  bool same_as(const Region& other) const;

 private:
  std::vector<int64_t> shape_ = {};
  std::vector<RegionGroup> groups_ = {};  // by smallest axis
  bool empty_ = false;
  bool exact_ = true;
};

/// The order of a group's axes: ascending, but a far larger extent goes last, where it costs least.
std::vector<int32_t> preferred_order(std::vector<int32_t> axes,
                                     const std::vector<int64_t>& extents);
/// Row-major strides over `axes` in this order.
std::vector<int64_t> strides_of(const std::vector<int32_t>& axes,
                                const std::vector<int64_t>& extents);
/// Product of the extents of `axes`.
int64_t extent_product(const std::vector<int32_t>& axes, const std::vector<int64_t>& extents);

Region unite(const Region& a, const Region& b);
Region intersect(const Region& a, const Region& b);
Region subtract(const Region& a, const Region& b);
/// Whether `a` holds all of `b`.
bool covers(const Region& a, const Region& b);
/// All elements at or before (after, if `descending`) an element of the region along `axis`.
Region close_along(const Region& region, int32_t axis, bool descending);

}  // namespace solar::einsum

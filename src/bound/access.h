#pragma once
// Which elements of a tensor a box of points touches: a product over ranks, where a rank is a group
// of axes that share no dim with the others.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bound/einsum.h"

namespace solar::bound {

struct Rank {
  std::vector<int32_t> dims = {};
  std::vector<std::vector<int64_t>> axes = {};  // the coefficient of each of `dims`
  int32_t axis = -1;                            // where it is one axis alone
  int64_t range_step =
      0;  // where > 0: every so many-th value between the smallest and the largest counts
  bool is_window() const { return dims.size() > 1; }
};

/// The ranks of a tensor. Axes that together tell their dims apart become one rank a dim.
std::vector<Rank> ranks_of(const Tensor& tensor);

/// A window of which a buffer holds the whole range between the ends of a box, be it that the box
/// leaves holes there; none where no box leaves holes, or the whole box does.
std::optional<Rank> whole_range(const Rank& rank, const Einsum& einsum);

/// Distinct elements that a box of these side lengths touches. Exact, but for windows with holes
/// over more than 2^20 values and for groups of axes over more than 2^16 points, where it is an
/// upper bound.
int64_t image(const Rank& rank, std::span<const int64_t> lengths);

/// Elements that two boxes share, the second starting `shift` further. Exact or a lower bound, as
/// above.
int64_t overlap(const Rank& rank, std::span<const int64_t> first, std::span<const int64_t> second,
                std::span<const int64_t> shift);

/// Distinct elements that the whole box of the einsum touches.
int64_t box_image(const Einsum& einsum, const Tensor& tensor);

}  // namespace solar::bound

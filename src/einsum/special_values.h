#pragma once
// Which elements of a tensor are special values, from the values themselves.

#include <functional>

#include "einsum/region.h"
#include "ir/types.h"

namespace solar::einsum {

/// Outside each region every element is the special value, inside none is. A region without a shape
/// is whole: no element is special.
struct SpecialElements {
  Region not_zero = Region::full({});
  Region not_minus_infinity = Region::full({});
  Region not_nonzero = Region::full({});
  /// The lowest finite number of the type was taken as minus infinity: every row along the last
  /// axis holds a greater one, beside which its exponential is 0.
  bool lowest_masks = false;
  bool all_lowest = false;  // every element is the lowest finite number of the type
};

/// The lowest finite number of a floating type; NaN for others.
double lowest_number(ir::ElementType type);

/// Beyond this many elements, nothing is known of them.
inline constexpr int64_t kMaximumKnownElements = int64_t{1} << 26;

/// `value` gives the element at a row-major index. nullopt: too many elements, or too irregular.
std::optional<SpecialElements> special_elements(const std::vector<int64_t>& shape,
                                                ir::ElementType type,
                                                const std::function<double(int64_t)>& value);

}  // namespace solar::einsum

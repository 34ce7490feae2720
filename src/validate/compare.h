#pragma once
// The tolerance rule: |a - b| <= c * rounding * scale. `rounding` is eps(T) sqrt(R), R the longest
// reduction on the way, or for types narrower than f32, which accumulate in f32, eps(T) sqrt(D) / 4
// + eps(f32) sqrt(R), D the longest chain of values stored in T (rounding.h); scale is the size of
// the output's values, max(|b|, root mean square of b). NaN, infinity and integers must be equal.

#include <cstdint>
#include <string>

#include "exec/tensor.h"

namespace solar::validate {

/// c of the rule.
inline constexpr double kToleranceFactor = 16;

struct Comparison {
  bool equal = true;  // every element within tolerance
  double max_abs_error = 0;
  double max_rel_error = 0;          // error / scale
  double worst_tolerance_share = 0;  // error / tolerance; infinity where NaN or an integer differs
  int64_t wrong = 0;                 // elements beyond tolerance
  int64_t count = 0;
  int64_t telling = 0;           // elements that are integers or finite: NaN equals NaN by chance
  std::string worst_place = {};  // `[0, 3]: expected 1.5, got 1.25`
};

/// `expected` and `actual` have one shape; `rounding` is RoundingError::relative() of the program.
Comparison compare(const exec::TensorData& expected, const exec::TensorData& actual,
                   double rounding);

}  // namespace solar::validate

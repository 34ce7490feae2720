#pragma once
// The tolerance rule: |a - b| <= c * eps(T) * sqrt(R) * scale. R is the longest reduction on the
// way; scale is the size of the output's values, max(|b|, root mean square of b). NaN, infinity and
// integers must be equal.

#include <cstdint>
#include <string>

#include "exec/tensor.h"
#include "ir/core.h"

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
  std::string worst_place = {};  // `[0, 3]: expected 1.5, got 1.25`
};

/// `expected` and `actual` have one shape; `eps` is the machine epsilon of the narrowest float on
/// the way.
Comparison compare(const exec::TensorData& expected, const exec::TensorData& actual, double eps,
                   int64_t longest_reduction);

/// The largest number of points that one element of any kernel reduces over, ordered loops
/// included; at least 1.
int64_t longest_reduction(const ir::Program& program);

/// Epsilon of the widest-error float type that any tensor of the program has; 0 without floats.
double coarsest_epsilon(const ir::Program& program);

}  // namespace solar::validate

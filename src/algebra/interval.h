#pragma once
// Ranges of real values, for finding values that are the same whatever the inputs are. Every
// operation returns a range that holds all results for finite operands; a range of one number is
// exact, never the outcome of rounding a wider one.

#include <limits>

#include "ir/core.h"

namespace solar::algebra {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  static Interval of(double value) { return {value, value}; }
  bool is_constant() const {
    return low == high && low - low == 0;  // finite
  }
};

Interval hull(const Interval& a, const Interval& b);
/// Of one scalar operation. `same`: both operands are one expression.
Interval evaluate(const ir::ScalarNode& node, const Interval& a, const Interval& b,
                  const Interval& c, bool same);

}  // namespace solar::algebra

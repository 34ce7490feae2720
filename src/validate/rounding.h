#pragma once
// How far correct results of one program may lie apart, by its structure.

#include <cstdint>

#include "ir/core.h"

namespace solar::validate {

/// Two sources of error, each growing with the square root of their number: values rounded to a
/// type when they are stored, and sums accumulated in a type (f32 for narrower ones).
struct RoundingError {
  double stored = 0;       // epsilon of the coarsest type that values are rounded to
  int64_t stores = 1;      // the longest chain of values of that type
  double accumulated = 0;  // epsilon of the type that its sums are accumulated in
  int64_t reduction = 1;   // the longest reduction on the way

  /// Relative to the size of the results, without the tolerance's factor. A store errs by half an
  /// epsilon at most and counts a quarter of what a sum's unknown order does. A type that
  /// accumulates in itself is counted once, by its reductions.
  double relative() const;
};

RoundingError rounding_error(const ir::Program& program);

/// The largest number of points that one element of any kernel reduces over, ordered loops and the
/// steps of loops included; at least 1.
int64_t longest_reduction(const ir::Program& program);

}  // namespace solar::validate

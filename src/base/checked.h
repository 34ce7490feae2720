#pragma once
// 64-bit integer arithmetic that reports overflow instead of wrapping.

#include <cstdint>
#include <optional>
#include <span>

namespace solar {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The nearest integer where the result does not fit.
inline int64_t saturating_add(int64_t a, int64_t b) {
  return checked_add(a, b).value_or(a > 0 ? INT64_MAX : INT64_MIN);
}
inline int64_t saturating_mul(int64_t a, int64_t b) {
  return checked_mul(a, b).value_or((a > 0) == (b > 0) ? INT64_MAX : INT64_MIN);
}

/// Product of all values (1 for none).
inline std::optional<int64_t> checked_product(std::span<const int64_t> values) {
  std::optional<int64_t> result = 1;
  for (int64_t value : values) {
    result = checked_mul(*result, value);
    if (!result) return std::nullopt;
  }
  return result;
}

/// Division that rounds towards minus infinity; the remainder has the divisor's sign. 0 for a zero
/// divisor.
inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return a == INT64_MIN ? INT64_MIN : -a;
  const int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}
inline int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  const int64_t remainder = a % b;
  return (remainder != 0 && ((remainder < 0) != (b < 0))) ? remainder + b : remainder;
}

}  // namespace solar

#pragma once
// Scalar functions of two and three values, as the language defines them.

#include <cmath>

#include "base/checked.h"
#include "exec/lanes_inline.h"

namespace solar::exec {

/// The remainder with the divisor's sign.
template <class T>
T float_mod(T a, T b) {
  const T remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// Wraps; a negative exponent gives the truncated reciprocal (0, or +-1 for a base of +-1).
inline int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// Shifts by a negative amount or by more than 63 shift everything out.
inline int64_t shift_left(int64_t a, int64_t b) {
  return b < 0 || b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
}
inline int64_t shift_right(int64_t a, int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); }

template <class T>
SOLAR_INLINE void run_comparison(ScalarOp op, Operand a, Operand b, void* out, int count) {
  using R = uint8_t;
  switch (op) {
    case ScalarOp::Less:
      return map2<T, R>(a, b, out, count, [](T x, T y) { return static_cast<R>(x < y); });
    case ScalarOp::LessEqual:
      return map2<T, R>(a, b, out, count, [](T x, T y) { return static_cast<R>(x <= y); });
    case ScalarOp::Greater:
      return map2<T, R>(a, b, out, count, [](T x, T y) { return static_cast<R>(x > y); });
    case ScalarOp::GreaterEqual:
      return map2<T, R>(a, b, out, count, [](T x, T y) { return static_cast<R>(x >= y); });
    case ScalarOp::Equal:
      return map2<T, R>(a, b, out, count, [](T x, T y) { return static_cast<R>(x == y); });
    case ScalarOp::NotEqual:
      return map2<T, R>(a, b, out, count, [](T x, T y) { return static_cast<R>(x != y); });
    default:
      return;
  }
}

template <class T>
SOLAR_INLINE void run_float_binary(ScalarOp op, Operand a, Operand b, void* out, int count) {
  switch (op) {
    case ScalarOp::Add:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x + y; });
    case ScalarOp::Sub:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x - y; });
    case ScalarOp::Mul:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x * y; });
    case ScalarOp::Div:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x / y; });
    case ScalarOp::FloorDiv:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return std::floor(x / y); });
    case ScalarOp::Mod:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return float_mod(x, y); });
    case ScalarOp::Max:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return maximum(x, y); });
    case ScalarOp::Min:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return minimum(x, y); });
    case ScalarOp::Fmax:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return (x > y || is_nan(y)) ? x : y; });
    case ScalarOp::Fmin:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return (x < y || is_nan(y)) ? x : y; });
    case ScalarOp::Pow:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return std::pow(x, y); });
    case ScalarOp::Atan2:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return std::atan2(x, y); });
    default:
      return run_comparison<T>(op, a, b, out, count);
  }
}

SOLAR_INLINE void run_integer_binary(ScalarOp op, Operand a, Operand b, void* out, int count) {
  using T = int64_t;
  switch (op) {
    case ScalarOp::Add:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return add(x, y); });
    case ScalarOp::Sub:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return add(x, multiply(y, T(-1))); });
    case ScalarOp::Mul:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return multiply(x, y); });
    case ScalarOp::Div:
    case ScalarOp::FloorDiv:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return floor_div(x, y); });
    case ScalarOp::Mod:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return floor_mod(x, y); });
    case ScalarOp::Max:
    case ScalarOp::Fmax:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x > y ? x : y; });
    case ScalarOp::Min:
    case ScalarOp::Fmin:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x < y ? x : y; });
    case ScalarOp::Pow:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return integer_power(x, y); });
    case ScalarOp::BitAnd:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x & y; });
    case ScalarOp::BitOr:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x | y; });
    case ScalarOp::BitXor:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return x ^ y; });
    case ScalarOp::Shl:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return shift_left(x, y); });
    case ScalarOp::Shr:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return shift_right(x, y); });
    default:
      return run_comparison<T>(op, a, b, out, count);
  }
}

SOLAR_INLINE void run_bool_binary(ScalarOp op, Operand a, Operand b, void* out, int count) {
  using T = uint8_t;
  switch (op) {
    case ScalarOp::And:
    case ScalarOp::BitAnd:
    case ScalarOp::Mul:
    case ScalarOp::Min:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return static_cast<T>(x & y); });
    case ScalarOp::Or:
    case ScalarOp::BitOr:
    case ScalarOp::Add:
    case ScalarOp::Max:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return static_cast<T>(x | y); });
    case ScalarOp::BitXor:
      return map2<T, T>(a, b, out, count, [](T x, T y) { return static_cast<T>(x ^ y); });
    default:
      return run_comparison<T>(op, a, b, out, count);
  }
}

template <class T>
SOLAR_INLINE void run_select(Operand condition, Operand b, Operand c, void* out, int count) {
  const uint8_t* __restrict p = row<uint8_t>(condition);
  const T* __restrict x = row<T>(b);
  const T* __restrict y = row<T>(c);
  T* __restrict z = static_cast<T*>(out);
  if (condition.uniform) {
    const Operand taken = p[0] != 0 ? b : c;
    const T* __restrict from = row<T>(taken);
    if (taken.uniform) {
      for (int j = 0; j < count; ++j) z[j] = from[0];
    } else {
      for (int j = 0; j < count; ++j) z[j] = from[j];
    }
  } else if (!b.uniform && !c.uniform) {
    for (int j = 0; j < count; ++j) z[j] = p[j] != 0 ? x[j] : y[j];
  } else if (b.uniform && !c.uniform) {
    const T left = x[0];
    for (int j = 0; j < count; ++j) z[j] = p[j] != 0 ? left : y[j];
  } else if (!b.uniform) {
    const T right = y[0];
    for (int j = 0; j < count; ++j) z[j] = p[j] != 0 ? x[j] : right;
  } else {
    const T left = x[0], right = y[0];
    for (int j = 0; j < count; ++j) z[j] = p[j] != 0 ? left : right;
  }
}

}  // namespace solar::exec

#pragma once
// Scalar functions of one value, as the language defines them.

#include <cmath>

#include "exec/lanes_inline.h"

namespace solar::exec {

inline float log_gamma(float x) {
  int sign = 0;
  return lgammaf_r(x, &sign);
}
inline double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

template <class T>
SOLAR_INLINE void run_float_unary(ScalarOp op, Operand a, void* out, int count) {
  switch (op) {
    case ScalarOp::Exp:
      return map1<T, T>(a, out, count, [](T x) { return std::exp(x); });
    case ScalarOp::Log:
      return map1<T, T>(a, out, count, [](T x) { return std::log(x); });
    case ScalarOp::Log1p:
      return map1<T, T>(a, out, count, [](T x) { return std::log1p(x); });
    case ScalarOp::Expm1:
      return map1<T, T>(a, out, count, [](T x) { return std::expm1(x); });
    case ScalarOp::Sqrt:
      return map1<T, T>(a, out, count, [](T x) { return std::sqrt(x); });
    case ScalarOp::Rsqrt:
      return map1<T, T>(a, out, count, [](T x) { return T(1) / std::sqrt(x); });
    case ScalarOp::Sin:
      return map1<T, T>(a, out, count, [](T x) { return std::sin(x); });
    case ScalarOp::Cos:
      return map1<T, T>(a, out, count, [](T x) { return std::cos(x); });
    case ScalarOp::Tan:
      return map1<T, T>(a, out, count, [](T x) { return std::tan(x); });
    case ScalarOp::Tanh:
      return map1<T, T>(a, out, count, [](T x) { return std::tanh(x); });
    case ScalarOp::Sinh:
      return map1<T, T>(a, out, count, [](T x) { return std::sinh(x); });
    case ScalarOp::Cosh:
      return map1<T, T>(a, out, count, [](T x) { return std::cosh(x); });
    case ScalarOp::Asin:
      return map1<T, T>(a, out, count, [](T x) { return std::asin(x); });
    case ScalarOp::Acos:
      return map1<T, T>(a, out, count, [](T x) { return std::acos(x); });
    case ScalarOp::Atan:
      return map1<T, T>(a, out, count, [](T x) { return std::atan(x); });
    case ScalarOp::Erf:
      return map1<T, T>(a, out, count, [](T x) { return std::erf(x); });
    case ScalarOp::Lgamma:
      return map1<T, T>(a, out, count, [](T x) { return log_gamma(x); });
    case ScalarOp::Sigmoid:
      return map1<T, T>(a, out, count, [](T x) { return T(1) / (T(1) + std::exp(-x)); });
    case ScalarOp::Floor:
      return map1<T, T>(a, out, count, [](T x) { return std::floor(x); });
    case ScalarOp::Ceil:
      return map1<T, T>(a, out, count, [](T x) { return std::ceil(x); });
    case ScalarOp::Round:
      return map1<T, T>(a, out, count, [](T x) { return std::nearbyint(x); });
    case ScalarOp::Trunc:
      return map1<T, T>(a, out, count, [](T x) { return std::trunc(x); });
    case ScalarOp::Neg:
      return map1<T, T>(a, out, count, [](T x) { return -x; });
    case ScalarOp::Abs:
      return map1<T, T>(a, out, count, [](T x) { return std::fabs(x); });
    case ScalarOp::Sign:
      return map1<T, T>(a, out, count,
                        [](T x) { return static_cast<T>(x > T(0)) - static_cast<T>(x < T(0)); });
    case ScalarOp::IsNan:
      return map1<T, uint8_t>(a, out, count, [](T x) { return static_cast<uint8_t>(is_nan(x)); });
    case ScalarOp::IsInf:
      return map1<T, uint8_t>(a, out, count, [](T x) {
        return static_cast<uint8_t>(std::fabs(x) == std::numeric_limits<T>::infinity());
      });
    default:
      return;
  }
}

SOLAR_INLINE void run_integer_unary(ScalarOp op, Operand a, void* out, int count) {
  using T = int64_t;
  switch (op) {
    case ScalarOp::Neg:
      return map1<T, T>(a, out, count, [](T x) { return multiply(x, T(-1)); });
    case ScalarOp::Abs:
      return map1<T, T>(a, out, count, [](T x) { return x < 0 ? multiply(x, T(-1)) : x; });
    case ScalarOp::Sign:
      return map1<T, T>(a, out, count, [](T x) { return T(x > 0) - T(x < 0); });
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Round:
    case ScalarOp::Trunc:
      return map1<T, T>(a, out, count, [](T x) { return x; });
    case ScalarOp::IsNan:
    case ScalarOp::IsInf:
      return map1<T, uint8_t>(a, out, count, [](T) { return uint8_t{0}; });
    default:
      return;
  }
}

}  // namespace solar::exec

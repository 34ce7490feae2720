#pragma once
// Scalar operations of the reference evaluator: one value at a time, by their definitions.

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ir/core.h"

namespace solar::exec::reference {

using ir::ComputeType;
using ir::ScalarOp;

struct Scalar {
  ComputeType type = ComputeType::I64;
  double real = 0;      // f32 values are exactly representable
  int64_t integer = 0;  // integers and bool
};

inline double propagating(double a, double b, bool max) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return max ? std::max(a, b) : std::min(a, b);
}

template <class T>
Scalar real_operation(ScalarOp op, ComputeType type, T a, T b) {
  const auto real = [&](T x) { return Scalar{type, x, 0}; };
  const auto truth = [&](bool x) { return Scalar{type, 0, x ? 1 : 0}; };
  switch (op) {
    case ScalarOp::Neg:
      return real(-a);
    case ScalarOp::Abs:
      return real(std::abs(a));
    case ScalarOp::Sign:
      return real(a > 0 ? T(1) : a < 0 ? T(-1) : T(0));
    case ScalarOp::Exp:
      return real(std::exp(a));
    case ScalarOp::Tanh:
      return real(std::tanh(a));
    case ScalarOp::Sqrt:
      return real(std::sqrt(a));
    case ScalarOp::Sigmoid:
      return real(T(1) / (T(1) + std::exp(-a)));
    case ScalarOp::Floor:
      return real(std::floor(a));
    case ScalarOp::Round:
      return real(std::nearbyint(a));
    case ScalarOp::IsNan:
      return truth(std::isnan(a));
    case ScalarOp::IsInf:
      return truth(std::isinf(a));
    case ScalarOp::Add:
      return real(a + b);
    case ScalarOp::Sub:
      return real(a - b);
    case ScalarOp::Mul:
      return real(a * b);
    case ScalarOp::Div:
      return real(a / b);
    case ScalarOp::Max:
      return real(static_cast<T>(propagating(a, b, true)));
    case ScalarOp::Min:
      return real(static_cast<T>(propagating(a, b, false)));
    case ScalarOp::Fmax:
      return real(std::fmax(a, b));
    case ScalarOp::Fmin:
      return real(std::fmin(a, b));
    case ScalarOp::Less:
      return truth(a < b);
    case ScalarOp::LessEqual:
      return truth(a <= b);
    case ScalarOp::Greater:
      return truth(a > b);
    case ScalarOp::GreaterEqual:
      return truth(a >= b);
    case ScalarOp::Equal:
      return truth(a == b);
    case ScalarOp::NotEqual:
      return truth(a != b);
    default:
      throw std::logic_error("operation missing from the reference");
  }
}

inline Scalar integer_operation(ScalarOp op, ComputeType type, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const auto whole = [&](uint64_t value) { return Scalar{type, 0, static_cast<int64_t>(value)}; };
  const auto truth = [&](bool value) { return Scalar{type, 0, value ? 1 : 0}; };
  const auto floored = [&] {
    if (b == 0) return int64_t{0};
    const int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
  };
  switch (op) {
    case ScalarOp::Neg:
      return whole(0 - x);
    case ScalarOp::Abs:
      return whole(a < 0 ? 0 - x : x);
    case ScalarOp::Sign:
      return {type, 0, a > 0 ? 1 : a < 0 ? -1 : 0};
    case ScalarOp::Add:
      return whole(x + y);
    case ScalarOp::Sub:
      return whole(x - y);
    case ScalarOp::Mul:
      return whole(x * y);
    case ScalarOp::FloorDiv:
      return {type, 0, floored()};
    case ScalarOp::Mod:
      return whole(x - static_cast<uint64_t>(floored()) * y);
    case ScalarOp::Max:
      return {type, 0, std::max(a, b)};
    case ScalarOp::Min:
      return {type, 0, std::min(a, b)};
    case ScalarOp::BitAnd:
      return whole(x & y);
    case ScalarOp::BitXor:
      return whole(x ^ y);
    case ScalarOp::Less:
      return truth(a < b);
    case ScalarOp::LessEqual:
      return truth(a <= b);
    case ScalarOp::Greater:
      return truth(a > b);
    case ScalarOp::GreaterEqual:
      return truth(a >= b);
    case ScalarOp::Equal:
      return truth(a == b);
    case ScalarOp::NotEqual:
      return truth(a != b);
    default:
      throw std::logic_error("operation missing from the reference");
  }
}

inline Scalar bool_operation(ScalarOp op, ComputeType type, bool a, bool b) {
  const auto truth = [&](bool value) { return Scalar{type, 0, value ? 1 : 0}; };
  switch (op) {
    case ScalarOp::Not:
      return truth(!a);
    case ScalarOp::And:
      return truth(a && b);
    case ScalarOp::Or:
      return truth(a || b);
    case ScalarOp::Equal:
      return truth(a == b);
    case ScalarOp::NotEqual:
      return truth(a != b);
    default:
      throw std::logic_error("operation missing from the reference");
  }
}

}  // namespace solar::exec::reference

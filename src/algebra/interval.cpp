#include "algebra/interval.h"

#include <algorithm>
#include <cmath>

namespace solar::algebra {
namespace {

using ir::ScalarOp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Results of rounded arithmetic on wider ranges are not exact.
Interval widened(Interval value, bool exact) {
  if (std::isnan(value.low) || std::isnan(value.high)) return {};
  if (exact) return value;
  return {std::nextafter(value.low, -kInfinity), std::nextafter(value.high, kInfinity)};
}

template <class Function>
Interval rising(const Interval& a, Function function) {
  return widened({function(a.low), function(a.high)}, a.is_constant());
}

double times(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

Interval product(const Interval& a, const Interval& b, bool same) {
  const bool zero = (a.is_constant() && a.low == 0) || (b.is_constant() && b.low == 0);
  if (zero) return Interval::of(0);
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
  Interval all = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  all = widened(all, a.is_constant() && b.is_constant());
  // A value times itself.
  if (same) all.low = std::max(all.low, 0.0);
  return all;
}

Interval quotient(const Interval& a, const Interval& b) {
  if (b.low <= 0 && b.high >= 0) return {};
  if (a.is_constant() && a.low == 0) return Interval::of(0);
  if (a.is_constant() && b.is_constant()) return Interval::of(a.low / b.low);
  return product(a, widened({1 / b.high, 1 / b.low}, false), false);
}

Interval truth(bool known, bool value) {
  if (!known) return {0, 1};
  return Interval::of(value ? 1 : 0);
}

Interval compare(ScalarOp op, const Interval& a, const Interval& b) {
  switch (op) {
    case ScalarOp::Less:
      return truth(a.high < b.low || a.low >= b.high, a.high < b.low);
    case ScalarOp::LessEqual:
      return truth(a.high <= b.low || a.low > b.high, a.high <= b.low);
    case ScalarOp::Greater:
      return compare(ScalarOp::Less, b, a);
    case ScalarOp::GreaterEqual:
      return compare(ScalarOp::LessEqual, b, a);
    default: {
      const bool equal = a.is_constant() && b.is_constant() && a.low == b.low;
      const bool apart = a.high < b.low || b.high < a.low;
      return truth(equal || apart, (op == ScalarOp::Equal) == equal);
    }
  }
}

Interval of_one(ScalarOp op, const Interval& a) {
  switch (op) {
    case ScalarOp::Neg:
      return {-a.high, -a.low};
    case ScalarOp::Abs:
      if (a.low >= 0) return a;
      if (a.high <= 0) return {-a.high, -a.low};
      return {0, std::max(-a.low, a.high)};
    case ScalarOp::Sign:
      return {a.low > 0    ? 1.0
              : a.low == 0 ? 0.0
                           : -1.0,
              a.high < 0    ? -1.0
              : a.high == 0 ? 0.0
                            : 1.0};
    case ScalarOp::Exp: {
      Interval all = rising(a, [](double x) { return std::exp(x); });
      all.low = std::max(all.low, 0.0);
      return all;
    }
    case ScalarOp::Expm1:
      return rising(a, [](double x) { return std::expm1(x); });
    case ScalarOp::Log:
      return a.low > 0 ? rising(a, [](double x) { return std::log(x); }) : Interval{};
    case ScalarOp::Log1p:
      return a.low > -1 ? rising(a, [](double x) { return std::log1p(x); }) : Interval{};
    case ScalarOp::Sqrt: {
      if (a.low < 0) return {0, kInfinity};
      Interval all = rising(a, [](double x) { return std::sqrt(x); });
      all.low = std::max(all.low, 0.0);
      return all;
    }
    case ScalarOp::Rsqrt:
      if (a.is_constant() && a.low > 0) return Interval::of(1 / std::sqrt(a.low));
      return {0, kInfinity};
    case ScalarOp::Sin:
      return a.is_constant() ? Interval::of(std::sin(a.low)) : Interval{-1, 1};
    case ScalarOp::Cos:
      return a.is_constant() ? Interval::of(std::cos(a.low)) : Interval{-1, 1};
    case ScalarOp::Tanh:
      return rising(a, [](double x) { return std::tanh(x); });
    case ScalarOp::Erf:
      return rising(a, [](double x) { return std::erf(x); });
    case ScalarOp::Sigmoid:
      return rising(a, [](double x) { return 1 / (1 + std::exp(-x)); });
    case ScalarOp::Floor:
      return {std::floor(a.low), std::floor(a.high)};
    case ScalarOp::Ceil:
      return {std::ceil(a.low), std::ceil(a.high)};
    case ScalarOp::Trunc:
      return {std::trunc(a.low), std::trunc(a.high)};
    case ScalarOp::Round:
      return {std::nearbyint(a.low), std::nearbyint(a.high)};
    case ScalarOp::Not:
      return {1 - a.high, 1 - a.low};
    default:
      return {};
  }
}

}  // namespace

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval evaluate(const ir::ScalarNode& node, const Interval& a, const Interval& b,
                  const Interval& c, bool same) {
  const bool exact = a.is_constant() && b.is_constant();
  switch (node.op) {
    case ScalarOp::Add:
      return widened({a.low + b.low, a.high + b.high}, exact);
    case ScalarOp::Sub:
      if (same) return Interval::of(0);
      return widened({a.low - b.high, a.high - b.low}, exact);
    case ScalarOp::Mul:
      return product(a, b, same);
    case ScalarOp::Div:
      return quotient(a, b);
    case ScalarOp::Min:
    case ScalarOp::Fmin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ScalarOp::Max:
    case ScalarOp::Fmax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case ScalarOp::Pow:
      if (exact && std::isfinite(std::pow(a.low, b.low)))
        return Interval::of(std::pow(a.low, b.low));
      return {};
    case ScalarOp::Less:
    case ScalarOp::LessEqual:
    case ScalarOp::Greater:
    case ScalarOp::GreaterEqual:
    case ScalarOp::Equal:
    case ScalarOp::NotEqual:
      return compare(node.op, a, b);
    case ScalarOp::And:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ScalarOp::Or:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case ScalarOp::Select:
      if (a.is_constant()) return a.low != 0 ? b : c;
      return hull(b, c);
    default:
      return of_one(node.op, a);
  }
}

}  // namespace solar::algebra

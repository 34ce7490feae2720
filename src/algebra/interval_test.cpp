// Ranges hold every value that the operation has at points of its operands' ranges.

#include "algebra/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace solar::algebra {
namespace {

using ir::ScalarOp;

struct Operation {
  ScalarOp op;
  std::function<double(double, double, double)> value;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {ScalarOp::Neg, [](double a, double, double) { return -a; }},
      {ScalarOp::Abs, [](double a, double, double) { return std::fabs(a); }},
      {ScalarOp::Sign, [](double a, double, double) { return double((a > 0) - (a < 0)); }},
      {ScalarOp::Exp, [](double a, double, double) { return std::exp(a); }},
      {ScalarOp::Expm1, [](double a, double, double) { return std::expm1(a); }},
      {ScalarOp::Log, [](double a, double, double) { return std::log(a); }},
      {ScalarOp::Log1p, [](double a, double, double) { return std::log1p(a); }},
      {ScalarOp::Sqrt, [](double a, double, double) { return std::sqrt(a); }},
      {ScalarOp::Rsqrt, [](double a, double, double) { return 1 / std::sqrt(a); }},
      {ScalarOp::Sin, [](double a, double, double) { return std::sin(a); }},
      {ScalarOp::Cos, [](double a, double, double) { return std::cos(a); }},
      {ScalarOp::Tanh, [](double a, double, double) { return std::tanh(a); }},
      {ScalarOp::Erf, [](double a, double, double) { return std::erf(a); }},
      {ScalarOp::Sigmoid, [](double a, double, double) { return 1 / (1 + std::exp(-a)); }},
      {ScalarOp::Floor, [](double a, double, double) { return std::floor(a); }},
      {ScalarOp::Ceil, [](double a, double, double) { return std::ceil(a); }},
      {ScalarOp::Round, [](double a, double, double) { return std::nearbyint(a); }},
      {ScalarOp::Trunc, [](double a, double, double) { return std::trunc(a); }},
      {ScalarOp::Add, [](double a, double b, double) { return a + b; }},
      {ScalarOp::Sub, [](double a, double b, double) { return a - b; }},
      {ScalarOp::Mul, [](double a, double b, double) { return a * b; }},
      {ScalarOp::Div, [](double a, double b, double) { return a / b; }},
      {ScalarOp::Min, [](double a, double b, double) { return std::min(a, b); }},
      {ScalarOp::Max, [](double a, double b, double) { return std::max(a, b); }},
      {ScalarOp::Pow, [](double a, double b, double) { return std::pow(a, b); }},
      {ScalarOp::Less, [](double a, double b, double) { return double(a < b); }},
      {ScalarOp::LessEqual, [](double a, double b, double) { return double(a <= b); }},
      {ScalarOp::Greater, [](double a, double b, double) { return double(a > b); }},
      {ScalarOp::GreaterEqual, [](double a, double b, double) { return double(a >= b); }},
      {ScalarOp::Equal, [](double a, double b, double) { return double(a == b); }},
      {ScalarOp::NotEqual, [](double a, double b, double) { return double(a != b); }},
      {ScalarOp::Select, [](double a, double b, double c) { return a != 0 ? b : c; }},
  };
  return all;
}

TEST(Interval, HoldsEveryValue) {
  std::mt19937 random(1);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
  };
  // Few different ends, so that they are often equal, zero, or one number.
  const auto range = [&] {
    const double a = pick(-3, 3), b = pick(-3, 3);
    return pick(0, 3) == 0 ? Interval::of(a) : Interval{std::min(a, b), std::max(a, b)};
  };
  const auto within = [&](const Interval& of) {
    return of.low + (of.high - of.low) * pick(0, 8) / 8.0;
  };
  for (int i = 0; i < 20000; ++i) {
    const Operation& operation = operations()[random() % operations().size()];
    const Interval a = range(), b = range(), c = range();
    ir::ScalarNode node;
    node.op = operation.op;
    const Interval all = evaluate(node, a, b, c, false);
    for (int k = 0; k < 8; ++k) {
      const double x = within(a), y = within(b), z = within(c);
      const double value = operation.value(x, y, z);
      if (!std::isfinite(value)) continue;
      EXPECT_TRUE(all.low <= value && value <= all.high)
          << "operation " << static_cast<int>(operation.op) << " of " << x << ", " << y << ", " << z
          << " is " << value << ", not in " << all.low << " .. " << all.high;
    }
  }
}

TEST(Interval, AnExpressionWithItself) {
  ir::ScalarNode node;
  node.op = ScalarOp::Sub;
  EXPECT_TRUE(evaluate(node, {}, {}, {}, true).is_constant());
  EXPECT_FALSE(evaluate(node, {}, {}, {}, false).is_constant());
  node.op = ScalarOp::Mul;
  EXPECT_EQ(evaluate(node, {-2, 3}, {-2, 3}, {}, true).low, 0);
}

TEST(Interval, RoundingLeavesNoWiderRangeConstant) {
  ir::ScalarNode node;
  node.op = ScalarOp::Tanh;
  EXPECT_FALSE(evaluate(node, {100, 200}, {}, {}, false).is_constant());
  node.op = ScalarOp::Add;
  EXPECT_FALSE(evaluate(node, {1e30, 1e30 + 1e15}, {0, 1}, {}, false).is_constant());
}

}  // namespace
}  // namespace solar::algebra

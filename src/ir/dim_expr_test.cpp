#include "ir/dim_expr.h"

#include <gtest/gtest.h>

#include <map>

#include "base/checked.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"

namespace solar::ir {
namespace {

using Values = std::map<std::string, int64_t>;

/// An expression both ways: symbolic, and its value at a binding.
struct Both {
  DimExpr expr;
  int64_t value = 0;
};

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = {"A", "B", "C", "H"};
  return all;
}

Both random_both(std::mt19937_64& random, DimTable& table, const Values& values, int depth) {
  if (depth == 0 || draw(random, 0, 4) == 0) {
    if (draw(random, 0, 2) == 0) {
      const int64_t value = draw(random, -3, 9);
      return {table.constant(value), value};
    }
    const std::string& name = names()[random() % names().size()];
    return {table.variable(name), values.at(name)};
  }
  const Both a = random_both(random, table, values, depth - 1);
  const Both b = random_both(random, table, values, depth - 1);
  switch (draw(random, 0, 6)) {
    case 0:
      return {table.add(a.expr, b.expr), a.value + b.value};
    case 1:
      return {table.subtract(a.expr, b.expr), a.value - b.value};
    case 2:
      return {table.multiply(a.expr, b.expr), a.value * b.value};
    case 3:
      return {table.apply(DimOp::Min, a.expr, b.expr), std::min(a.value, b.value)};
    case 4:
      return {table.apply(DimOp::Max, a.expr, b.expr), std::max(a.value, b.value)};
    default: {
      // A divisor is positive wherever the language divides.
      if (b.value <= 0) return a;
      return draw(random, 0, 1) == 0
                 ? Both{table.apply(DimOp::FloorDiv, a.expr, b.expr), floor_div(a.value, b.value)}
                 : Both{table.apply(DimOp::Mod, a.expr, b.expr), floor_mod(a.value, b.value)};
    }
  }
}

/// The value of a dim expression's text, by the language's grammar.
int64_t evaluate(const ast::Expr& expr, const Values& values) {
  const auto operand = [&](size_t i) { return evaluate(*expr.operands[i], values); };
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      return expr.integer;
    case ast::ExprKind::Name:
      return values.at(expr.text);
    case ast::ExprKind::Unary:
      return -operand(0);
    case ast::ExprKind::Call:
      return expr.text == "min" ? std::min(operand(0), operand(1))
                                : std::max(operand(0), operand(1));
    default:
      break;
  }
  const int64_t a = operand(0);
  const int64_t b = operand(1);
  if (expr.text == "+") return a + b;
  if (expr.text == "-") return a - b;
  if (expr.text == "*") return a * b;
  return expr.text == "//" ? floor_div(a, b) : floor_mod(a, b);
}

int64_t evaluate_text(const std::string& text, const Values& values) {
  auto file = parse_text("t.alir", "program p() -> (y) { require " + text + " }");
  EXPECT_TRUE(file) << text;
  if (!file) return INT64_MIN;
  return evaluate(*std::get<ast::Require>(file->program->block.statements.at(0).body).condition,
                  values);
}

TEST(DimExpr, TextHasTheExpressionsValue) {
  std::mt19937_64 random = seeded(3);
  for (int round = 0; round < 3000; ++round) {
    DimTable table;
    Values values;
    for (const std::string& name : names()) values[name] = draw(random, 1, 12);
    const Both both = random_both(random, table, values, 4);
    const std::string text = table.text(both.expr);
    EXPECT_EQ(evaluate_text(text, values), both.value) << text;
    EXPECT_EQ(evaluate_text(table.text(both.expr, true) + " * 3", values), both.value * 3) << text;
  }
}

TEST(DimExpr, ProductsThatAreNotExpandedHaveTheExpressionsValue) {
  std::mt19937_64 random = seeded(6);
  int told = 0;
  for (int round = 0; round < 3000; ++round) {
    DimTable table(30);
    Values values;
    for (const std::string& name : names()) values[name] = draw(random, 1, 12);
    const Both both = random_both(random, table, values, 4);
    const std::string text = table.text(both.expr);
    if (text.find('?') != std::string::npos) continue;  // holds one that is too large
    ++told;
    EXPECT_EQ(evaluate_text(text, values), both.value) << text;
    EXPECT_EQ(evaluate_text("100 // (1 + max(0, " + table.text(both.expr, true) + "))", values),
              100 / (1 + std::max<int64_t>(0, both.value)))
        << text;
  }
  EXPECT_GT(told, 1000);
}

TEST(DimExpr, LargeProductsOfTheSameFactorsAreEqual) {
  DimTable table(40);
  DimExpr a;
  DimExpr b;
  for (int i = 0; i < 8; ++i) {
    a = table.add(a, table.variable("A" + std::to_string(i)));
    b = table.add(b, table.variable("B" + std::to_string(i)));
  }
  const DimExpr product = table.multiply(a, b);
  EXPECT_FALSE(table.is_too_large(product));
  EXPECT_EQ(product, table.multiply(b, a));
  EXPECT_EQ(table.variables(product).size(), 16U);
  EXPECT_NE(product, table.multiply(a, a));
}

TEST(DimExpr, SubstitutionKeepsTheValue) {
  std::mt19937_64 random = seeded(4);
  for (int round = 0; round < 3000; ++round) {
    DimTable table;
    Values values;
    for (const std::string& name : names()) values[name] = draw(random, 1, 12);
    const Both both = random_both(random, table, values, 3);
    // H = G*R + K, whose value is that of H.
    values["G"] = draw(random, 1, 3);
    values["R"] = draw(random, 1, 3);
    values["K"] = values["H"] - values["G"] * values["R"];
    const DimExpr product = table.multiply(table.variable("G"), table.variable("R"));
    const DimExpr replaced =
        table.substitute(both.expr, "H", table.add(product, table.variable("K")));
    EXPECT_FALSE(table.contains(replaced, "H"));
    EXPECT_EQ(evaluate_text(table.text(replaced), values), both.value) << table.text(both.expr);
  }
}

TEST(DimExpr, EqualPolynomialsAreEqual) {
  DimTable table;
  const DimExpr a = table.variable("A");
  const DimExpr b = table.variable("B");
  const DimExpr sum = table.add(a, b);
  const DimExpr square = table.multiply(sum, sum);
  DimExpr expanded = table.add(table.multiply(a, a), table.multiply(b, b));
  expanded = table.add(expanded, table.multiply(table.constant(2), table.multiply(a, b)));
  EXPECT_EQ(square, expanded);
  EXPECT_EQ(table.subtract(square, expanded), DimExpr{});
  EXPECT_EQ(table.apply(DimOp::FloorDiv, table.multiply(a, b), b), a);
  EXPECT_EQ(table.apply(DimOp::Mod, table.multiply(a, b), b), DimExpr{});
  EXPECT_EQ(table.apply(DimOp::FloorDiv, table.multiply(a, table.constant(4)), table.constant(2)),
            table.multiply(a, table.constant(2)));
}

// A trace has a dim for each window, so the sizes behind a hundred convolutions are such sums.
TEST(DimExpr, AProductOfLongSumsIsNotTooLarge) {
  DimTable table;
  DimExpr height = table.variable("H");
  DimExpr width = table.variable("W");
  for (int i = 0; i < 100; ++i) {
    height = table.subtract(height, table.variable("R" + std::to_string(i)));
    width = table.subtract(width, table.variable("Q" + std::to_string(i)));
  }
  const DimExpr area = table.multiply(table.variable("B"), table.multiply(height, width));
  EXPECT_FALSE(table.is_too_large(area));
  EXPECT_EQ(table.variables(area).size(), 203U);
}

TEST(DimExpr, WhatDoublesAtEachStepIsTooLarge) {
  DimTable table;
  DimExpr size = table.variable("N");
  int steps = 0;
  while (!table.is_too_large(size) && steps < 100) {
    size = table.apply(DimOp::Max, size, table.apply(DimOp::FloorDiv, size, table.constant(2)));
    ++steps;
  }
  EXPECT_LT(steps, 30);
}

TEST(DimExpr, TextsAreReadable) {
  DimTable table;
  const DimExpr h = table.variable("H");
  const DimExpr k = table.variable("K");
  const DimExpr padded = table.add(h, table.constant(2));
  EXPECT_EQ(table.text(table.multiply(table.constant(4), h)), "4*H");
  EXPECT_EQ(table.text(table.apply(DimOp::FloorDiv, padded, table.constant(3))), "(H + 2) // 3");
  EXPECT_EQ(table.text(table.subtract(h, k)), "H - K");
  EXPECT_EQ(table.text(table.subtract(table.constant(0), h)), "-H");
  EXPECT_EQ(table.text(table.apply(DimOp::Min, h, k)), "min(H, K)");
  EXPECT_EQ(table.text(DimExpr{}), "0");
  EXPECT_EQ(table.as_variable(h), "H");
  EXPECT_FALSE(table.as_variable(padded));
  EXPECT_EQ(table.variables(table.apply(DimOp::Mod, padded, k)),
            (std::vector<std::string>{"H", "K"}));
}

}  // namespace
}  // namespace solar::ir

#include "ir/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "base/diagnostic_text.h"
#include "ir/printer.h"

namespace solar::ir {
namespace {

std::string repeated(const std::string& piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

std::string kernel_with(const std::string& value) {
  return "program p(input x: f32[N]) -> (y) {\n  dims N = 4\n  kernel y: f32[N] { for n:N   y[n] "
         "= " +
         value + " }\n}\n";
}

Diagnostics errors_of(const std::string& text) {
  const auto file = parse_text("t.alir", text);
  return file ? Diagnostics{} : file.error();
}

/// The expression as the printer writes it; parentheses that are not needed are gone.
std::string reprinted(const std::string& value) {
  const auto file = parse_text("t.alir", kernel_with(value));
  if (!file) return render_text(file.error());
  const auto& kernel = std::get<ast::Kernel>(file->program->block.statements.at(1).body);
  return to_text(*kernel.values.at(0));
}

TEST(Parser, Precedence) {
  EXPECT_EQ(reprinted("(a + (b * c))"), "a + b*c");
  EXPECT_EQ(reprinted("(a + b) * c"), "(a + b) * c");
  EXPECT_EQ(reprinted("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(reprinted("(a - b) - c"), "a - b - c");
  EXPECT_EQ(reprinted("a / (b * c)"), "a / (b*c)");
  EXPECT_EQ(reprinted("(-a) * b"), "-a*b");
  EXPECT_EQ(reprinted("-(a * b)"), "-(a*b)");
  EXPECT_EQ(reprinted("not (a and b) or c"), "not (a and b) or c");
  EXPECT_EQ(reprinted("(not a) and b"), "not a and b");
  EXPECT_EQ(reprinted("(a or b) and c"), "(a or b) and c");
  EXPECT_EQ(reprinted("(a < b) == c"), "(a < b) == c");
  EXPECT_EQ(reprinted("0 <= a + 1 < b"), "0 <= a + 1 < b");
  EXPECT_EQ(reprinted("- - a"), "--a");
  EXPECT_EQ(reprinted("a // 2 % 3"), "a // 2 % 3");
  EXPECT_EQ(reprinted("a // (2 % 3)"), "a // (2 % 3)");
}

TEST(Parser, TheSmallestInteger) {
  EXPECT_EQ(reprinted("2 - -9223372036854775808"), "2 - -9223372036854775808");
  for (const char* value :
       {"9223372036854775808", "--9223372036854775808", "-9223372036854775809"}) {
    const Diagnostics errors = errors_of(kernel_with(value));
    ASSERT_EQ(errors.size(), 1u) << value;
    EXPECT_TRUE(errors[0].message.ends_with("does not fit 64 bits")) << value;
  }
}

TEST(Parser, ListsMayEndWithAComma) {
  const auto file = parse_text("t.alir", R"(
program p(input x: f32[N,], param w: f32[N],) -> (y,) {
  dims N = 4,
  let y = add(x, w,)
})");
  EXPECT_TRUE(file) << render_text(errors_of(""));
}

TEST(Parser, ReportsEveryBrokenStatement) {
  const Diagnostics errors = errors_of(R"(
program p(input x: f32[N]) -> (y) {
  dims N = 4
  view a = x { n - }
  op "first" { slice b = x[ }
  op "second" { let c relu(x) }
  kernel y: f32[N] { for n:N   y[n] = x[n] }
}
fn f(x f32[]) -> (y) {}
)");
  ASSERT_EQ(errors.size(), 4u) << render_text(errors);
  EXPECT_EQ(position_of(*errors[0].span.source, errors[0].span.begin).line, 4);
  EXPECT_EQ(position_of(*errors[1].span.source, errors[1].span.begin).line, 5);
  EXPECT_EQ(position_of(*errors[2].span.source, errors[2].span.begin).line, 6);
  EXPECT_EQ(position_of(*errors[3].span.source, errors[3].span.begin).line, 9);
}

TEST(Parser, ABraceInAStringDoesNotMisleadRecovery) {
  const Diagnostics errors = errors_of(R"(
program p(input x: f32[N]) -> (y) {
  op "{" nominal { }
  op "}" at 3 { }
  let y = relu(x
})");
  ASSERT_EQ(errors.size(), 3u) << render_text(errors);
}

TEST(Parser, OneErrorForAMissingBrace) {
  const Diagnostics errors = errors_of("program p() -> (y) { op \"a\" { op \"b\" { op \"c\" { ");
  ASSERT_EQ(errors.size(), 1u) << render_text(errors);
  EXPECT_NE(errors[0].message.find("the end of the file"), std::string::npos);
}

TEST(Parser, DepthIsLimited) {
  for (const std::string& value :
       {repeated("(", 100000) + "x[n]" + repeated(")", 100000), repeated("-", 100000) + "x[n]",
        repeated("not ", 100000) + "x[n]", repeated("abs(", 100000), repeated("x[", 100000)}) {
    const Diagnostics errors = errors_of(kernel_with(value));
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].kind, DiagnosticKind::Syntax);
    EXPECT_NE(errors[0].message.find("nested more than"), std::string::npos) << errors[0].message;
  }
  EXPECT_FALSE(
      errors_of(repeated("program p() -> (y) { ", 1) + repeated("op \"a\" { ", 100000)).empty());
  EXPECT_FALSE(errors_of("program p() -> (y) { view y = x { " + repeated("(", 100000)).empty());
}

TEST(Parser, WidthIsLimited) {
  for (const std::string& value :
       {repeated("x[n] + ", 100000) + "1", repeated("x[n] < ", 100000) + "1",
        repeated("x[n] or ", 100000) + "true", "max(" + repeated("n, ", 100000) + "n)"}) {
    const Diagnostics errors = errors_of(kernel_with(value));
    ASSERT_FALSE(errors.empty());
    EXPECT_NE(errors[0].message.find("too large"), std::string::npos) << errors[0].message;
  }
  EXPECT_TRUE(errors_of(kernel_with(repeated("x[n] + ", 400) + "1")).empty());
}

TEST(Parser, SpansAreThoseOfTheText) {
  const auto file = parse_text("t.alir", kernel_with("x[n] + 1"));
  ASSERT_TRUE(file);
  const auto& kernel = std::get<ast::Kernel>(file->program->block.statements.at(1).body);
  const Span& span = kernel.values.at(0)->span;
  EXPECT_EQ(span.source->text.substr(static_cast<size_t>(span.begin),
                                     static_cast<size_t>(span.end - span.begin)),
            "x[n] + 1");
}

TEST(Parser, TheEmptyTextIsAnEmptyFile) {
  const auto file = parse_text("t.alir", "");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->program);
  EXPECT_TRUE(file->functions.empty());
}

}  // namespace
}  // namespace solar::ir

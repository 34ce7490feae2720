#include "ir/printer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/lexer.h"
#include "ir/parser.h"

namespace solar::ir {
namespace {

std::string formatted(const std::string& text) {
  const auto file = parse_text("t.alir", text);
  return file ? print(*file) : render_text(file.error());
}

std::multiset<std::string> comments_of(const std::string& text) {
  std::multiset<std::string> out;
  for (const Comment& comment : lex(text).comments) out.emplace(comment.text);
  return out;
}

/// Everything that parses: goldens, prelude, the reference, the explanations.
std::vector<Text> parsing_texts() {
  std::vector<Text> texts = golden_texts();
  for (Text& text : prelude_texts()) texts.push_back(std::move(text));
  for (Text& text : alir_blocks("docs/language.md")) texts.push_back(std::move(text));
  std::erase_if(texts, [](const Text& text) { return !parse_text(text.name, text.text); });
  return texts;
}

TEST(Printer, PrintingIsAFixpointAndKeepsComments) {
  const std::vector<Text> texts = parsing_texts();
  EXPECT_GT(texts.size(), 100u);
  for (const Text& text : texts) {
    const std::string once = formatted(text.text);
    EXPECT_EQ(formatted(once), once) << text.name;
    EXPECT_EQ(comments_of(once), comments_of(text.text)) << text.name;
  }
}

TEST(Printer, PrintingKeepsEveryTokenButPunctuation) {
  const auto words = [](const std::string& text) {
    std::multiset<std::string> out;
    for (const Token& token : lex(text).tokens) {
      if (token.kind == TokenKind::Name || token.kind == TokenKind::Keyword ||
          token.kind == TokenKind::String) {
        out.emplace(token.text);
      }
    }
    return out;
  };
  for (const Text& text : parsing_texts())
    EXPECT_EQ(words(formatted(text.text)), words(text.text)) << text.name;
}

TEST(Printer, LinesStayNarrowWhereTheyCanBreak) {
  for (const Text& text : golden_texts()) {
    if (expects_errors(text)) continue;
    std::istringstream lines(formatted(text.text));
    for (std::string line; std::getline(lines, line);) {
      if (line.find('#') == std::string::npos) {
        EXPECT_LE(line.size(), 120u) << text.name << ": " << line;
      }
      EXPECT_FALSE(line.ends_with(' ')) << text.name << ": " << line;
    }
  }
}

TEST(Printer, AShortGroupIsOneLine) {
  EXPECT_EQ(
      formatted(
          "program p(input x: f32[2]) -> (y) {op \"aten.relu\" at \"m.py:1\" {let y = relu(x)}}"),
      "program p(input x: f32[2]) -> (y) {\n"
      "  op \"aten.relu\" at \"m.py:1\" { let y = relu(x) }\n"
      "}\n");
  const std::string two =
      formatted("program p() -> (y) { op \"a\" { let y = f(x) let z = f(y) } }");
  EXPECT_NE(two.find("op \"a\" {\n"), std::string::npos) << two;
  const std::string commented =
      formatted("program p() -> (y) { op \"a\" { # why\n let y = f(x) } }");
  EXPECT_NE(commented.find("op \"a\" {\n    # why\n"), std::string::npos) << commented;
  const std::string behind =
      formatted("program p() -> (y) { let z = f(x)  # of z\n let y = f(z) # of y\n }");
  EXPECT_NE(behind.find("  # of z\n  let z = f(x)\n  # of y\n  let y = f(z)\n}"), std::string::npos)
      << behind;
  const std::string closed =
      formatted("program p() -> (y) { op \"a\" {\n let y = f(x)\n }  # of a\n}");
  EXPECT_NE(closed.find("}\n  # of a\n}"), std::string::npos) << closed;
  const std::string nested =
      formatted("program p() -> (y) { op \"a\" { op \"b\" { let y = f(x) } } }");
  EXPECT_NE(nested.find("op \"a\" {\n    op \"b\" { let y = f(x) }\n  }\n"), std::string::npos)
      << nested;
  const std::string empty = formatted("program p() -> (y) { op \"a\" { } }");
  EXPECT_EQ(formatted(empty), empty);
  const std::string wide =
      formatted("program p() -> (y) { op \"" + std::string(90, 'a') + "\" { let y = f(x) } }");
  EXPECT_NE(wide.find("{\n    let y = f(x)\n  }\n"), std::string::npos) << wide;
}

TEST(Printer, FloatsReadBackExactly) {
  std::mt19937_64 random = seeded(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random();
    double value = 0;
    static_assert(sizeof(bits) == sizeof(value));
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    value = std::abs(value);
    const std::string text = float_text(value);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    EXPECT_EQ(lex(text).tokens.at(0).kind, TokenKind::Float) << text;
  }
  EXPECT_EQ(float_text(1), "1.0");
  EXPECT_EQ(float_text(0.1), "0.1");
  EXPECT_EQ(float_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(float_text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

/// A random expression over names a b c; every form the grammar has.
std::string random_expr(std::mt19937_64& random, int depth) {
  const auto sub = [&] { return random_expr(random, depth - 1); };
  if (depth == 0) {
    static const std::vector<std::string> leaves = {"a",   "b",    "7",    "0.5",
                                                    "inf", "true", "prev", "`in`"};
    return leaves[random() % leaves.size()];
  }
  static const std::vector<std::string> operators = {"+", "-", "*", "/", "//", "%", "and", "or"};
  switch (draw(random, 0, 7)) {
    case 0:
      return "(" + sub() + ")";
    case 1:
      return "-(" + sub() + ")";
    case 2:
      return "(not (" + sub() + "))";
    case 3:
      return "(" + sub() + ") < (" + sub() + ") != (" + sub() + ")";
    case 4:
      return "select(" + sub() + ", " + sub() + ", " + sub() + ")";
    case 5:
      return "x[" + sub() + ", *l]";
    case 6:
      return "bf16(" + sub() + ")";
    default:
      return "(" + sub() + ") " + operators[random() % operators.size()] + " (" + sub() + ")";
  }
}

/// The tree with all parentheses.
std::string tree(const ast::Expr& expr) {
  std::string out = "(" + std::to_string(static_cast<int>(expr.kind)) + " " + expr.text;
  for (const ast::ExprPtr& operand : expr.operands) out += tree(*operand);
  return out + ")";
}

TEST(Printer, ParenthesesAreKeptWhereTheyMatter) {
  std::mt19937_64 random = seeded(2);
  const auto parsed = [](const std::string& value) {
    auto file = parse_text("t.alir", "program p() -> (y) { require " + value + " }");
    EXPECT_TRUE(file) << value;
    return std::get<ast::Require>(file->program->block.statements.at(0).body).condition;
  };
  for (int i = 0; i < 1000; ++i) {
    const std::string written = random_expr(random, static_cast<int>(draw(random, 1, 4)));
    const ast::ExprPtr expr = parsed(written);
    const std::string text = to_text(*expr);
    EXPECT_EQ(tree(*parsed(text)), tree(*expr)) << written << " became " << text;
    EXPECT_LE(text.size(), written.size() + 64);
  }
}

}  // namespace
}  // namespace solar::ir

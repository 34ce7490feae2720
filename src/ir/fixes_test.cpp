// What `solar fix --all` makes of small mistakes: each text verifies once its errors' fixes are
// applied.

#include <gtest/gtest.h>

#include <string>

#include "base/apply_fixes.h"
#include "base/diagnostic_text.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

Diagnostics problems(const std::string& text) {
  const auto file = parse_text("<text>", text);
  if (!file) return file.error();
  const auto program = verify(*file);
  return program ? Diagnostics{} : program.error();
}

/// With the fixes of every error, and those of the errors that come to light.
std::string fixed(std::string text) {
  Diagnostics left = problems(text);
  EXPECT_FALSE(left.empty()) << "nothing to fix in\n" << text;
  for (int round = 0; round < 5 && !left.empty(); ++round) {
    text = apply_fixes({"<text>", text}, left, true).text;
    left = problems(text);
  }
  EXPECT_TRUE(left.empty()) << text << render_text(left);
  return text;
}

/// A program around statements that give `y`.
std::string program(const std::string& body) {
  return "program p(input x: f32[N, M], input k: i64[N], input b: bool[N]) -> (y) {\n"
         "  dims N = 4, M = 3\n  " +
         body + "\n}\n";
}

struct Case {
  std::string wrong;
  std::string right;  // stands in the fixed text
};

class FixCase : public testing::TestWithParam<Case> {};

TEST_P(FixCase, MakesTheTextRight) {
  const std::string text = fixed(program(GetParam().wrong));
  EXPECT_NE(text.find(GetParam().right), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    OfSyntax, FixCase,
    testing::Values(
        Case{"kernel y: f32[N] { for n:N, m:M   y[n] += x[n,m }", "x[n,m] }"},
        Case{"kernel y: f32[N] { for n:N, m M   y[n] += x[n,m] }", "m: M"},
        Case{"kernel y: f32[N] { for n:N, m:M   y[n] += abs(x[n,m] }", "abs(x[n,m]) }"},
        Case{"kernel view: f32[N] { for n:N, m:M   `view`[n] += x[n,m] }\n  let y = relu(`view`)",
             "kernel `view`: f32"},
        Case{"dims A = 2 B = 3\n  kernel y: f32[A, B] { for a:A, b2:B   y[a,b2] = x[a,b2] }",
             "A = 2, B = 3"},
        Case{"kernel y: f32[N] { for n:N m:M   y[n] += x[n,m] }", "n:N, m:M"},
        Case{"kernel y: f32[N] { fro n:N, m:M   y[n] += x[n,m] }", "{ for n:N"},
        Case{"kernel y: f32[N] { for n:N, m:M wher m < n   y[n] += x[n,m] }", "where m < n"},
        Case{"kernel y: f32[N] { for n:N where n < 2   y[n] = x[n,0] esle 1 }", "else 1"},
        Case{"let y = repaet t:N with (h = 0.0) {\n    kernel z: f32[] { z[] = h + 1 }\n"
             "    next z\n  }",
             "repeat t:N"},
        Case{"kernal y: f32[N] { for n:N, m:M   y[n] += x[n,m] }", "kernel y"}));

INSTANTIATE_TEST_SUITE_P(
    OfNames, FixCase,
    testing::Values(
        Case{"kernel row: f32[N] { for n:N, m:M   row[n] += x[n,m] }\n  let y = relu(rows)",
             "relu(row)"},
        Case{"let y = relux(x)", "relu(x)"},
        Case{"kernel y: f31[N] { for n:N, m:M   y[n] += x[n,m] }", ": f"},
        Case{"kernel y: f32[N] { for n:N, m:M   y[n] += abss(x[n,m]) }", "abs(x[n,m])"},
        Case{"dims WIDTH = 4\n  kernel y: f32[WIDTHS] { for n:WIDTH, m:M   y[n] += x[n,m] }",
             "f32[WIDTH]"},
        Case{"kernel y: f32[N] { for n:N, inner:M   y[n] += x[n,iner] }", "x[n,inner]"}));

INSTANTIATE_TEST_SUITE_P(
    OfTypes, FixCase,
    testing::Values(
        Case{"kernel y: f32[N] { for n:N   y[n] = k[n] }", "f32(k[n])"},
        Case{"kernel y: f32[N] { for n:N   y[n] = (k[n] + 1) }", "f32(k[n] + 1)"},
        Case{"kernel y: f32[N, M] { for n:N, m:M   y[n,m] = x[n,m] * k[n] }", "x[n,m] * f32(k[n])"},
        Case{"kernel y: f32[N, M] { for n:N, m:M   y[n,m] = k[n] * x[n,m] }", "f32(k[n]) * x[n,m]"},
        Case{"kernel y: f32[N, M] { for n:N, m:M   y[n,m] = x[n,m] // 2 }", "x[n,m] / 2"},
        Case{"kernel y: f32[N], i: i32[N] { for n:N, m:M   y[n], i[n] argmax= "
             "x[n,m], m }",
             "i: i64[N]"}));

INSTANTIATE_TEST_SUITE_P(
    OfLoopsAndAccesses, FixCase,
    testing::Values(
        Case{"kernel y: f32[N] { for n:N, m:M   y[n] = x[n,m] }", "y[n] += x[n,m]"},
        Case{"kernel y: bool[] { for n:N   y[] = b[n] }", "y[] or= b[n]"},
        Case{"kernel y: f32[N, M] { for n:N, m:M   y[n,m] = x[k[n],m] }", "indexed y"},
        Case{"kernel y: f32[N] { for n:N, m:M in 0 .. k[n]   y[n] += x[n,m] }", "indexed y"},
        Case{"kernel y: f32[N, M] { for n:N, m:M where m < n   y[n,m] = x[n,m] }",
             "= x[n,m] else 0 }"},
        Case{"kernel y: bool[N] { for n:N where n < 2   y[n] = b[n] }", "= b[n] else false }"},
        Case{"kernel y: f32[N, M] { for seq n:N, m:M   y[n,m] = prev + x[n,m] }", " init 0 }"},
        Case{"kernel y: f32[N] { for n:N, m:M   y[n] += x[n,m + 1] }",
             "where 0 <= m + 1 < M   y[n] +="},
        Case{"kernel y: f32[N] { for n:N, m:M where m < n   y[n] += x[n,2 * m] }",
             "where m < n, 0 <= 2*m < M "},
        Case{"kernel y: f32[N] { for n:N, m:M   y[n] += x[n,m / 2] }", "m // 2"}));

INSTANTIATE_TEST_SUITE_P(
    OfMovement, FixCase,
    testing::Values(Case{"let y = concat(x, x; axis = -1)", "axis = 1"},
                    Case{"view y = x { n, m -> m:N, n }", "-> m, n }"},
                    Case{"view result_y = x { n, m -> m, n }\n  let y = relu(result_yy)",
                         "relu(result_y)"}));

TEST(Fixes, AnOutputGetsTheNameOfWhatIsLikeIt) {
  const std::string text = fixed(
      "program p(input x: f32[N]) -> (scalled) {\n  dims N = 4\n"
      "  kernel scaled: f32[N] { for n:N   scaled[n] = 2 * x[n] }\n}\n");
  EXPECT_NE(text.find("-> (scaled)"), std::string::npos) << text;
}

TEST(Fixes, OfWordsOutsideOfTheBody) {
  EXPECT_NE(fixed("progam p(inpt x: f32[]) -> (x) { }").find("program p(input x"),
            std::string::npos);
}

TEST(Fixes, ABracketIsNotPutWhereMoreMayBeMissing) {
  for (const char* wrong : {"let y = topk(x, axis = 1, k = 2)", "let y = relu(x n])",
                            "kernel y: f32[N] { for n in N, m:M   y[n] += x[n,m] }"}) {
    const auto errors = problems(program(wrong));
    ASSERT_FALSE(errors.empty()) << wrong;
    EXPECT_TRUE(errors[0].fixes.empty()) << wrong << render_text(errors);
  }
}

TEST(Fixes, APlainVariableThatLeavesItsAxisIsNotGuarded) {
  const auto errors = problems(program("kernel y: f32[N] { for n:N, m:M   y[n] += x[m,n] }"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].fixes.empty());
}

TEST(Fixes, NothingIsOfferedWhereAGuardWouldComeTooLate) {
  const auto errors =
      problems(program("kernel y: f32[N] { for n:N, m:M where x[n,m + 1] > 0   y[n] += x[n,m] }"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].fixes.empty());
}

TEST(Fixes, NoGuardIsOfferedInTheBodyOfAFunction) {
  const auto errors = problems(
      "fn shifted<*L, A>(x: f32[*L, A]) -> (y) {\n"
      "  kernel y: f32[*L] { for *l:*L, a:A   y[*l] += x[*l, a + 1] }\n}\n" +
      program("let y = shifted(x)"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].fixes.empty());
  EXPECT_EQ(errors[0].hint, "guard it, so that `a + 1` stays on axis 1");
}

TEST(Fixes, WordsOfCommentsAreLeftAlone) {
  const auto errors =
      problems(program("kernel  # a kernel\n  y: f32[N, M] { for n:N, m:M   y[n,m] = x[k[n],m] }"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].fixes.empty());
}

TEST(Fixes, AnUnfinishedLineIsReportedAtItsEnd) {
  const auto errors = problems(program("slice z = x[0:2,\n  let y = relu(x)"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(render_text(errors).find("<text>:3:19: error[syntax]"), std::string::npos)
      << render_text(errors);
  EXPECT_NE(errors[0].message.find("found the end of the line"), std::string::npos);
}

}  // namespace
}  // namespace solar::ir

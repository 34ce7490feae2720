#include "ir/unify_dims.h"

#include <gtest/gtest.h>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

std::string unified(const std::string& text) {
  const auto file = parse_text("t.alir", text);
  if (!file) return render_text(file.error());
  const auto result = unify_dims(*file);
  return result ? print(*result) : render_text(result.error());
}

/// The `dims` line of the unified program, and its signature's first line.
std::string dims_of(const std::string& text) {
  std::istringstream lines(unified(text));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  dims ")) return line.substr(7);
  }
  return "none";
}

TEST(UnifyDims, EqualSizesMergeOnlyWhereTheProgramForcesIt) {
  // d1 and d2 are both 4: the addition ties d0 to d2, nothing ties d1 to d3.
  const std::string text = R"(
program p(input x: f32[d0, d1], input w: f32[d2, d3]) -> (y, z) {
  dims d0 = 4, d1 = 4, d2 = 4, d3 = 4
  kernel s: f32[d0] { for a:d0, b:d1   s[a] += x[a,b] }
  kernel t: f32[d2] { for a:d2, b:d3   t[a] += w[a,b] }
  let y = add(s, t)
  let z = relu(w)
})";
  EXPECT_EQ(dims_of(text), "B = 4, N = 4, d3 = 4");
  EXPECT_NE(unified(text).find("input w: f32[B, d3]"), std::string::npos) << unified(text);
}

TEST(UnifyDims, AMatmulTiesItsInnerDims) {
  EXPECT_EQ(dims_of(R"(
program p(input x: f32[d0, d1], param w: f32[d2, d3]) -> (y) {
  dims d0 = 3, d1 = 5, d2 = 7, d3 = 5
  let y = linear(x, w)
})"),
            "B = 3, N = 5, d2 = 7");
}

TEST(UnifyDims, ProductsBecomeDerived) {
  const std::string text = R"(
program p(input x: f32[d0, d1], param w: f32[d2, d3]) -> (y) {
  dims d0 = 6, d1 = 4, d2 = 2, d3 = 12
  view flat = x { a, b -> (a, b) }
  view whole = w { a, b -> (a, b) }
  let y = add(flat, whole)
})";
  // d0*d1 == d2*d3 fixes no single dim: all stay free.
  EXPECT_EQ(dims_of(text), "B = 6, N = 4, d2 = 2, d3 = 12");
  const std::string isolated = R"(
program p(input x: f32[d0, d1], param w: f32[d2]) -> (y) {
  dims d0 = 6, d1 = 4, d2 = 24
  view flat = x { a, b -> (a, b) }
  let y = add(flat, w)
})";
  EXPECT_EQ(dims_of(isolated), "B = 6, N = 4, d2 = B*N");
}

TEST(UnifyDims, AStandaloneDimIsIsolated) {
  // d0 + d1 == d2 + 2: the youngest dim that stands alone becomes derived.
  EXPECT_EQ(dims_of(R"(
program p(input a: f32[d0], input b: f32[d1], input c: f32[d2], input e: f32[2]) -> (y) {
  dims d0 = 5, d1 = 3, d2 = 6
  let left = concat(a, b; axis = 0)
  let right = concat(c, e; axis = 0)
  let y = add(left, right)
})"),
            "N = 5, d1 = 3, d2 = d1 + N - 2");
}

TEST(UnifyDims, LiteralsPin) {
  const std::string text = R"(
program p(input x: f32[d0, d1]) -> (y) {
  dims d0 = 5, d1 = 6
  view y = x { a, (h:2, w:3) -> h, a, w }
})";
  EXPECT_EQ(dims_of(text), "B = 5");
  EXPECT_NE(unified(text).find("input x: f32[B, 6]"), std::string::npos) << unified(text);
}

TEST(UnifyDims, WindowsStayExpressions) {
  EXPECT_EQ(dims_of(R"(
program p(input x: f32[d0, d1], input r: f32[d2, d3]) -> (y) {
  dims d0 = 2, d1 = 9, d2 = 2, d3 = 5
  let m = max_pool1d(x; RW = 3, SW = 2, AW = 1, LW = 1, UW = 0)
  let y = add(m, r)
})"),
            "B = 2, N = 9, d3 = min((N - 1) // 2 + 1, N // 2 + 1)");
}

TEST(UnifyDims, LoopsTieTheirStepsAndCarriedShapes) {
  EXPECT_EQ(dims_of(R"(
program p(input x: f32[d0, d1], input h0: f32[d2], input go: bool[]) -> (h, ys, z) {
  dims d0 = 5, d1 = 3, d2 = 3, d3 = 5, d4 = 3
  let h stack ys = repeat t:d3 with (h = h0) {
    slice xt = x[t, :]
    kernel h2: f32[d4] { for n:d4   h2[n] = h[n] + xt[n] }
    next h2 stack h2
  }
  let z = if go { next h } else { next h0 }
})"),
            "B = 5, N = 3");
  EXPECT_EQ(dims_of(R"(
program p(input ids: i64[d0], input x: f32[d1, d2], input y0: f32[d3, d4]) -> (y) {
  dims d0 = 4, d1 = 4, d2 = 3, d3 = 6, d4 = 3, d5 = 6
  scatter y: f32[d5, d2] { for n:d1, k:d2   y[ids[n], k] += x[n,k]  base y0 }
})"),
            "N = 4, d2 = 3, d3 = 6");
}

TEST(UnifyDims, NamesThatAreTakenStay) {
  const std::string out = unified(R"(
program p(input N: f32[d0], input b: f32[d1]) -> (y) {
  dims d0 = 5, d1 = 5
  let y = add(N, b)
})");
  EXPECT_NE(out.find("dims d0 = 5\n"), std::string::npos) << out;
}

TEST(UnifyDims, ResultsVerifyAndAreAFixpoint) {
  for (const Text& text : golden_texts()) {
    if (expects_errors(text)) continue;
    const auto file = parse_text(text.name, text.text);
    ASSERT_TRUE(file);
    if (text.text.find('`') != std::string::npos)
      continue;  // traced names are never reserved words
    const auto once = unify_dims(*file);
    ASSERT_TRUE(once) << text.name << render_text(once.error());
    const auto program = verify(*once);
    ASSERT_TRUE(program) << text.name << print(*once) << render_text(program.error());
    const auto before = verify(*file);
    ASSERT_EQ((*program)->tensors.size(), (*before)->tensors.size());
    for (size_t i = 0; i < (*program)->tensors.size(); ++i) {
      EXPECT_EQ((*program)->tensors[i].shape, (*before)->tensors[i].shape) << text.name;
    }
    const auto twice = unify_dims(*once);
    ASSERT_TRUE(twice) << text.name << render_text(twice.error());
    const auto thrice =
        unify_dims(*twice);  // the first renaming may free a friendlier name for the second
    ASSERT_TRUE(thrice) << text.name;
    EXPECT_EQ(print(*thrice), print(*twice)) << text.name;
  }
}

}  // namespace
}  // namespace solar::ir

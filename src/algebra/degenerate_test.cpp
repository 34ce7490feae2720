#include "algebra/degenerate.h"

#include <gtest/gtest.h>

#include "algebra/algebra_test_util.h"

namespace solar::algebra {
namespace {

std::vector<std::string> found_in(const std::string& text) {
  const Outcome o = optimise_text(text);
  std::vector<std::string> found;
  for (const Degenerate& d : find_degenerate(o.program, o.found))
    found.push_back(d.kind + " " + d.tensor);
  return found;
}

using Found = std::vector<std::string>;

TEST(Degenerate, AnOutputThatNoInputChanges) {
  EXPECT_EQ(found_in(R"(
program p(input x: f64[9, 4], param w: f64[3, 4]) -> (y) {
  kernel h: f64[9, 3] { for b:9, n:3, k:4   h[b,n] += x[b,k] * w[n,k] }
  kernel y: f64[9, 3] { for b:9, n:3   y[b,n] = h[b,n] - h[b,n] }
})"),
            (Found{"constant-output y", "ignored-input x", "ignored-parameter w"}));
}

TEST(Degenerate, AnInputThatIsMultipliedByZero) {
  EXPECT_EQ(found_in(R"(
program p(input x: f64[9], input z: f64[9]) -> (y) {
  kernel n: f64[9] { for i:9   n[i] = z[i] * 0.0 }
  kernel y: f64[9] { for i:9   y[i] = x[i] + n[i] }
})"),
            (Found{"ignored-input z"}));
}

TEST(Degenerate, AnInputThatIsNeverRead) {
  EXPECT_EQ(found_in(R"(
program p(input x: f64[9], input z: f64[9]) -> (y) {
  kernel y: f64[9] { for i:9   y[i] = x[i] + 1.0 }
})"),
            (Found{"ignored-input z"}));
}

TEST(Degenerate, AProductOfWhichOnlyTheSumIsUsed) {
  EXPECT_EQ(found_in(R"(
program p(input x: f64[9, 20], param w: f64[30, 20]) -> (y) {
  kernel h: f64[9, 30] { for b:9, n:30, k:20   h[b,n] += x[b,k] * w[n,k] }
  kernel y: f64[9] { for b:9, n:30   y[b] += h[b,n] }
})"),
            (Found{"collapsed-product h"}));
}

TEST(Degenerate, NothingIsSaidOfAnOrdinaryProgram) {
  EXPECT_EQ(found_in(R"(
program p(input x: f64[9, 20], param w: f64[30, 20], param v: f64[5, 30]) -> (y) {
  kernel h: f64[9, 30] { for b:9, n:30, k:20   h[b,n] += x[b,k] * w[n,k] }
  kernel r: f64[9, 30] { for b:9, n:30   r[b,n] = max(h[b,n], 0.0) }
  kernel y: f64[9, 5] { for b:9, n:5, k:30   y[b,n] += r[b,k] * v[n,k] }
})"),
            Found{});
}

TEST(Degenerate, AChainInABetterOrderIsNotDegenerate) {
  EXPECT_EQ(found_in(R"(
program p(input a: f64[12, 11], input b: f64[11, 13], input v: f64[13, 2]) -> (y) {
  kernel ab: f64[12, 13] { for i:12, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[12, 2] { for i:12, n:2, j:13   y[i,n] += ab[i,j] * v[j,n] }
})"),
            Found{});
}

}  // namespace
}  // namespace solar::algebra

// What masks hide: followed into products, named with the bound where they are added or selected
// by.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

/// Scores of 8 x 8 pairs, changed by `use` of a generated mask `m` of type `type`.
Graph scores(const std::string& type, const std::string& mask, const std::string& use) {
  return lift_text(
      fmt::format("program p(input q: f32[S, D], input k: f32[S, D]) -> (y) {{ dims S = 8, D = 4 "
                  "kernel m: {}[S, S] {{ for i:S, j:S where j > i   m[i,j] = {} }} "
                  "kernel s: f32[S, S] {{ for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] }} "
                  "kernel y: f32[S, S] {{ for i:S, j:S   y[i,j] = {} }} }}",
                  type, mask, use));
}

TEST(Mask, AnAddedOneIsNamed) {
  EXPECT_TRUE(assumes(scores("f32", "-inf  else 0", "s[i,j] + m[i,j]"), "dense-intermediates"));
}

TEST(Mask, OneThatSelectsIsNamed) {
  EXPECT_TRUE(assumes(scores("bool", "true  else false", "select(m[i,j], -inf, s[i,j])"),
                      "dense-intermediates"));
}

TEST(Mask, AFactorIsFollowed) {
  const Graph graph = scores("f32", "1  else 0", "s[i,j] * m[i,j]");
  EXPECT_FALSE(assumes(graph, "dense-intermediates"));
  EXPECT_EQ(graph.totals.macs_useful, Macs{8 * 7 / 2 * 4});
}

}  // namespace
}  // namespace solar::einsum

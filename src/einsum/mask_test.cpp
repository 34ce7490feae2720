// What masks hide: followed from the mask's values through sums, conditions and softmax into
// products.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

constexpr int64_t kPairs = 8 * 9 / 2;  // seen by 8 causal queries

/// Scores of 8 x 8 pairs, changed by `use` of a generated mask `m`, which is `mask` where j > i.
Graph scores(const std::string& type, const std::string& mask, const std::string& use) {
  return lift_text(
      fmt::format("program p(input q: f32[S, D], input k: f32[S, D]) -> (y) {{ dims S = 8, D = 4 "
                  "kernel m: {}[S, S] {{ for i:S, j:S where j > i   m[i,j] = {} }} "
                  "kernel s: f32[S, S] {{ for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] }} "
                  "kernel y: f32[S, S] {{ for i:S, j:S   y[i,j] = {} }} }}",
                  type, mask, use));
}

/// Attention of one head of 8 queries and keys; `mask` defines `m`, `call` the output.
Graph attention(const std::string& mask, const std::string& call) {
  return lift_text(
      fmt::format("program p(input q: f32[S, D], input k: f32[S, D], input v: f32[S, D]) -> (y) {{ "
                  "dims S = 8, D = 4 {} {} }}",
                  mask, call));
}

void expect_useful(const Graph& graph, int64_t macs) {
  EXPECT_EQ(graph.totals.macs_useful, Macs{macs});
  EXPECT_FALSE(assumes(graph, "dense-intermediates"));
}

// Inside a sum too: what a zero factor multiplies is dead.
TEST(Mask, AFactorInsideASumIsFollowed) {
  const auto scores = [](const std::string& type, const std::string& mask,
                         const std::string& value) {
    const Graph graph = solar::einsum::scores(type, mask, value);
    return graph.least ? *graph.least : graph;
  };
  const std::string keep = "f32(select(j <= i, 1, 0))";
  const Graph graph = scores("f32", "0  else 1", "s[i,j] * m[i,j] + q[i,0]");
  EXPECT_EQ(graph.totals.macs_useful, Macs{kPairs * 4});
  EXPECT_TRUE(assumes(graph, "finite-factors"));
  EXPECT_EQ(scores("f32", "0  else 1", "q[i,0] - " + keep + " * s[i,j]").totals.macs_useful,
            Macs{kPairs * 4});
  EXPECT_EQ(scores("f32", "0  else 1", "max(s[i,j] * tanh(m[i,j]), q[i,0])").totals.macs_useful,
            Macs{kPairs * 4});
  EXPECT_EQ(scores("f32", "-inf  else 0", "1 + exp(s[i,j] + m[i,j])").totals.macs_useful,
            Macs{kPairs * 4});
  EXPECT_FALSE(assumes(scores("f32", "1  else 2", "s[i,j] * m[i,j]"), "finite-factors"));
}

// The zeros of what a reduction starts from, and of `else`, need not be written as the number 0.
TEST(Mask, ZerosOfInitAndElseAreFollowed) {
  const Graph graph = lift_text(
      "program p(input x: f32[S, D], input y: f32[S, D], const c: f32[S] = [0, 0, 3, 0]) -> (o) { "
      "dims S = 4, D = 5 "
      "kernel z: f32[S] { for i:S, d:D where i > 0   z[i] += 0 * x[i,d]   init c[i]  else c[i] } "
      "kernel p: f32[S] { for i:S, d:D   p[i] += x[i,d] * y[i,d] } "
      "kernel o: f32[S] { for i:S   o[i] = p[i] * z[i] } }");
  EXPECT_EQ(graph.totals.macs_useful, Macs{5});
}

TEST(Mask, AnAddedOneIsFollowed) {
  expect_useful(scores("f32", "-inf  else 0", "s[i,j] + m[i,j]"), kPairs * 4);
}

TEST(Mask, OneThatSelectsIsFollowed) {
  expect_useful(scores("bool", "true  else false", "select(m[i,j], -inf, s[i,j])"), kPairs * 4);
  expect_useful(scores("bool", "false  else true", "select(m[i,j], s[i,j], -inf)"), kPairs * 4);
  expect_useful(scores("bool", "true  else false", "select(not m[i,j], s[i,j], 0)"), kPairs * 4);
}

// What the mask puts in place of a score is a tensor.
TEST(Mask, WhatItSelectsMayBeATensor) {
  const auto masked = [](const std::string& hidden, const std::string& mask) {
    return lift_text(
        fmt::format("program p(input q: f32[S, D], input k: f32[S, D]) -> (y) {{ "
                    "dims S = 8, D = 4 "
                    "kernel z: f32[S, S] {{ for i:S, j:S   z[i,j] = {} }} "
                    "kernel s: f32[S, S] {{ for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] }} "
                    "kernel y: f32[S, S] {{ for i:S, j:S   y[i,j] = {} }} }}",
                    hidden, mask));
  };
  expect_useful(masked("0", "select(j <= i, s[i,j], z[i,j])"), kPairs * 4);
  expect_useful(masked("-inf", "select(j > i, z[i,j], s[i,j])"), kPairs * 4);
}

// A select is zero where the branch that it takes is, and where both are.
TEST(Mask, ZerosOfBothBranchesAreFollowed) {
  const auto product = [](const std::string& selected) {
    return lift_text(fmt::format(
        "program p(input x: f32[N, N], input w: f32[N, N], input c: bool[N, N]) -> (y) {{ "
        "dims N = 16 "
        "kernel z: f32[N, N] {{ for i:N, j:N   z[i,j] = 0 }} "
        "kernel half: f32[N, N] {{ for i:N, j:N   half[i,j] = select(j < 8, x[i,j], 0) }} "
        "kernel s: f32[N, N] {{ for i:N, j:N   s[i,j] = {} }} "
        "kernel y: f32[N, N] {{ for i:N, j:N, k:N   y[i,j] += s[i,k] * w[k,j] }} }}",
        selected));
  };
  expect_useful(product("select(i < 4, x[i,j], z[i,j])"), 4 * 16 * 16);
  expect_useful(product("select(i < 4, x[i,j], half[i,j])"), (4 * 16 + 12 * 8) * 16);
  expect_useful(product("select(i < 4, half[i,j], x[i,j])"), (4 * 8 + 12 * 16) * 16);
  expect_useful(product("select(c[i,j], half[i,j], z[i,j])"), 16 * 8 * 16);
  expect_useful(product("select(i < 4, z[i,j], select(i < 8, x[i,j], half[i,j]))"),
                (4 * 16 + 8 * 8) * 16);
}

// Zeros and infinities written over a part of a tensor; what they overwrite need not be computed.
TEST(Mask, ZerosThatAreWrittenAreFollowed) {
  const auto product = [](const std::string& written) {
    return lift_text(
        fmt::format("program p(input x: f32[N, N], input w: f32[N, N], input t: i64[N]) -> (y) {{ "
                    "dims N = 16 "
                    "kernel z: f32[N, N] {{ for i:N, j:N   z[i,j] = 0 }} "
                    "kernel d: f32[N, N] {{ for i:N, j:N   d[i,j] = x[i,j] * 2 }} {} "
                    "kernel y: f32[N, N] {{ for i:N, j:N, k:N   y[i,j] += s[i,k] * w[k,j] }} }}",
                    written));
  };
  expect_useful(product("scatter s: f32[N, N] { for i:12, j:N   s[i + 4, j] = 0   base d unique }"),
                4 * 16 * 16);
  expect_useful(
      product("scatter s: f32[N, N] { for i:N, j:4   s[i, j] = d[i, j]   base z unique }"),
      16 * 4 * 16);
  expect_useful(
      product("scatter a: f32[N, N] { for i:4, j:N   a[i, j] = d[i, j]   base z unique } "
              "scatter s: f32[N, N] { for i:4, j:N   s[i + 8, j] = d[i, j]   base a unique }"),
      8 * 16 * 16);
  // Which rows are overwritten is known when it runs.
  const Graph graph =
      product("scatter s: f32[N, N] { for i:4, j:N   s[t[i], j] = 0   base d unique }");
  EXPECT_EQ(graph.totals.macs_useful, Macs{16 * 16 * 16});
}

TEST(Mask, ZerosWhosePlaceDataDecidesAreNamed) {
  const auto product = [](const std::string& made) {
    return lift_text(
        fmt::format("program p(input i: i64[M], input x: f32[M, V], input w: f32[V, N]) -> (y) {{ "
                    "dims M = 2, V = 8, N = 4 {} "
                    "kernel y: f32[M, N] {{ for m:M, n:N, v:V   y[m,n] += s[m,v] * w[v,n] }} }}",
                    made));
  };
  const auto named = [&](const std::string& made) {
    return assumes(product(made), "dense-intermediates");
  };
  EXPECT_TRUE(named("kernel s: f32[M, V] { for m:M, v:V   s[m,v] = f32(i[m] == v) }"));
  EXPECT_TRUE(
      named("let h = one_hot(i; C = V) "
            "kernel s: f32[M, V] { for m:M, v:V   s[m,v] = f32(h[m,v]) }"));
  EXPECT_TRUE(named("kernel s: f32[M, V] { for m:M, v:V   s[m,v] = select(v < i[m], x[m,v], 0) }"));
  EXPECT_TRUE(
      named("kernel z: f32[M, V] { for m:M, v:V   z[m,v] = 0 } "
            "scatter s: f32[M, V] { for m:M   s[m, i[m]] = x[m, 0]   base z unique }"));
  EXPECT_FALSE(named("kernel s: f32[M, V] { for m:M, v:V   s[m,v] = max(x[m,v], 0) }"));
  EXPECT_FALSE(
      named("kernel s: f32[M, V] { for m:M, v:V   s[m,v] = select(x[m,v] > 0, x[m,v], 0) }"));
  EXPECT_FALSE(named("kernel s: f32[M, V] { for m:M, v:V   s[m,v] = x[m,v] * f32(i[m]) }"));
}

TEST(Mask, OneThatIsComparedIsFollowed) {
  expect_useful(scores("f32", "0  else 1", "select(m[i,j] == 0, -inf, s[i,j])"), kPairs * 4);
  expect_useful(scores("i64", "0  else 1", "select(m[i,j] != 0, s[i,j], -inf)"), kPairs * 4);
  expect_useful(scores("f32", "7  else 0", "select(m[i,j] != 0, -inf, s[i,j])"), kPairs * 4);
}

TEST(Mask, AFactorIsFollowed) {
  expect_useful(scores("f32", "1  else 0", "s[i,j] * m[i,j]"), 8 * 7 / 2 * 4);
}

TEST(Mask, OneThatIsMadeOfOthersIsComputed) {
  const Graph graph = attention(
      "let n = iota(; N = S) "
      "kernel m: bool[S, S] { for i:S, j:S   m[i,j] = n[j] <= n[i] and n[j] * n[j] >= 0 }",
      "let y = sdpa_masked(q, k, v, m, 0.5)");
  expect_useful(graph, 2 * kPairs * 4);
}

TEST(Mask, AttentionWithAnAddedOneIsCausal) {
  expect_useful(
      attention("kernel m: f32[S, S] { for i:S, j:S where j > i   m[i,j] = -inf  else 0 }",
                "let y = sdpa_bias(q, k, v, m, 0.5)"),
      2 * kPairs * 4);
}

TEST(Mask, SoftmaxOfMaskedScoresIsFollowed) {
  const Graph graph = attention(
      "kernel m: f32[S, S] { for i:S, j:S where j <= i   m[i,j] = 1  else 0 } ",
      "kernel s: f32[S, S] { for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] } "
      "kernel t: f32[S, S] { for i:S, j:S   t[i,j] = select(m[i,j] == 0, -inf, s[i,j]) } "
      "let p = softmax(t) kernel y: f32[S, D] { for i:S, j:S, d:D   y[i,d] += p[i,j] * v[j,d] }");
  expect_useful(graph, 2 * kPairs * 4);
}

const char* const kLowest =
    "kernel m: f32[S, S] { for i:S, j:S where j > i   m[i,j] = -3.4028234663852886e38  else 0 }";

TEST(Mask, TheLowestNumberMasksWhereEveryRowIsSeen) {
  const Graph graph = attention(kLowest, "let y = sdpa_bias(q, k, v, m, 0.5)");
  expect_useful(graph, 2 * kPairs * 4);
  EXPECT_TRUE(assumes(graph, "lowest-numbers-mask"));
}

TEST(Mask, TheLowestNumberIsANumberInARowOfNothingElse) {
  const Graph graph = attention(
      "kernel m: f32[S, S] { for i:S, j:S where i < 3   m[i,j] = -3.4028234663852886e38  else 0 }",
      "let y = sdpa_bias(q, k, v, m, 0.5)");
  expect_useful(graph, 2 * 64 * 4);
  EXPECT_FALSE(assumes(graph, "lowest-numbers-mask"));
}

TEST(Mask, OneBesideLargeParametersIsComputed) {
  const Graph graph = lift_text(
      "program p(input x: f32[S, S], param w: f32[N, N]) -> (y, z) { dims S = 8, N = 30000 "
      "kernel n: i64[S] { for i:S   n[i] = i } "
      "kernel m: f32[S, S] { for i:S, j:S   m[i,j] = select(n[j] > n[i], -inf, 0) } "
      "kernel y: f32[S, S] { for i:S, j:S   y[i,j] = x[i,j] + m[i,j] } "
      "kernel z: f32[N] { for a:N, b:N   z[a] += w[a,b] } }");
  EXPECT_EQ(graph.totals.bytes_read_inputs.min, Bytes{4 * kPairs});
  EXPECT_FALSE(assumes(graph, "dense-intermediates"));
}

Graph attention_where(const std::string& hidden) {
  return attention(
      "kernel s: f32[S, S] { for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] } "
      "kernel t: f32[S, S] { for i:S, j:S   t[i,j] = select(" +
          hidden + ", -3.4028234663852886e38, s[i,j]) } ",
      "let p = softmax(t) kernel y: f32[S, D] { for i:S, j:S, d:D   y[i,d] += p[i,j] * v[j,d] }");
}

TEST(Mask, TheLowestNumberInPlaceOfAScoreMasksWhereEveryRowIsSeen) {
  const Graph graph = attention_where("j > i");
  expect_useful(graph, 2 * kPairs * 4);
  EXPECT_TRUE(assumes(graph, "lowest-numbers-mask"));
}

TEST(Mask, TheLowestNumberInPlaceOfAWholeRowIsANumber) {
  const Graph graph = attention_where("i < 3");
  expect_useful(graph, (64 - 3 * 8) * 4 + 64 * 4);
  EXPECT_FALSE(assumes(graph, "lowest-numbers-mask"));
}

TEST(Mask, OneThatIsTooLargeToComputeIsNamed) {
  const Graph graph = lift_text(
      "program p(input x: f32[N, N]) -> (y) { dims N = 20000 "
      "kernel m: f32[N, N] { for i:N, j:N where j > i   m[i,j] = -inf  else 0 } "
      "kernel y: f32[N, N] { for i:N, j:N   y[i,j] = x[i,j] + m[i,j] } }");
  EXPECT_TRUE(assumes(graph, "dense-intermediates"));
}

TEST(Mask, ABufferWhoseValuesAreKnownIsStructure) {
  const std::string text =
      "program p(input s: f32[N, N], buffer m: f32[M, M]) -> (y) { dims N = 4, M = 6 "
      "slice part = m[0:N, 0:N] "
      "kernel y: f32[N, N] { for i:N, j:N   y[i,j] = select(part[i,j] == 0, -inf, s[i,j]) } }";
  EXPECT_EQ(lift_text(text).totals.bytes_read_inputs.min, Bytes{64});
  auto values = exec::TensorData::make(ir::ElementType::F32, {6, 6});
  ASSERT_TRUE(values);
  for (int64_t i = 0; i < 36; ++i) values->set(i, i % 6 <= i / 6 ? 1 : 0);
  LiftOptions options;
  options.known_ports["m"] = {*values, true};
  const Graph graph = lift_text(text, options);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min, Bytes{40});
  EXPECT_TRUE(assumes(graph, "buffers-as-constructed"));
  EXPECT_FALSE(assumes(graph, "both-branches-read"));
}

TEST(Mask, AConditionOnKnownValuesIsKnown) {
  const Graph graph = attention(
      "kernel m: i64[S, S] { for i:S, j:S where j <= i   m[i,j] = 1  else 0 } "
      "kernel b: bool[S, S] { for i:S, j:S   b[i,j] = m[i,j] == 0 } ",
      "kernel s: f32[S, S] { for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] } "
      "kernel t: f32[S, S] { for i:S, j:S   t[i,j] = select(b[i,j], -inf, s[i,j]) } "
      "let p = softmax(t) kernel y: f32[S, D] { for i:S, j:S, d:D   y[i,d] += p[i,j] * v[j,d] }");
  expect_useful(graph, 2 * kPairs * 4);
  EXPECT_FALSE(assumes(graph, "both-branches-read"));
}

TEST(Mask, OneThatDependsOnInputsIsNotStructure) {
  const Graph graph = lift_text(
      "program p(input x: f32[N], input g: f32[N]) -> (y) { dims N = 8 "
      "kernel m: bool[N] { for i:N   m[i] = g[i] > 0 } "
      "kernel y: f32[N] { for i:N   y[i] = select(m[i], x[i], -inf) } }");
  EXPECT_FALSE(assumes(graph, "dense-intermediates"));
  EXPECT_EQ(graph.totals.bytes_read_inputs.min, Bytes{64});
}

}  // namespace
}  // namespace solar::einsum

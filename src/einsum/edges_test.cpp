// How the tensor between two operators may be kept on chip.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

/// `from -> to: axes; obstacles; bytes` of each edge.
std::vector<std::string> edges_of(const std::string& text) {
  const Graph graph = lift_text(text);
  std::vector<std::string> all;
  for (const Edge& edge : graph.edges) {
    std::vector<std::string_view> obstacles;
    for (const Obstacle obstacle : edge.obstacles) obstacles.push_back(name(obstacle));
    all.push_back(fmt::format("{} -> {}: {}; {}; {}", graph.op(edge.producer).name,
                              graph.op(edge.consumer).name, fmt::join(edge.tileable, " "),
                              fmt::join(obstacles, " "), edge.saved.value));
  }
  return all;
}

using Edges = std::vector<std::string>;

TEST(Edges, ProductsShareTheirRows) {
  EXPECT_EQ(edges_of(R"(
program ffn(input x: f32[M, A], param w: f32[A, B], param v: f32[B, C]) -> (y) {
  dims M = 8, A = 3, B = 5, C = 7
  op "first" { kernel h: f32[M, B] { for m:M, b:B, a:A   h[m,b] += x[m,a] * w[a,b] } }
  op "relu" { kernel r: f32[M, B] { for m:M, b:B   r[m,b] = max(h[m,b], 0) } }
  op "second" { kernel y: f32[M, C] { for m:M, c:C, b:B   y[m,c] += r[m,b] * v[b,c] } }
})"),
            (Edges{"first -> relu: 0 1; ; 320", "relu -> second: 0; reduction; 320"}));
}

TEST(Edges, SoftmaxNeedsWholeRows) {
  EXPECT_EQ(edges_of(R"(
program attend(input s: f32[M, N], param v: f32[N, D]) -> (y) {
  dims M = 4, N = 6, D = 2
  op "scale" { kernel t: f32[M, N] { for m:M, n:N   t[m,n] = s[m,n] * 2 } }
  op "softmax" {
    kernel l: f32[M] { for m:M, n:N   l[m] max= t[m,n] }
    kernel e: f32[M, N] { for m:M, n:N   e[m,n] = exp(t[m,n] - l[m]) }
    kernel z: f32[M] { for m:M, n:N   z[m] += e[m,n] }
    kernel p: f32[M, N] { for m:M, n:N   p[m,n] = e[m,n] / z[m] }
  }
  op "relu" { kernel r: f32[M, N] { for m:M, n:N   r[m,n] = max(p[m,n], 0) } }
  op "mm" { kernel y: f32[M, D] { for m:M, d:D, n:N   y[m,d] += r[m,n] * v[n,d] } }
})"),
            (Edges{"scale -> softmax: 0; reduction; 192", "softmax -> relu: 0; softmax-like; 192",
                   "relu -> mm: 0; reduction; 192"}));
}

TEST(Edges, WindowsHaveHalosAndGathersAreData) {
  EXPECT_EQ(edges_of(R"(
program windows(input x: f32[W + 2], param w: f32[R], input i: i64[K]) -> (y, b, g) {
  dims W = 10, R = 3, K = 4
  op "square" { kernel s: f32[W + 2] { for p:W + 2   s[p] = x[p] * x[p] } }
  op "conv" { kernel y: f32[W] { for p:W, r:R   y[p] += s[p + r] * w[r] } }
  op "blocks" { kernel b: f32[4] { for q:4, r:R   b[q] += s[3 * q + r] } }
  op "gather" { indexed g: f32[K] { for k:K   g[k] = s[i[k]] } }
})"),
            (Edges{"square -> conv: ; halo; 48", "square -> blocks: ; reduction; 48",
                   "square -> gather: ; data-dependent; 4"}));
}

// Two readers, and an output: the write stays.
TEST(Edges, OnlyTheLastReaderSavesTheWrite) {
  EXPECT_EQ(edges_of(R"(
program shared(input x: f32[N]) -> (b, c, d) {
  dims N = 3
  op "a" { kernel a: f32[N] { for n:N   a[n] = x[n] + 1 } }
  op "b" { kernel b: f32[N] { for n:N   b[n] = a[n] * 2 } }
  op "c" { kernel c: f32[N] { for n:N   c[n] = a[n] * 3 } }
  op "d" { kernel d: f32[N] { for n:N   d[n] = b[n] * 3 } }
})"),
            (Edges{"a -> b: 0; ; 12", "a -> c: 0; ; 12", "b -> d: 0; ; 12"}));
}

TEST(Edges, StepsOfALoopAreInOrder) {
  EXPECT_EQ(edges_of(R"(
program scan(input x: f32[T, N]) -> (y) {
  dims T = 5, N = 3
  op "double" { kernel d: f32[T, N] { for t:T, n:N   d[t,n] = x[t,n] * 2 } }
  op "scan" { kernel y: f32[T, N] { for seq t:T, n:N   y[t,n] = prev + d[t,n]  init 0 } }
})"),
            (Edges{"double -> scan: 1; order; 120"}));
}

TEST(Edges, OperatorsKnowTheirNeighbours) {
  const Graph graph = lift_text(R"(
program edges(input x: f32[N]) -> (y) {
  dims N = 3
  op "a" { kernel a: f32[N] { for n:N   a[n] = x[n] + 1 } }
  op "b" { kernel b: f32[N] { for n:N   b[n] = a[n] * 2 } }
  op "c" { kernel y: f32[N] { for n:N   y[n] = a[n] + b[n] } }
})");
  ASSERT_EQ(graph.operators.size(), 3u);
  EXPECT_EQ(graph.operators[0].consumers, (std::vector<OperatorId>{OperatorId{1}, OperatorId{2}}));
  EXPECT_EQ(graph.operators[2].producers, (std::vector<OperatorId>{OperatorId{0}, OperatorId{1}}));
  EXPECT_EQ(graph.operators[0].bytes_out.min.value, 12);
}

}  // namespace
}  // namespace solar::einsum

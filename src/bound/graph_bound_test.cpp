// Lower bounds of whole graphs.

#include "bound/graph_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bound/certified.h"
#include "bound/single_cases.h"

namespace solar::bound {
namespace {

/// One product alone as a graph.
GraphProblem alone(int64_t m, int64_t k, int64_t n) {
  GraphProblem graph;
  graph.compulsory = m * k + k * n + m * n;
  graph.tensors = {{m * k, 1}, {k * n, 1}, {m * n, 1}};
  graph.made = {false, false, true};
  graph.products = {{m * k * n, 1, {0, 1, 2}}};
  return graph;
}

/// X W1 -> I, I W2 -> Y.
GraphProblem chain(int64_t m, int64_t a, int64_t b, int64_t c) {
  GraphProblem graph;
  graph.compulsory = m * a + a * b + b * c + m * c;
  graph.tensors = {{m * a, 1}, {a * b, 1}, {m * b, 1}, {b * c, 1}, {m * c, 1}};
  graph.made = {false, false, true, false, true};
  graph.products = {{m * a * b, 1, {0, 1, 2}}, {m * b * c, 1, {2, 3, 4}}};
  return graph;
}

TEST(GraphBound, OfOneProductIsThatOfTheEinsum) {
  for (int64_t capacity = 64; capacity < 1 << 20; capacity *= 4) {
    const GraphBound graph = graph_traffic(alone(1024, 1024, 1024), capacity);
    const int64_t einsum = certified_traffic(matmul(1024, 1024, 1024), capacity).bytes;
    EXPECT_LE(graph.bytes, einsum);
    EXPECT_GE(static_cast<double>(graph.bytes), 0.97 * static_cast<double>(einsum)) << capacity;
    EXPECT_FALSE(graph.no_recompute);
  }
}

TEST(GraphBound, TwoLayers) {
  const GraphBound bound = graph_traffic(chain(32768, 4096, 16384, 4096), 1 << 25);
  EXPECT_GE(static_cast<double>(bound.bytes), 0.99 * 1.015e9);
  EXPECT_TRUE(bound.no_recompute);
  EXPECT_EQ(bound.products.size(), 2u);
  // Tilings of the two layers that keep rows of what is between them reach these.
  EXPECT_LE(bound.bytes, 1476395008);
  EXPECT_LE(graph_traffic(chain(32768, 4096, 16384, 4096), 1 << 27).bytes, 671088640);
}

TEST(GraphBound, FallsToCompulsoryWithCapacity) {
  int64_t before = INT64_MAX;
  const GraphProblem graph = chain(512, 256, 1024, 256);
  for (int64_t capacity = 16; capacity < 1 << 22; capacity = capacity * 3 / 2) {
    const int64_t bytes = graph_traffic(graph, capacity).bytes;
    EXPECT_LE(bytes, before);
    EXPECT_GE(bytes, graph.compulsory);
    EXPECT_LE(graph_traffic(graph, capacity, CacheState::Warm).bytes, bytes);
    before = bytes;
  }
  EXPECT_EQ(before, graph.compulsory);
}

TEST(GraphBound, SharedTensorsCountOnce) {
  EXPECT_NEAR(static_cast<double>(overlap_of({{0, 1}, {1, 2}, {2, 3}})), 1, 1e-9);
  EXPECT_NEAR(static_cast<double>(overlap_of({{0, 1}, {1, 2}, {0, 2}})), std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(static_cast<double>(overlap_of({{0, 1}, {0, 1}})), std::sqrt(2.0), 1e-9);
  // One input of three products, each with a weight and a result of its own.
  EXPECT_NEAR(static_cast<double>(overlap_of({{0, 1}, {0, 2}, {0, 3}})), 1, 1e-9);
}

TEST(GraphBound, AProductOfATensorWithItselfForcesNothing) {
  GraphProblem graph = alone(64, 64, 64);
  graph.products[0].tensors[1] = 0;
  EXPECT_EQ(graph_traffic(graph, 8).bytes, graph.compulsory);
}

}  // namespace
}  // namespace solar::bound

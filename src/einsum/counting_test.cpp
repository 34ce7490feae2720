// Points and footprints of small nests whose answers are known.

#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

struct Case {
  const char* name;
  const char* shape;   // of the array read
  const char* target;  // its own axes: the loops of the output
  const char* loops;
  const char* guard;
  const char* subscripts;
  const char* reduced;  // reduced loops, each with its own weight axis
  int64_t points;
  int64_t footprint;
};

// Every point costs the written operation and the reduction's addition.
std::string program_of(const Case& one, const char* operation = "+") {
  return std::string("program t(input x: f32[") + one.shape + "], input w: f32[" + one.reduced +
         "]) -> (y) {\n  kernel y: f32[] { for " + one.loops + " " + one.guard + " y[] += x[" +
         one.subscripts + "] " + operation + " w[" + one.target + "] }\n}\n";
}

const Case kCases[] = {
    {"conv1d", "16", "p,r", "p:14, r:3", "", "p + r", "14, 3", 42, 16},
    {"conv1d stride 2", "15", "p,r", "p:7, r:3", "", "2*p + r", "7, 3", 21, 15},
    {"conv1d stride 4, holes", "19", "p,r", "p:5, r:3", "", "4*p + r", "5, 3", 15, 15},
    {"conv1d dilation 3, holes", "11", "p,r", "p:2, r:4", "", "p + 3*r", "2, 4", 8, 8},
    {"conv1d stride 2 dilation 4", "33", "p,r", "p:9, r:5", "", "2*p + 4*r", "9, 5", 45, 17},
    {"conv1d stride 3 dilation 2", "24", "p,r", "p:6, r:5", "", "3*p + 2*r", "6, 5", 30, 22},
    {"conv2d stride 2", "9, 11, 4", "p,q,r,s,c", "p:4, q:5, r:3, s:3, c:4", "",
     "2*p + r, 2*q + s, c", "4, 5, 3, 3, 4", 720, 396},
    {"diagonal", "6, 6", "i,j", "i:6, j:4", "", "i, i", "6, 4", 24, 6},
    {"shared dim", "6, 9", "i,j", "i:6, j:4", "", "i, i + j", "6, 4", 24, 24},
    {"anti-diagonal, three dims", "10", "i,j,k", "i:4, j:3, k:5", "", "i + j + k", "4, 3, 5", 60,
     10},
    {"two ranks share a dim", "8, 9", "i,j,k", "i:5, j:4, k:6", "", "i + j, j + k", "5, 4, 6", 120,
     60},
    {"causal", "9", "i,j", "i:9, j:9", "where j <= i", "j", "9, 9", 45, 9},
    {"band", "10, 10", "i,j", "i:10, j:10", "where j <= i, i - j < 3", "i, j", "10, 10", 27, 27},
    {"causal chunk", "4, 10", "i,j", "i:4, j:10", "where j <= i + 6", "i, j", "4, 10", 34, 34},
    {"causal rows 4..7", "12", "i,j", "i:4, j:12", "where j <= i + 4", "j", "4, 12", 26, 8},
    {"padded", "8", "p,r", "p:8, r:3", "where 0 <= p + r - 1 < 8", "p + r - 1", "8, 3", 22, 8},
    {"transposed stride 2", "4", "p,r", "p:9, r:3", "where (p - r) % 2 == 0, 0 <= p - r < 8",
     "(p - r) // 2", "9, 3", 12, 4},
    {"grouped heads", "2, 5", "h,n", "h:8, n:5", "", "h // 4, n", "8, 5", 40, 10},
    {"strided slice", "20", "i", "i:7", "", "1 + 3*i", "7", 7, 7},
    {"expand", "5", "i,j", "i:6, j:5", "", "j", "6, 5", 30, 5},
    {"three terms", "18", "i,j,k", "i:3, j:3, k:2", "", "2*i + 3*j + 5*k", "3, 3, 2", 18, 14},
    {"unguarded remainder", "3, 4", "i", "i:12", "", "i % 3, i // 3", "12", 12, 12},
    {"clamped", "5", "i", "i:9", "", "min(max(i - 2, 0), 4)", "9", 9, 5},
    {"reflected", "4", "i", "i:8", "", "select(i < 4, i, 7 - i)", "8", 8, 4},
    {"punctured", "7", "i,j", "i:7, j:7", "where i != j", "i", "7, 7", 42, 7},
};

TEST(Counting, KnownCases) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    const Graph graph = lift_text(program_of(one));
    EXPECT_EQ(graph.totals.elementwise_ops, 2 * one.points);
    EXPECT_EQ(read_bytes(graph, 0), 4 * one.footprint);
    EXPECT_TRUE(graph.exact);
  }
}

TEST(Counting, PlainProductsIgnoreInequalitiesAndKeepPeriods) {
  const Graph causal = lift_text(program_of(kCases[11], "*"));
  EXPECT_EQ(causal.totals.macs.value, 81);
  EXPECT_EQ(causal.nodes.at(0).formula, "9*9");
  const Graph transposed = lift_text(program_of(kCases[16], "*"));
  EXPECT_EQ(transposed.totals.macs.value, 14);  // p and r of one parity: 5*2 + 4*1
  EXPECT_EQ(transposed.nodes.at(0).formula, std::nullopt);
}

TEST(Counting, WhatOneFactorAloneDependsOnIsSummedBefore) {
  // Though what is wanted couples it with a loop of the output.
  const Graph wanted = lift_text(R"(
program t(input x: f32[6], input w: f32[4]) -> (y) {
  kernel t: f32[5, 6] { for i:5, j:6, k:5, l:4 where 0 <= j + k - 1 < 6
    t[i,j] += x[j + k - 1] * w[l] }
  kernel y: f32[5] { for i:5   y[i] = t[i,i] }
})");
  EXPECT_TRUE(wanted.nodes.at(0).is_contraction);
  EXPECT_EQ(wanted.totals.macs_useful.value, 0);
  // Though a loop that no factor depends on couples it.
  const Graph repeated = lift_text(R"(
program t(input x: f32[4, 5], input w: f32[4]) -> (y) {
  kernel y: f32[] { for l:4, i:5, k:9 where k - i == l   y[] += x[l,i] * w[l] }
})");
  EXPECT_EQ(repeated.totals.macs_useful.value, 4);
  // Not where it couples both factors.
  const Graph coupled = lift_text(R"(
program t(input x: f32[4, 5], input w: f32[4, 3]) -> (y) {
  kernel y: f32[] { for l:4, i:5, j:3 where i <= j   y[] += x[l,i] * w[l,j] }
})");
  EXPECT_EQ(coupled.totals.macs_useful.value, 4 * 6);
}

TEST(Counting, AScanNeedsTheStepBeforeWhicheverWayASelectGoes) {
  const auto program = [](const std::string& value) {
    return "program t(input x: f32[7]) -> (y) {\n  kernel s: f32[7] { for seq t:7   s[t] = " +
           value + "   init 0 }\n  slice y = s[3:4]\n}\n";
  };
  const Graph sure = lift_text(program("select(prev > 1, x[t], prev + x[t])"));
  EXPECT_EQ(read_bytes(sure, 0), 4 * 4);
  EXPECT_TRUE(sure.exact);
  const Graph both = lift_text(program("select(x[t] > 1, prev, prev + x[t])"));
  EXPECT_EQ(read_bytes(both, 0), 4 * 4);
  const Graph open = lift_text(program("select(x[t] > 1, x[t], prev)"));
  EXPECT_EQ(read_bytes(open, 0), 4);  // at least
  EXPECT_FALSE(open.exact);
}

TEST(Counting, LargeTrianglesAndWindowsAreQuick) {
  const Graph graph = lift_text(R"(
program t(input q: f32[H, S, D], input k: f32[H, S, D]) -> (s) {
  dims H = 12, S = 1023, D = 64
  kernel s: f32[H, S, S] { for h:H, i:S, j:S, d:D where j <= i  s[h,i,j] += q[h,i,d] * k[h,j,d] }
})");
  EXPECT_EQ(graph.totals.macs_useful.value, int64_t{12} * 64 * 1023 * 1024 / 2);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, int64_t{2} * 12 * 1023 * 64 * 4);
}

}  // namespace
}  // namespace solar::einsum

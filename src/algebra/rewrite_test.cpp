#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "algebra/algebra_test_util.h"
#include "algebra/build.h"

namespace solar::algebra {
namespace {

using Kinds = std::vector<std::string>;

TEST(Reorder, AChainOfProductsIsMultipliedFromItsCheapEnd) {
  const Outcome o = optimise_text(R"(
program p(input a: f64[12, 11], input b: f64[11, 13], input v: f64[13, 2]) -> (y) {
  kernel ab: f64[12, 13] { for i:12, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[12, 2] { for i:12, n:2, j:13   y[i,n] += ab[i,j] * v[j,n] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"reorder"});
  EXPECT_EQ(macs(o.program), 12 * 13 * 11 + 12 * 2 * 13);
  EXPECT_EQ(macs(o.last()), 11 * 2 * 13 + 12 * 2 * 11);
  EXPECT_EQ(o.found.validated, "at full size");
  EXPECT_TRUE(same_results(o));
  EXPECT_NE(o.found.rewrites[0].what.find("b * v"), std::string::npos) << o.found.rewrites[0].what;
}

/// The classical recurrence, over intervals of the chain.
int64_t cheapest_chain(const std::vector<int64_t>& d) {
  const size_t n = d.size() - 1;
  std::vector<std::vector<int64_t>> cost(n, std::vector<int64_t>(n, 0));
  for (size_t length = 2; length <= n; ++length) {
    for (size_t i = 0; i + length <= n; ++i) {
      const size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<int64_t>::max();
      for (size_t k = i; k < j; ++k)
        cost[i][j] = std::min(cost[i][j], cost[i][k] + cost[k + 1][j] + d[i] * d[k + 1] * d[j + 1]);
    }
  }
  return cost[0][n - 1];
}

TEST(Reorder, ChainsOfTwelveFactorsAreExact) {
  std::mt19937 random(5);
  for (int round = 0; round < 3; ++round) {
    std::vector<int64_t> d;
    for (int i = 0; i < 13; ++i) d.push_back(2 + static_cast<int64_t>(random() % 12));
    std::string ports = fmt::format("input m0: f64[{}, {}]", d[0], d[1]);
    std::string body;
    for (size_t i = 1; i < 12; ++i) {
      ports += fmt::format(", input m{}: f64[{}, {}]", i, d[i], d[i + 1]);
      body += fmt::format(
          "kernel p{0}: f64[{1}, {2}] {{ for i:{1}, j:{2}, k:{3}   p{0}[i,j] += {4}[i,k] * "
          "m{0}[k,j] }}\n",
          i, d[0], d[i + 1], d[i], i == 1 ? "m0" : fmt::format("p{}", i - 1));
    }
    const Outcome o = optimise_text(fmt::format("program p({}) -> (p11) {{\n{}}}\n", ports, body));
    EXPECT_EQ(macs(o.last()), cheapest_chain(d));
    EXPECT_TRUE(same_results(o));
  }
}

TEST(Reorder, TheBestOrderStays) {
  const Outcome o = optimise_text(R"(
program p(input a: f64[2, 11], input b: f64[11, 13], input v: f64[13, 12]) -> (y) {
  kernel ab: f64[2, 13] { for i:2, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[2, 12] { for i:2, n:12, j:13   y[i,n] += ab[i,j] * v[j,n] }
})");
  EXPECT_TRUE(o.found.rewrites.empty());
  EXPECT_TRUE(o.found.stages.empty());
}

TEST(Reorder, ANonlinearStepIsABarrier) {
  const Outcome o = optimise_text(R"(
program p(input a: f64[12, 11], input b: f64[11, 13], input v: f64[13, 2]) -> (y) {
  kernel ab: f64[12, 13] { for i:12, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  kernel r: f64[12, 13] { for i:12, j:13   r[i,j] = max(ab[i,j], 0.0) }
  kernel y: f64[12, 2] { for i:12, n:2, j:13   y[i,n] += r[i,j] * v[j,n] }
})");
  EXPECT_TRUE(o.found.rewrites.empty());
}

TEST(Reorder, AResultThatIsReadOtherwiseIsNotMultipliedTwice) {
  const Outcome o = optimise_text(R"(
program p(input a: f64[12, 11], input b: f64[11, 13], input v: f64[13, 12]) -> (ab, y) {
  kernel ab: f64[12, 13] { for i:12, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[12, 12] { for i:12, n:12, j:13   y[i,n] += ab[i,j] * v[j,n] }
})");
  EXPECT_TRUE(o.found.rewrites.empty());
}

TEST(Reorder, HeadsOfAReshapeAreTheirOwnLoops) {
  // (sum_t p[h,t] c[t,r]) w[h,v,r] and then a projection of h and v together.
  const Outcome o = optimise_text(R"(
program p(input p: f64[4, 30], input c: f64[30, 16], param w: f64[4, 8, 16], param u: f64[5, 32]) -> (y) {
  kernel value: f64[30, 4, 8] { for t:30, h:4, v:8, r:16   value[t,h,v] += c[t,r] * w[h,v,r] }
  kernel mixed: f64[4, 8] { for h:4, v:8, t:30   mixed[h,v] += p[h,t] * value[t,h,v] }
  view flat = mixed { a, b -> (a, b) }
  kernel y: f64[5] { for n:5, k:32   y[n] += flat[k] * u[n,k] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"reorder"});
  EXPECT_EQ(macs(o.last()), 4 * 30 * 16 + 4 * 8 * 16 + 5 * 32);
  EXPECT_TRUE(same_results(o));
}

TEST(PushSum, ASumOverTheRowsOfAWeightComesFirst) {
  const Outcome o = optimise_text(R"(
program p(input x: f32[9, 20], param w: f32[30, 20], param bias: f32[30]) -> (y) {
  kernel h: f32[9, 30] { for b:9, n:30, k:20   h[b,n] += x[b,k] * w[n,k] }
  kernel hb: f32[9, 30] { for b:9, n:30   hb[b,n] = h[b,n] + bias[n] }
  kernel s: f32[9] { for b:9, n:30   s[b] += hb[b,n] }
  kernel y: f32[9] { for b:9   y[b] = max(s[b] / 30.0, 0.0) }
})");
  EXPECT_EQ(o.kinds(), Kinds{"push-sum"});
  EXPECT_EQ(macs(o.last()), 9 * 20);
  EXPECT_TRUE(same_results(o, 1, 1e-5));
}

TEST(PushSum, GoesThroughAConvolution) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[2, 3, 10], param w: f64[4, 3, 3]) -> (y) {
  kernel c: f64[2, 4, 8] { for b:2, o:4, i:8, n:3, r:3   c[b,o,i] += x[b,n,i+r] * w[o,n,r] }
  kernel y: f64[2, 4] { for b:2, o:4, i:8   y[b,o] += c[b,o,i] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"push-sum"});
  EXPECT_EQ(macs(o.last()), 2 * 4 * 3 * 3);
  EXPECT_TRUE(same_results(o));
}

TEST(PushSum, GoesThroughPaddingWithItsGuards) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[2, 3, 10], param w: f64[4, 3, 3]) -> (y) {
  kernel c: f64[2, 4, 10] {
    for b:2, o:4, i:10, n:3, r:3
    where i + r - 1 >= 0, i + r - 1 < 10
    c[b,o,i] += x[b,n,i+r-1] * w[o,n,r]
  }
  kernel y: f64[2, 4] { for b:2, o:4, i:10   y[b,o] += c[b,o,i] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"push-sum"});
  EXPECT_EQ(macs(o.last()), 2 * 4 * 3 * 3);
  EXPECT_TRUE(same_results(o));
}

TEST(PushSum, DoesNotGoThroughAMaximum) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[9, 20], param w: f64[30, 20]) -> (y) {
  kernel h: f64[9, 30] { for b:9, n:30, k:20   h[b,n] += x[b,k] * w[n,k] }
  kernel y: f64[9] { for b:9, n:30   y[b] max= h[b,n] }
})");
  EXPECT_TRUE(o.found.rewrites.empty());
}

TEST(Constant, AMeanOfOneElementLessItself) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[9, 20], param w: f64[30, 20]) -> (y) {
  kernel h: f64[9, 30] { for b:9, n:30, k:20   h[b,n] += x[b,k] * w[n,k] }
  kernel m: f64[9, 1] { for b:9, o:1, n:30   m[b,o] max= h[b,n] }
  kernel s: f64[9, 1] { for b:9, o:1, k:1   s[b,o] += m[b,k] }
  kernel y: f64[9, 1] { for b:9, o:1   y[b,o] = m[b,o] - s[b,0] / 1.0 }
})");
  EXPECT_EQ(o.kinds(), Kinds{"constant"});
  EXPECT_EQ(macs(o.last()), 0);
  EXPECT_TRUE(same_results(o));
}

TEST(Constant, ASoftmaxOverOneElementIsOne) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[9, 1]) -> (y) {
  kernel m: f64[9] { for b:9, k:1   m[b] max= x[b,k] }
  kernel e: f64[9, 1] { for b:9, k:1   e[b,k] = exp(x[b,k] - m[b]) }
  kernel s: f64[9] { for b:9, k:1   s[b] += e[b,k] }
  kernel y: f64[9, 1] { for b:9, k:1   y[b,k] = e[b,k] / s[b] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"constant"});
  for (const double value : {run(o.last(), 3).outputs[0].get(0)}) EXPECT_EQ(value, 1);
}

TEST(Constant, AClampOfWhatIsBelowItsRange) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[9]) -> (y) {
  kernel m: f64[9] { for i:9   m[i] = min(x[i], 0.0) }
  kernel y: f64[9] { for i:9   y[i] = min(max(m[i], 0.0), 1.0) }
})");
  EXPECT_EQ(o.kinds(), Kinds{"constant"});
  EXPECT_TRUE(same_results(o));
}

TEST(Common, TheSameProductIsComputedOnce) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[9, 20], param w: f64[30, 20]) -> (y) {
  kernel a: f64[9, 30] { for b:9, n:30, k:20   a[b,n] += x[b,k] * w[n,k] }
  kernel c: f64[9, 30] { for i:9, j:30, k:20   c[i,j] += x[i,k] * w[j,k] }
  kernel y: f64[9, 30] { for b:9, n:30   y[b,n] = max(a[b,n], 0.0) * c[b,n] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"common"});
  EXPECT_EQ(macs(o.last()) * 2, macs(o.program));
  EXPECT_TRUE(same_results(o));
}

TEST(Cancel, WhatIsAddedAndTakenAway) {
  const Outcome o = optimise_text(R"(
program p(input x: f64[9, 20], param w: f64[30, 20], input z: f64[9]) -> (y) {
  kernel h: f64[9, 30] { for b:9, n:30, k:20   h[b,n] += x[b,k] * w[n,k] }
  kernel d: f64[9, 30] { for b:9, n:30   d[b,n] = (h[b,n] + z[b]) - h[b,n] }
  kernel y: f64[9] { for b:9, n:30   y[b] += d[b,n] }
})");
  ASSERT_FALSE(o.found.rewrites.empty());
  EXPECT_EQ(macs(o.last()), 0);
  EXPECT_TRUE(same_results(o));
}

TEST(Validation, AWrongRewriteIsDroppedAndSaid) {
  Options options;
  options.also = [](Working& working, Log& log) {
    for (const ir::Statement& statement : working.block(0)) {
      const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
      if (kernel == nullptr || working.tensor(kernel->output).name != "z") continue;
      if (!log.allows("wrong", "z")) return;
      const ir::TensorId id = kernel->output;
      log.add(working, id, "wrong", "z is 3");
      ir::Statement filled;
      filled.body = fill(working.program(), id, 3);
      working.replace(id, {std::move(filled)});
      return;
    }
  };
  const Outcome o = optimise_text(R"(
program p(input a: f64[12, 11], input b: f64[11, 13], input v: f64[13, 2]) -> (y, z) {
  kernel ab: f64[12, 13] { for i:12, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[12, 2] { for i:12, n:2, j:13   y[i,n] += ab[i,j] * v[j,n] }
  kernel z: f64[12] { for i:12   z[i] = a[i,0] + 1.0 }
})",
                                  options);
  EXPECT_EQ(o.kinds(), Kinds{"reorder"});
  ASSERT_EQ(o.found.notes.size(), 1u);
  EXPECT_NE(o.found.notes[0].find("z is 3"), std::string::npos);
  EXPECT_TRUE(same_results(o));
}

TEST(Validation, LargeProgramsRunAtSmallDims) {
  const Outcome o = optimise_text(R"(
program p(input a: f64[N, K], input b: f64[K, M], input v: f64[M, Q]) -> (y) {
  dims N = 4096, K = 4096, M = 4096, Q = 16
  kernel ab: f64[N, M] { for i:N, j:M, k:K   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[N, Q] { for i:N, n:Q, j:M   y[i,n] += ab[i,j] * v[j,n] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"reorder"});
  EXPECT_EQ(o.found.validated.substr(0, 3), "at ");
  EXPECT_NE(o.found.validated, "at full size");
  EXPECT_EQ(macs(o.last()), int64_t{2} * 4096 * 4096 * 16);
}

TEST(Validation, ARewriteRunsByItselfWhereTheWholeIsTooLarge) {
  const Outcome o = optimise_text(R"(
program p(input a: f64[12, 11], input b: f64[11, 13], input v: f64[13, 2], input w: f64[512, 512]) -> (y, z) {
  kernel ab: f64[12, 13] { for i:12, j:13, k:11   ab[i,j] += a[i,k] * b[k,j] }
  view t = ab { i, j -> j, i }
  kernel y: f64[12, 2] { for i:12, n:2, j:13   y[i,n] += t[j,i] * v[j,n] }
  kernel z: f64[512, 512] { for i:512, j:512, k:512   z[i,j] += w[i,k] * w[k,j] }
})");
  EXPECT_EQ(o.kinds(), Kinds{"reorder"});
  EXPECT_EQ(o.found.validated, "each by itself at full size");
}

TEST(Validation, WhatCannotBeRunIsLeftAsItIs) {
  // No dims to make smaller.
  const Outcome o = optimise_text(R"(
program p(input a: f64[4096, 4096], input b: f64[4096, 4096], input v: f64[4096, 16]) -> (y) {
  kernel ab: f64[4096, 4096] { for i:4096, j:4096, k:4096   ab[i,j] += a[i,k] * b[k,j] }
  kernel y: f64[4096, 16] { for i:4096, n:16, j:4096   y[i,n] += ab[i,j] * v[j,n] }
})");
  EXPECT_TRUE(o.found.rewrites.empty());
  ASSERT_EQ(o.found.notes.size(), 1u);
  EXPECT_NE(o.found.notes[0].find("no size"), std::string::npos);
}

}  // namespace
}  // namespace solar::algebra

// Counts through loops and branches.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

// Two layers, two directions: the LSTM of a framework, one operator.
TEST(Loops, BidirectionalLstm) {
  const Graph graph = lift_text(R"(
program bilstm(input x: f32[B, T, I],
    param w0: f32[4*H, I], param u0: f32[4*H, H], param b0: f32[4*H], param d0: f32[4*H],
    param w1: f32[4*H, I], param u1: f32[4*H, H], param b1: f32[4*H], param d1: f32[4*H],
    param w2: f32[4*H, 2*H], param u2: f32[4*H, H], param b2: f32[4*H], param d2: f32[4*H],
    param w3: f32[4*H, 2*H], param u3: f32[4*H, H], param b3: f32[4*H], param d3: f32[4*H]) -> (out) {
  dims B = 2, T = 6, I = 5, H = 4
  op "aten.lstm" nominal 2*B*T*4*H*(I + H) + 2*B*T*4*H*(2*H + H) {
    view xt = x { b, t, i -> t, b, i }
    kernel z: f32[2, B, H] { for d:2, b:B, n:H   z[d,b,n] = 0 }
    let (y, h, c) = lstm_bidirectional(xt, z, z, w0, u0, b0, d0, w1, u1, b1, d1)
    let (y2, h2, c2) = lstm_bidirectional(y, z, z, w2, u2, b2, d2, w3, u3, b3, d3)
    view out = y2 { t, b, n -> b, t, n }
  }
})");
  EXPECT_EQ(graph.totals.macs.value, 8064);
  EXPECT_EQ(graph.totals.macs_useful.value, 7552);  // the first step of each multiplies zeros
  // The forget gates of a zero state, B*H*(I + I + 2*H + 2*H), could be left out too.
  ASSERT_TRUE(graph.least);
  EXPECT_EQ(graph.least->totals.macs_useful.value, 7552 - 208);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 240);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 3200);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 384);
  ASSERT_EQ(graph.operators.size(), 1u);
  EXPECT_EQ(graph.operators[0].executions, 1);
  EXPECT_EQ(graph.operators[0].bytes_in.min.value, 3440);
  EXPECT_EQ(graph.operators[0].bytes_out.min.value, 384);
  EXPECT_TRUE(graph.exact);
  EXPECT_EQ(graph.assumptions, std::vector<std::string>{"finite-factors"});
}

/// One layer from a zero state over `steps` steps: B = 3, I = 4, H = 8.
Graph recurrent(const std::string& function, int gates, int64_t steps, const std::string& bias) {
  return lift_text(fmt::format(R"(
program rnn(input x: f32[T, B, I], param w: f32[G*H, I], param u: f32[G*H, H], param b: f32[G*H]) -> (y) {{
  dims T = {}, B = 3, I = 4, H = 8, G = {}
  kernel z: f32[B, H] {{ for b:B, n:H   z[b,n] = 0 }}
  kernel none: f32[G*H] {{ for n:G*H   none[n] = 0 }}
  let {}, w, u, {}, {})
}})",
                               steps, gates, function, bias, bias),
                   {.zero_factors = true});
}

// f * c at the first step is 0: neither the gate nor its weights count.
TEST(Loops, ForgetGateOfAZeroStateIsDead) {
  for (const int64_t steps : {1, 2, 8, 400}) {
    const Graph graph = recurrent("(y, h, c) = lstm(x, z, z", 4, steps, "b");
    const int64_t macs = 3 * (steps * 4 * 8 * 4 - 8 * 4 + (steps - 1) * 4 * 8 * 8);
    EXPECT_EQ(graph.totals.macs_useful, Macs{macs}) << steps;
    EXPECT_EQ(graph.totals.bytes_read_params.min.value,
              steps == 1 ? 4 * 3 * 8 * (4 + 1) : 4 * 4 * 8 * (4 + 8 + 1));
    EXPECT_TRUE(graph.exact);
    EXPECT_TRUE(assumes(graph, "finite-factors"));
  }
}

// r * (W h + b) at the first step is 0 if there is no bias.
TEST(Loops, ResetGateOfAZeroStateIsDeadWithoutBias) {
  for (const int64_t steps : {1, 2, 8}) {
    const int64_t all = 3 * (steps * 3 * 8 * 4 + (steps - 1) * 3 * 8 * 8);
    EXPECT_EQ(recurrent("(y, h) = gru(x, z", 3, steps, "none").totals.macs_useful,
              Macs{all - 3 * 8 * 4});
    EXPECT_EQ(recurrent("(y, h) = gru(x, z", 3, steps, "b").totals.macs_useful, Macs{all});
  }
}

TEST(Loops, SelectiveScanAsWritten) {
  const Graph scan = lift_text(R"(
program scan(input x: f32[L, D], input a: f32[D, N], input b: f32[L, N], input c: f32[L, N]) -> (y) {
  dims L = 6, D = 3, N = 4
  kernel z: f32[D, N] { for d:D, n:N   z[d,n] = 0 }
  let h1 stack y = repeat t:L with (h = z) {
    kernel h2: f32[D, N] { for d:D, n:N   h2[d,n] = h[d,n] * a[d,n] + x[t,d] * b[t,n] }
    kernel o: f32[D] { for d:D, n:N   o[d] += h2[d,n] * c[t,n] }
    next h2 stack o
  }
})");
  EXPECT_EQ(scan.totals.macs.value, 72);
  EXPECT_EQ(scan.totals.macs_useful.value, 72);
  EXPECT_EQ(scan.totals.bytes_read_inputs.min.value, 312);
  EXPECT_EQ(scan.totals.bytes_written_outputs.min.value, 72);
  EXPECT_EQ(scan.totals.elementwise_ops, 3 * 72);
}

constexpr char kRecurrent[] = R"(
program rnn(input x: f32[T, B, H], param w: f32[H, H]) -> (y) {
  dims T = 5, B = 2, H = 3
  kernel z: f32[B, H] { for b:B, n:H   z[b,n] = 0 }
  let last stack y = repeat t:T with (h = z) {
    op "mm" { kernel a: f32[B, H] { for b:B, n:H, k:H   a[b,n] += h[b,k] * w[k,n] } }
    op "add" { kernel h2: f32[B, H] { for b:B, n:H   h2[b,n] = tanh(a[b,n] + x[t,b,n]) } }
    next h2 stack h2
  }
})";

TEST(Loops, OperatorsInABodyRunAtEveryStep) {
  const Graph graph = lift_text(kRecurrent);
  const Operator* mm = find_operator(graph, "mm");
  const Operator* add = find_operator(graph, "add");
  ASSERT_NE(mm, nullptr);
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(mm->executions, 5);
  EXPECT_EQ(mm->macs.value, 5 * 18);
  EXPECT_EQ(mm->macs_useful.value, 4 * 18);
  EXPECT_EQ(mm->formula, "T*B*H*H");
  EXPECT_EQ(mm->einsum, "last.a[b,n,t] = sum{k} last.h[b,k,t] * w[k,n]");
  // The weights anew at each step that multiplies, and what the step before made.
  EXPECT_EQ(mm->bytes_in.min.value, 4 * (4 * 9 + 4 * 6));
  EXPECT_EQ(mm->bytes_out.min.value, 4 * 5 * 6);
  EXPECT_EQ(add->bytes_in.min.value, 4 * 2 * 5 * 6);
  EXPECT_EQ(add->bytes_out.min.value, 4 * 5 * 6);
  EXPECT_EQ(mm->producers, std::vector<OperatorId>{add->id});
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 36);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 * 30);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * 30);
  EXPECT_TRUE(graph.exact);
}

// What an operator surely reads: values that start or go on as one tensor may be read once.
TEST(Loops, CarriedValuesMayBeOneTensor) {
  const auto bytes = [](const std::string& starts, const std::string& operands,
                        const std::string& next) {
    const Graph graph = lift_text(R"(
program p(input x: f32[N], input v: f32[N]) -> (y, z) {
  dims N = 8
  let (y, z) = repeat t:3 with ()" +
                                  starts + R"() {
    op "combine" { let c = add()" +
                                  operands + R"() }
    op "other" { let d = mul(c, v) }
    next ()" + next + R"()
  }
})");
    for (const Operator& op : graph.operators) {
      if (op.name == "combine") return op.bytes_in.min.value;
    }
    return int64_t{-1};
  };
  const int64_t one = 3 * 8 * 4;  // a tensor at every step
  EXPECT_EQ(bytes("a = x, b = v", "a, b", "c, d"), 2 * one);
  EXPECT_EQ(bytes("a = x, b = v", "a, b", "b, c"), 2 * one);  // never the same ones
  EXPECT_EQ(bytes("a = x, b = x", "a, b", "c, d"), one);
  EXPECT_EQ(bytes("a = x, b = v", "a, b", "c, c"), one);
  EXPECT_EQ(bytes("a = x, b = v", "a, x", "c, d"), one);
  EXPECT_EQ(bytes("a = v, b = v", "a, x", "c, d"), 2 * one);
}

TEST(Loops, ACarriedValueIsNotWhatTheStepMakes) {
  const Graph graph = lift_text(R"(
program p(input x: f32[N]) -> (ds, y) {
  dims N = 8
  let (y) stack (ds) = repeat t:3 with (a = x) {
    op "make" { let c = relu(a) }
    op "combine" { let d = mul(a, c) }
    next (c) stack (d)
  }
})");
  EXPECT_EQ(graph.operators.at(1).name, "combine");
  EXPECT_EQ(graph.operators.at(1).bytes_in.min.value, 2 * 3 * 8 * 4);
}

TEST(Loops, GuardsOnTheStepDecideWhatIsRead) {
  const Graph graph = lift_text(R"(
program early(input x: f32[T, N], input h0: f32[N]) -> (h) {
  dims T = 7, N = 4
  let h = repeat t:T with (h = h0) {
    kernel g: f32[N] { for n:N where t < 2   g[n] = x[t,n]  else 0 }
    kernel h2: f32[N] { for n:N   h2[n] = h[n] + g[n] }
    next h2
  }
})");
  EXPECT_EQ(read_bytes(graph, 0), 4 * 2 * 4);
  EXPECT_EQ(read_bytes(graph, 1), 4 * 4);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * 4);
}

TEST(Loops, AWindowGrowsBackwardsStepByStep) {
  const Graph graph = lift_text(R"(
program stencil(input u0: f32[N]) -> (y) {
  dims N = 100, T = 9
  let u1 = repeat t:T with (u = u0) {
    kernel v: f32[N] { for n:N where 0 < n < N - 1   v[n] = u[n - 1] + u[n + 1]  else 0 }
    next v
  }
  slice y0 = u1[50:52]
  kernel y: f32[2] { for n:2   y[n] = -y0[n] }
})");
  EXPECT_EQ(read_bytes(graph, 0), 4 * (2 + 2 * 9));
  EXPECT_EQ(graph.nodes.at(0).elementwise_ops, 9 * 2 + 2 * (8 * 9 / 2));
  EXPECT_TRUE(graph.exact);
}

TEST(Loops, WhatNeedsMorePatienceIsALowerBound) {
  const Graph graph = lift_text(R"(
program stencil(input u0: f32[N]) -> (y) {
  dims N = 1001, T = 400
  let u1 = repeat t:T with (u = u0) {
    kernel v: f32[N] { for n:N where 0 < n < N - 1   v[n] = u[n - 1] + u[n] + u[n + 1]  else 0 }
    next v
  }
  slice y = u1[500]
})");
  EXPECT_FALSE(graph.exact);
  EXPECT_GT(read_bytes(graph, 0), 4 * 100);
  EXPECT_LE(read_bytes(graph, 0), 4 * 801);
}

TEST(Loops, CarriedValuesThatNothingUsesAreDead) {
  const Graph graph = lift_text(R"(
program dead(input x: f32[T, N], param w: f32[N, N], input c0: f32[N]) -> (a) {
  dims T = 20, N = 3
  kernel z: f32[N] { for n:N   z[n] = 1 }
  let (a, b) = repeat t:T with (a = z, b = c0) {
    kernel a2: f32[N] { for n:N   a2[n] = a[n] * x[t,n] }
    kernel b2: f32[N] { for n:N, k:N   b2[n] += b[k] * w[k,n] }
    next (a2, b2)
  }
})");
  EXPECT_EQ(graph.operators.size(), 1u);
  EXPECT_EQ(graph.totals.macs.value, 0);
  EXPECT_EQ(read_bytes(graph, 1), 0);
  EXPECT_EQ(read_bytes(graph, 2), 0);
}

TEST(Loops, StepsReversedAndNested) {
  const Graph graph = lift_text(R"(
program nested(input x: f32[S, T, N], input w: f32[N]) -> (y) {
  dims S = 3, T = 4, N = 2
  kernel z: f32[N] { for n:N   z[n] = 0 }
  let o1 stack ys = repeat revseq s:S with (o = z) {
    let i1 = repeat t:T with (i = o) {
      kernel i2: f32[N] { for n:N where t <= s   i2[n] = i[n] + x[s,t,n]  else 0 }
      next i2
    }
    next i1 stack i1
  }
  slice y0 = ys[1, :]
  kernel y: f32[N] { for n:N   y[n] = y0[n] * w[n] }
})");
  // The value at s = 1 is made of steps t = 2, 3 of zeros alone: nothing is read.
  EXPECT_EQ(read_bytes(graph, 0), 0);
}

constexpr char kPower[] = R"(
program power(input a: f32[N, N], input x0: f32[N]) -> (x) {
  dims N = 3
  let x = while limit 10 with (v = x0) {
    kernel s: f32[] { for n:N   s[] += v[n] * v[n] }
    kernel go: bool[] { go[] = s[] > 1.0 }
    test go
    op "mv" { kernel y: f32[N] { for i:N, j:N   y[i] += a[i,j] * v[j] } }
    next y
  }
})";

TEST(Loops, AWhileRunsAsRecorded) {
  LiftOptions options;
  options.paths = {{.entered = 1, .steps = 4}};
  const Graph graph = lift_text(kPower, options);
  EXPECT_EQ(graph.totals.macs.value, 4 * 9);
  EXPECT_EQ(graph.totals.macs_useful.value, 4 * 9);
  const Operator* product = find_operator(graph, "mv");
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(product->executions, 4);
  EXPECT_EQ(product->bytes_in.min.value, 4 * 4 * (9 + 3));
  const Operator* sum = find_operator(graph, "x.s");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->elementwise_ops, 5 * 2 * 3);  // the last test too
  EXPECT_EQ(read_bytes(graph, 0), 36);
  EXPECT_TRUE(assumes(graph, "recorded-path"));
  EXPECT_FALSE(assumes(graph, "path-not-recorded"));
}

TEST(Loops, AWhileThatWasNotRunEndsAtOnce) {
  const Graph graph = lift_text(kPower);
  EXPECT_EQ(graph.totals.macs_useful.value, 0);
  const Operator* sum = find_operator(graph, "x.s");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->elementwise_ops, 2 * 3);
  EXPECT_EQ(read_bytes(graph, 0), 0);
  EXPECT_EQ(read_bytes(graph, 1), 12);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 0);
  EXPECT_TRUE(assumes(graph, "path-not-recorded"));
}

constexpr char kBranch[] = R"(
program branch(input x: f32[B, I], param w: f32[O, I], param w1: f32[H, I], param w2: f32[O, H]) -> (y) {
  dims B = 2, I = 6, O = 5, H = 40
  kernel m: f32[] { for b:B, i:I   m[] += x[b,i] }
  kernel p: bool[] { p[] = m[] > 0 }
  let y = if p {
    op "small" { let s = linear(x, w) }
    next s
  } else {
    op "big1" { let a = linear(x, w1) }
    op "relu" { let r = relu(a) }
    op "big2" { let c = linear(r, w2) }
    next c
  }
})";

TEST(Loops, TheBranchThatRan) {
  LiftOptions options;
  options.paths = {{.taken = 1}};
  const Graph taken = lift_text(kBranch, options);
  EXPECT_EQ(taken.totals.macs.value, 60);
  EXPECT_EQ(taken.totals.macs_useful.value, 60);
  EXPECT_EQ(taken.totals.bytes_read_params.min.value, 4 * 30);
  EXPECT_EQ(taken.totals.bytes_read_inputs.min.value, 48);
  EXPECT_EQ(taken.totals.bytes_written_outputs.min.value, 40);
  ASSERT_NE(find_operator(taken, "p"), nullptr);
  EXPECT_TRUE(assumes(taken, "recorded-path"));
  options.paths = {{.not_taken = 1}};
  const Graph other = lift_text(kBranch, options);
  EXPECT_EQ(other.totals.macs_useful.value, 2 * 40 * (6 + 5));
  EXPECT_EQ(other.totals.bytes_read_params.min.value, 4 * (240 + 200));
}

TEST(Loops, OfAnUnknownBranchWhatBothNeed) {
  const Graph graph = lift_text(kBranch);
  EXPECT_EQ(graph.totals.macs_useful.value, 60);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 0);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 48);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 40);
  EXPECT_FALSE(graph.exact);
  EXPECT_TRUE(assumes(graph, "path-not-recorded"));
}

constexpr char kMixed[] = R"(
program mixed(input x: f32[T, N], input h0: f32[N], param w: f32[N, N], param v: f32[N, N]) -> (h) {
  dims T = 5, N = 3
  let h = repeat t:T with (h = h0) {
    kernel p: bool[] { p[] = h[0] > x[t,0] }
    let h2 = if p {
      kernel a: f32[N] { for n:N, k:N   a[n] += h[k] * w[k,n] }
      next a
    } else {
      kernel b: f32[N] { for n:N, k:N   b[n] += (h[k] + x[t,k]) * v[k,n] }
      kernel c: f32[N] { for n:N, k:N   c[n] += b[k] * v[n,k] }
      next c
    }
    next h2
  }
})";

TEST(Loops, StepsThatWentDifferentWays) {
  LiftOptions options;
  options.paths = {{.taken = 2, .not_taken = 3}};
  const Graph graph = lift_text(kMixed, options);
  EXPECT_EQ(graph.totals.macs_useful.value, 5 * 9);  // each step at least the shorter branch
  EXPECT_EQ(read_bytes(graph, 0), 4 * 5);            // the condition's
  EXPECT_EQ(read_bytes(graph, 1), 4 * 3);
  EXPECT_EQ(read_bytes(graph, 2) + read_bytes(graph, 3), 0);
  EXPECT_TRUE(assumes(graph, "path-not-recorded"));
  options.paths = {{.not_taken = 5}};
  const Graph one_way = lift_text(kMixed, options);
  EXPECT_EQ(one_way.totals.macs_useful.value, 5 * 18);
  EXPECT_EQ(read_bytes(one_way, 0), 4 * 15);
  EXPECT_FALSE(assumes(one_way, "path-not-recorded"));
}

}  // namespace
}  // namespace solar::einsum

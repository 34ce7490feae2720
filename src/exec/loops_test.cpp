// repeat, while and if.

#include <random>

#include "exec/program_test_util.h"

namespace solar::exec {
namespace {

using enum ElementType;

TensorData random_tensor(std::vector<int64_t> shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto result = *TensorData::make(F32, std::move(shape));
  for (int64_t i = 0; i < result.count(); ++i)
    result.set(i, std::uniform_real_distribution<double>(-1, 1)(random));
  return result;
}

TEST(Loops, AnLstmCarriesTwoTensorsAndStacksOne) {
  const auto out =
      run_checked(R"(program lstm(input x: f32[B, T, I], param w: f32[4*H, I], param u: f32[4*H, H],
                                          param b: f32[4*H]) -> (y, h1, c1) {
    dims B = 2, T = 6, I = 3, H = 5
    kernel xp: f32[T, B, 4*H] { for t:T, b:B, n:4*H, i:I  xp[t,b,n] += x[b,t,i] * w[n,i]  init b[n] }
    kernel z: f32[B, H] { for b:B, n:H  z[b,n] = 0.0 }
    let (h1, c1) stack ys = repeat t:T with (h = z, c = z) {
      kernel a: f32[B, 4*H] { for b:B, n:4*H, k:H  a[b,n] += h[b,k] * u[n,k]  init xp[t,b,n] }
      kernel c2: f32[B, H] { for b:B, n:H
        c2[b,n] = sigmoid(a[b, n + H]) * c[b,n] + sigmoid(a[b,n]) * tanh(a[b, n + 2*H]) }
      kernel h2: f32[B, H] { for b:B, n:H  h2[b,n] = sigmoid(a[b, n + 3*H]) * tanh(c2[b,n]) }
      next (h2, c2) stack h2
    }
    view y = ys { t, b, n -> b, t, n }
  })",
                  {{"x", random_tensor({2, 6, 3}, 1)},
                   {"w", random_tensor({20, 3}, 2)},
                   {"u", random_tensor({20, 5}, 3)},
                   {"b", random_tensor({20}, 4)}});
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(out.outputs[0].get(i / 5 * 30 + 25 + i % 5), out.outputs[1].get(i));
}

TEST(Loops, ADescendingRepeatStacksByStep) {
  const auto out = run_checked(R"(program p(input x: f32[T, N]) -> (h, ys, es) {
    dims T = 4, N = 2
    kernel z: f32[N] { for n:N  z[n] = 0 }
    let h stack (ys, es) = repeat revseq t:T with (h0 = z) {
      slice e = x[t, :]
      kernel h2: f32[N] { for n:N  h2[n] = 2 * h0[n] + e[n] + f32(t) }
      next h2 stack (h2, e)
    }
  })",
                               {{"x", counting({4, 2})}});
  EXPECT_EQ(values(out.outputs[2]), values(counting({4, 2})));
  EXPECT_EQ(values(out.outputs[1]),
            (Values{2 * (2 * (2 * 9 + 6) + 3) + 0, 2 * (2 * (2 * 10 + 7) + 4) + 1,
                    2 * (2 * 9 + 6) + 3, 2 * (2 * 10 + 7) + 4, 2 * 9 + 6, 2 * 10 + 7, 9, 10}));
}

TEST(Loops, CarriedValuesMaySwapStayOrBeViews) {
  const auto out =
      run_checked(R"(program p(input a: f32[N, N], input b: f32[N, N]) -> (x, y, same, turned) {
    dims N = 3, T = 3
    let (x, y, same, turned) = repeat t:T with (p = a, q = b, r = a, s = a) {
      view u = s { i, j -> j, i }
      next (q, p, r, u)
    }
  })",
                  {{"a", counting({3, 3})}, {"b", tensor(F32, {3, 3}, Values(9, 7))}});
  EXPECT_EQ(values(out.outputs[0]), Values(9, 7));
  EXPECT_EQ(values(out.outputs[1]), values(counting({3, 3})));
  EXPECT_EQ(values(out.outputs[2]), values(counting({3, 3})));
  EXPECT_EQ(values(out.outputs[3]), (Values{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(Loops, NestedRepeatsSeeBothSteps) {
  const auto out = run_checked(R"(program p(input x: f32[T, U, N]) -> (h, rows, all) {
    dims T = 3, U = 2, N = 4
    kernel z: f32[N] { for n:N  z[n] = 1 }
    let h stack (rows, all) = repeat t:T with (a = z) {
      slice row = x[t, :, :]
      let b stack inner = repeat revseq u:U with (c = a) {
        slice e = row[u, :]
        kernel d: f32[N] { for n:N where n >= u  d[n] = c[n] - e[n] + f32(u * 10 + t) + x[t, u, n]  else c[n] }
        next d stack d
      }
      next b stack (b, inner)
    }
  })",
                               {{"x", counting({3, 2, 4})}});
  EXPECT_EQ(out.outputs[2].shape(), (std::vector<int64_t>{3, 2, 4}));
}

TEST(Loops, OnlyStacking) {
  const auto out = run_checked(R"(program p(input x: f32[T, N]) -> (s, t2) {
    dims T = 5, N = 3
    let stack (s, t2) = repeat t:T with () {
      slice e = x[t, :]
      kernel sum: f32[] { for n:N  sum[] += e[n] * f32(t) }
      kernel ti: i64[] { ti[] = t * 2 }
      next stack (sum, ti)
    }
  })",
                               {{"x", counting({5, 3})}});
  EXPECT_EQ(values(out.outputs[1]), (Values{0, 2, 4, 6, 8}));
}

constexpr const char* kNewton = R"(program p(input start: f32[]) -> (root) {
  let root = while limit 50 with (r = start) {
    kernel go: bool[] { go[] = abs(r * r - 2) > 1e-5 }
    test go
    kernel r2: f32[] { r2[] = 0.5 * (r + 2 / r) }
    next r2
  }
})";

TEST(Loops, AWhileEndsOnItsTest) {
  const auto out = run_checked(kNewton, {{"start", tensor(F32, {}, {1})}});
  EXPECT_NEAR(out.outputs[0].get(0), std::sqrt(2.0), 1e-5);
  EXPECT_EQ(out.paths[0].entered, 1);
  EXPECT_GT(out.paths[0].steps, 2);
}

TEST(Loops, AWhileMayMakeNoStep) {
  const auto start = tensor(F32, {}, {static_cast<float>(std::sqrt(2.0))});
  const auto out = run_checked(kNewton, {{"start", start}});
  EXPECT_TRUE(out.outputs[0].same_bytes(start));
  EXPECT_EQ(out.paths[0].steps, 0);
}

constexpr const char* kCount = R"(program p(input n: i64[]) -> (c) {
  let c = while limit 5 with (i = 0) {
    kernel go: bool[] { go[] = i < n }
    test go
    kernel j: i64[] { j[] = i + 1 }
    next j
  }
})";

TEST(Loops, TheStepLimit) {
  EXPECT_EQ(run_checked(kCount, {{"n", tensor(I64, {}, {5})}}).outputs[0].get(0), 5);
  const Diagnostic problem = failure(kCount, {{"n", tensor(I64, {}, {6})}});
  EXPECT_EQ(problem.kind, DiagnosticKind::StepLimit);
  EXPECT_NE(problem.message.find("5 steps"), std::string::npos) << problem.message;
  EXPECT_NE(problem.message.find("`c.go`"), std::string::npos) << problem.message;
}

constexpr const char* kBranches = R"(program p(input x: f32[N, M], input p: bool[]) -> (w, v) {
  dims N = 3, M = 4, T = 2
  let (w, v) = if p {
    slice a = x[reverse, :]
    next (a, x)
  } else {
    let b = repeat t:T with (c = x) {
      kernel d: f32[N, M] { for n:N, m:M  d[n,m] = c[n,m] * 2 + f32(t) }
      next d
    }
    next (b, b)
  }
})";

TEST(Loops, BranchesYieldViewsOuterTensorsAndLoops) {
  const Inputs taken = {{"x", counting({3, 4})}, {"p", tensor(Bool, {}, {1})}};
  const auto yes = run_checked(kBranches, taken);
  EXPECT_EQ(yes.outputs[0].get(0), 8);
  EXPECT_EQ(yes.paths[0].taken, 1);
  const auto no = run_checked(kBranches, {{"x", counting({3, 4})}, {"p", tensor(Bool, {}, {0})}});
  EXPECT_EQ(no.outputs[0].get(1), 5);
  EXPECT_EQ(no.paths[0].not_taken, 1);
}

TEST(Loops, ABranchInALoopIsCountedEachTime) {
  const auto out = run_checked(R"(program p(input x: f32[T]) -> (s) {
    dims T = 7
    let s = repeat t:T with (a = 0.0) {
      kernel big: bool[] { big[] = x[t] > 2 }
      let b = if big {
        kernel c: f32[] { c[] = a + x[t] }
        next c
      } else { next a }
      next b
    }
  })",
                               {{"x", counting({7})}});
  EXPECT_EQ(out.outputs[0].get(0), 3 + 4 + 5 + 6);
  EXPECT_EQ(out.paths[0].taken, 4);
  EXPECT_EQ(out.paths[0].not_taken, 3);
}

TEST(Loops, FunctionsAndContractionsInBodies) {
  run_checked(R"(fn rnn_cell<B, H>(h: f32[B, H], u: f32[H, H], x: f32[B, H]) -> (y) {
    let p = linear(h, u)
    let s = add(p, x)
    let y = tanh(s)
  }
  program p(input x: f32[T, B, H], param u: f32[H, H], input h0: f32[B, H]) -> (h, ys) {
    dims T = 4, B = 40, H = 48
    let h stack ys = repeat t:T with (h1 = h0) {
      slice e = x[t, :, :]
      let h2 = rnn_cell(h1, u, e)
      let n = softmax(h2)
      next h2 stack n
    }
  })",
              {{"x", random_tensor({4, 40, 48}, 5)},
               {"u", random_tensor({48, 48}, 6)},
               {"h0", random_tensor({40, 48}, 7)}});
}

TEST(Loops, OutputsMayAliasInputsAndEachOther) {
  const Inputs inputs = {{"x", counting({3})}};
  const auto out = run_checked(R"(program p(input x: f32[N]) -> (a, b, ys) {
    dims N = 3, T = 2
    let (a, b) stack ys = repeat t:T with (c = x, d = x) {
      next (c, c) stack c
    }
  })",
                               inputs);
  auto a = out.outputs[0];
  a.set(0, 99);  // a value of its own
  EXPECT_EQ(values(out.outputs[1]), (Values{0, 1, 2}));
  EXPECT_EQ(values(inputs.at("x")), (Values{0, 1, 2}));
}

constexpr const char* kLong = R"(program p(input x: f32[N]) -> (h) {
  dims N = 1000, T = 1000000000000
  let h = repeat t:T with (a = x) {
    kernel b: f32[N] { for n:N  b[n] = a[n] + 1 }
    next b
  }
})";

TEST(Loops, ALongLoopCanBeInterruptedAndIsEstimated) {
  std::atomic<bool> cancel = false;
  int64_t calls = 0;
  const auto problem = failure(kLong, {{"x", counting({1000})}},
                               {.progress =
                                    [&](int64_t done, int64_t all) {
                                      EXPECT_LE(done, all);
                                      ++calls;
                                      cancel = true;
                                    },
                                .cancel = &cancel});
  EXPECT_EQ(problem.kind, DiagnosticKind::Interrupted);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(estimate_points(verified(kLong)), 1001 * int64_t{1000000000000});
}

TEST(Loops, ProgressReachesTheEnd) {
  int64_t last = 0, all = 0;
  const std::string text = R"(program p(input x: f32[N]) -> (h) {
    dims N = 10, T = 2000
    let h = while limit T with (a = x) {
      kernel go: bool[] { go[] = a[0] < 700 }
      test go
      kernel b: f32[N] { for n:N  b[n] = a[n] + 1 }
      next b
    }
  })";
  const auto out = interpreter()->run(verified(text), {{"x", counting({10})}},
                                      {.progress = [&](int64_t done, int64_t points) {
                                        EXPECT_GE(done, last);
                                        last = done, all = points;
                                      }});
  ASSERT_TRUE(out);
  EXPECT_EQ(last, all);
  EXPECT_EQ(out->paths[0].steps, 700);
}

TEST(Loops, PeakMemory) {
  // x, the stack, which has room for b, and either a or c.
  const std::string text = R"(program p(input x: f32[N]) -> (h, ys) {
    dims N = 1000, T = 10
    let h stack ys = repeat t:T with (a = x) {
      kernel b: f32[N] { for n:N  b[n] = a[n] + 1 }
      kernel c: f32[N] { for n:N  c[n] = b[n] * 2 }
      next c stack b
    }
  })";
  const int64_t one = 4000;
  EXPECT_EQ(predict_peak_bytes(verified(text)), one + 10 * one + one);
  EXPECT_EQ(failure(text, {{"x", counting({1000})}}, {.memory_limit = 12 * one - 1}).kind,
            DiagnosticKind::MemoryLimit);
  EXPECT_TRUE(
      interpreter()->run(verified(text), {{"x", counting({1000})}}, {.memory_limit = 12 * one}));
}

TEST(Loops, TensorsOfBodiesCannotBeKept) {
  const auto problem = failure(kCount, {{"n", tensor(I64, {}, {5})}}, {.keep = {"c.j"}});
  EXPECT_EQ(problem.kind, DiagnosticKind::UnknownName);
  EXPECT_NE(problem.message.find("body"), std::string::npos) << problem.message;
}

}  // namespace
}  // namespace solar::exec

// Scatters, ragged loops, sorting, compaction, slices with a run-time start, holes.

#include <limits>

#include "exec/program_test_util.h"

namespace solar::exec {
namespace {

using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TensorData ids(const Values& values) {
  return tensor(I64, {static_cast<int64_t>(values.size())}, values);
}

constexpr const char* kScatterAdd =
    R"(program p(input x: f32[N, D], input ids: i64[N], input y0: f32[M, D]) -> (y, z) {
  dims N = 4, D = 3, M = 3
  scatter y: f32[M, D] { for n:N, d:D  y[ids[n], d] += x[n,d]  base y0 }
  scatter z: f32[M, D] { for n:N, d:D where n != 1  z[ids[n], d] += x[n,d] }
})";

TEST(Scatter, Adds) {
  const Inputs inputs = {{"x", counting({4, 3})},
                         {"ids", ids({2, 0, 2, 1})},
                         {"y0", tensor(F32, {3, 3}, Values(9, 100))}};
  const auto out = run_checked(kScatterAdd, inputs);
  EXPECT_EQ(values(out.outputs[0]), (Values{103, 104, 105, 109, 110, 111, 106, 108, 110}));
  EXPECT_EQ(values(out.outputs[1]), (Values{0, 0, 0, 9, 10, 11, 6, 8, 10}));
  EXPECT_EQ(values(inputs.at("y0")), Values(9, 100));
}

TEST(Scatter, ASubscriptOutOfRangeIsReported) {
  const auto problem =
      failure(kScatterAdd,
              {{"x", counting({4, 3})}, {"ids", ids({2, 0, 3, -1})}, {"y0", counting({3, 3})}});
  EXPECT_EQ(problem.kind, DiagnosticKind::IndexOutOfRange);
  EXPECT_NE(problem.message.find("`y` is 3 on axis 0, which has extent 3"), std::string::npos)
      << problem.message;
}

TEST(Scatter, EveryOperator) {
  run_checked(
      R"(program p(input x: f32[N], input b: bool[N], input ids: i64[N], input y0: f32[M], input c0: bool[M],
                           input k: i64[N], input j0: i64[M]) -> (a, m, n, e, f, g, h) {
    dims N = 6, M = 3
    scatter a: f32[M] { for i:N  a[ids[i]] *= x[i]  base y0 }
    scatter m: f32[M] { for i:N  m[ids[i]] max= x[i]  base y0 }
    scatter n: f32[M] { for i:N  n[ids[i]] min= x[i]  base y0 }
    scatter e: bool[M] { for i:N  e[ids[i]] and= b[i]  base c0 }
    scatter f: bool[M] { for i:N  f[ids[i]] or= b[i] }
    scatter g: i64[M] { for i:N  g[ids[i]] += k[i]  base j0 }
    scatter h: i64[M] { for i:N  h[ids[i]] max= k[i]  base j0 }
  })",
      {{"x", tensor(F32, {6}, {1, -2, kNan, 4, -0.5, 8})},
       {"b", tensor(Bool, {6}, {1, 0, 1, 1, 0, 1})},
       {"ids", ids({0, 1, 2, 0, 1, 0})},
       {"y0", tensor(F32, {3}, {1, 2, 3})},
       {"c0", tensor(Bool, {3}, {1, 1, 0})},
       {"k", tensor(I64, {6}, {5, -7, 9, -1, 2, 3})},
       {"j0", tensor(I64, {3}, {-3, 4, 0})}});
}

TEST(Scatter, NarrowFloatsAreRoundedOnce) {
  // 1 + 256 halves of the last place of bf16
  const auto out = run_checked(R"(program p(input y0: bf16[2]) -> (y) {
    dims N = 256
    scatter y: bf16[2] { for i:N  y[i % 2] += bf16(0.00390625)  base y0 }
  })",
                               {{"y0", tensor(BF16, {2}, {1, 2})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{1.5, 2.5}));
}

constexpr const char* kUnique =
    R"(program p(input x: f32[N], input ids: i64[N], input to: i64[N]) -> (y) {
  dims N = 4, M = 5
  scatter y: f32[M, 2] { for i:N  y[ids[i], to[i]] = x[i]  unique }
})";

TEST(Scatter, UniqueWritesAreChecked) {
  const Inputs good = {{"x", counting({4})}, {"ids", ids({4, 0, 2, 0})}, {"to", ids({0, 1, 1, 0})}};
  EXPECT_EQ(values(run_checked(kUnique, good).outputs[0]), (Values{3, 1, 0, 0, 0, 2, 0, 0, 0, 0}));
  const auto problem = failure(
      kUnique, {{"x", counting({4})}, {"ids", ids({4, 0, 2, 4})}, {"to", ids({0, 1, 1, 0})}});
  EXPECT_EQ(problem.kind, DiagnosticKind::DuplicateWrite);
  EXPECT_NE(problem.message.find("element [4, 0]"), std::string::npos) << problem.message;
}

TEST(Scatter, ManyPointsInManyThreads) {
  const std::string text = R"(program p(input x: f32[N, D], input ids: i64[N]) -> (y, s) {
    dims N = 3000, D = 40, M = 70
    scatter y: f32[M, D] { for n:N, d:D  y[ids[n], d] += x[n,d] }
    scatter s: f32[D, M] { for n:N, d:D where ids[n] > 3  s[d, ids[n]] max= x[n,d]  base z }
  })";
  auto x = counting({3000, 40}), at = *TensorData::make(I64, {3000});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, std::sin(static_cast<double>(i)));
  for (int64_t i = 0; i < at.count(); ++i) at.set_integer(i, i * i % 70);
  std::string with_base = text;
  with_base.replace(with_base.find("scatter y"), 0,
                    "kernel z: f32[D, M] { for d:D, m:M  z[d,m] = -1 }\n    ");
  run_checked(with_base, {{"x", x}, {"ids", at}});
  const auto program = verified(with_base);
  const auto one = interpreter()->run(program, {{"x", x}, {"ids", at}}, {.threads = 1});
  const auto many = interpreter()->run(program, {{"x", x}, {"ids", at}}, {.threads = 4});
  EXPECT_TRUE(one->outputs[0].same_bytes(many->outputs[0]));
  at.set_integer(2000, 70);
  at.set_integer(2900, -1);
  for (const int threads : {1, 4}) {
    const auto problem = failure(with_base, {{"x", x}, {"ids", at}}, {.threads = threads});
    EXPECT_NE(problem.message.find("is 70 on axis 0"), std::string::npos) << problem.message;
  }
}

TEST(Scatter, ACacheGrowsInPlace) {
  const std::string text =
      R"(program p(input x: f32[T, D], input c0: f32[N, D], input to: i64[T]) -> (c, sums) {
    dims T = 5, D = 3, N = 8
    let c stack sums = repeat t:T with (a = c0) {
      scatter b: f32[N, D] { for d:D  b[to[t], d] = x[t,d]  base donated a  unique }
      kernel s: f32[D] { for d:D, n:N  s[d] += b[n,d] }
      next b stack s
    }
  })";
  const Inputs inputs = {{"x", counting({5, 3})},
                         {"c0", tensor(F32, {8, 3}, Values(24, 1))},
                         {"to", ids({3, 0, 7, 3, 1})}};
  run_checked(text, inputs);
  EXPECT_EQ(values(inputs.at("c0")), Values(24, 1));
  EXPECT_EQ(predict_peak_bytes(verified(text)), (15 + 24) * 4 + 5 * 8 + 15 * 4 + 24 * 4 + 24 / 8);
}

TEST(Scatter, ABaseThatIsReadToo) {
  const auto out = run_checked(R"(program p(input x: i64[N]) -> (y) {
    dims N = 4
    kernel b: i64[N] { for i:N  b[i] = x[i] + 1 }
    scatter y: i64[N] { for i:N  y[b[i]] += b[N - 1 - i]  base donated b }
  })",
                               {{"x", ids({0, 2, 1, -1})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{1 + 1, 3 + 0, 2 + 3, 0 + 2}));
}

TEST(Ragged, CsrTimesDense) {
  const std::string text =
      R"(program csr(input ptr: i64[M + 1], input col: i64[NNZ], input val: f32[NNZ], input x: f32[K, N]) -> (y, v, m, c) {
    dims M = 4, K = 5, N = 3, NNZ = 7
    indexed y: f32[M, N] { for i:M, p:NNZ in ptr[i] .. ptr[i+1], n:N  y[i,n] += val[p] * x[col[p], n] }
    indexed v: f32[M] { for i:M, p:NNZ in ptr[i] .. ptr[i+1]  v[i] += val[p] }
    indexed m: f32[M], c: i64[M] { for i:M, p:NNZ in ptr[i] .. ptr[i+1]  m[i], c[i] argmax= val[p], col[p]  else -9 }
  })";
  for (const Values& ptr : {Values{0, 2, 2, 5, 7}, Values{0, 0, 7, 7, 7}, Values{-3, 2, 1, 5, 900},
                            Values{9e18, -9e18, 9e18, 0, 0}}) {
    run_checked(text, {{"ptr", ids(ptr)},
                       {"col", ids({0, 4, 1, 2, 3, 0, 4})},
                       {"val", tensor(F32, {7}, {1, 2, 3, -4, 5, 6, -7})},
                       {"x", counting({5, 3})}});
  }
}

TEST(Ragged, NestedRangesTargetsAndElse) {
  run_checked(
      R"(program p(input ptr: i64[M + 1], input qtr: i64[P + 1], input x: f32[Q], input who: i64[M]) -> (y, z, w, e, s) {
    dims M = 3, P = 5, Q = 9
    indexed y: f32[M] { for i:M, p:P in ptr[i] .. ptr[i+1], q:Q in qtr[p] .. qtr[p+1]  y[i] += x[q] * f32(p + 1) }
    indexed z: f32[M, P] { for i:M, p:P in ptr[i] .. ptr[i+1]  z[i,p] = f32(p)  else -1 }
    indexed w: f32[M] { for i:M, p:P in ptr[i] .. ptr[i+1]  w[i] max= f32(p)  else 9 }
    indexed e: f32[M, Q] { for i:M, p:P in ptr[i] .. ptr[i+1], q:Q in qtr[p] .. qtr[p+1]  e[i,q] += x[q] + f32(p)  else -2 }
    scatter s: f32[M] { for i:M, p:P in ptr[i] .. ptr[i+1] where p != 1  s[who[i]] += x[p] }
  })",
      {{"ptr", ids({0, 2, 2, 5})},
       {"qtr", ids({0, 3, 3, 4, 8, 9})},
       {"x", counting({9})},
       {"who", ids({2, 0, 2})}});
}

TEST(Ragged, WorkIsLinear) {
  // 20,000 rows of 3 elements each: as boxes this would be 10^10 points.
  const std::string text =
      R"(program csr(input ptr: i64[M + 1], input val: f32[NNZ], input x: f32[NNZ, N]) -> (y) {
    dims M = 20000, NNZ = 60000, N = 8
    indexed y: f32[M, N] { for i:M, p:NNZ in ptr[i] .. ptr[i+1], n:N  y[i,n] += val[p] * x[p, n] }
  })";
  EXPECT_EQ(estimate_points(verified(text)), 60000 * 8);
  auto ptr = *TensorData::make(I64, {20001});
  for (int64_t i = 0; i < ptr.count(); ++i) ptr.set_integer(i, 3 * i);
  int64_t points = 0;
  const auto out = interpreter()->run(
      verified(text), {{"ptr", ptr}, {"val", counting({60000})}, {"x", counting({60000, 8})}},
      {.progress = [&](int64_t done, int64_t) { points = done; }});
  ASSERT_TRUE(out);
  EXPECT_EQ(points, 60000 * 8);
  EXPECT_EQ(out->outputs[0].get(8), 3.0F * 24 + 4.0F * 32 + 5.0F * 40);
}

TEST(Sort, StableAndNanIsLargest) {
  const auto out = run_checked(
      R"(program p(input x: f32[B, N]) -> (v, ix, dv, dix, tv, tix, a) {
    dims B = 2, N = 6, K = 2
    let (v, ix) = sort(x; axis = 1)
    let (dv, dix) = sort(x; axis = 1, descending = true)
    let (tv, tix) = topk(x; axis = 1, k = K)
    let a = argsort(x; axis = 0)
  })",
      {{"x", tensor(F32, {2, 6}, {3, kNan, 1, 3, -kInf, kNan, 0, -0.0, kInf, 2, 2, 2})}});
  EXPECT_EQ(values(out.outputs[1]), (Values{4, 2, 0, 3, 1, 5, 0, 1, 3, 4, 5, 2}));
  EXPECT_EQ(values(out.outputs[3]), (Values{1, 5, 0, 3, 2, 4, 2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(values(out.outputs[5]), (Values{1, 5, 2, 3}));
  EXPECT_TRUE(std::signbit(out.outputs[0].get(7)));
}

TEST(Sort, EveryType) {
  for (const char* type : {"f64", "f16", "bf16", "f8e4m3", "i64", "i32", "i8", "u8", "bool"}) {
    const std::string text =
        std::string(R"(program p(input x: )") + type + R"([N, 3]) -> (v, ix, tv) {
      dims N = 50
      let (v, ix) = sort(x; axis = 0)
      let (tv, ti) = topk(x; axis = 0, k = 4, descending = false)
    })";
    auto x = *TensorData::make(*ir::element_type_named(type), {50, 3});
    for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 37 % 23 - 11));
    run_checked(text, {{"x", x}});
  }
}

TEST(Compact, UniqueAndNonzero) {
  const std::string text = R"(program p(input x: f32[N, 2]) -> (v, n, ix, m) {
    dims N = 4
    let (v, n) = unique(x; limit = 5)
    let (ix, m) = nonzero(x; limit = 6)
  })";
  const auto out =
      run_checked(text, {{"x", tensor(F32, {4, 2}, {3, kNan, 0, 3, -0.0, kNan, -1, 0})}});
  EXPECT_EQ(out.outputs[1].get(0), 4);
  EXPECT_EQ(out.outputs[0].get(1), 0);
  EXPECT_EQ(values(out.outputs[2]), (Values{0, 0, 0, 1, 1, 1, 2, 1, 3, 0, 0, 0}));
  const auto problem = failure(text, {{"x", counting({4, 2})}});
  EXPECT_EQ(problem.kind, DiagnosticKind::ResultLimit);
  EXPECT_NE(problem.message.find("8 different values, the limit is 5"), std::string::npos)
      << problem.message;
}

TEST(Slices, ARunTimeStart) {
  const std::string text = R"(program p(input x: f32[N, M], input s: i64[]) -> (y, z) {
    dims N = 6, M = 2
    slice y = x[at s size 3, :]
    slice r = y[reverse, 1]
    kernel z: f32[3] { for i:3  z[i] = r[i] + 1 }
  })";
  const auto out = run_checked(text, {{"x", counting({6, 2})}, {"s", tensor(I64, {}, {2})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(values(out.outputs[1]), (Values{10, 8, 6}));
  for (const double start : {-1.0, 4.0, 9e18, -9e18}) {
    const auto problem = failure(text, {{"x", counting({6, 2})}, {"s", tensor(I64, {}, {start})}});
    EXPECT_EQ(problem.kind, DiagnosticKind::IndexOutOfRange) << start;
    EXPECT_NE(problem.message.find("computing `y`: a subscript of `x`"), std::string::npos)
        << problem.message;
  }
}

TEST(Slices, AStartThatMovesInALoop) {
  run_checked(R"(program p(input x: f32[N, M], input s0: i64[]) -> (ys, zs, s) {
    dims N = 6, M = 2, T = 4
    let s stack (ys, zs) = repeat t:T with (at0 = s0) {
      slice y = x[at at0 size 3, :]
      slice w = x[t:t + 2, 1]
      kernel z: f32[2] { for i:2  z[i] = w[i] * y[i, 0] }
      kernel n: i64[] { n[] = (at0 + 2) % 4 }
      next n stack (y, z)
    }
  })",
              {{"x", counting({6, 2})}, {"s0", tensor(I64, {}, {3})}});
}

TEST(Movement, PartsAndPilesAreMovedInLoops) {
  run_checked(R"(program p(input x: f32[T, 4]) -> (y, ps) {
    dims T = 3
    kernel z: f32[4] { for i:4  z[i] = 0 }
    let y stack ps = repeat t:T with (h = z) {
      slice e = x[t, :]
      let (a, b) = split(e; axis = 0)
      let c = concat(b, a; axis = 0)
      kernel d: f32[4] { for i:4  d[i] = c[i] + h[i] }
      let pair = stack(d, e; axis = 1)
      view pile = pair { i, j -> j, i }
      let (u, w) = unbind(pile; axis = 0)
      next u stack pair
    }
  })",
              {{"x", counting({3, 4})}});
}

TEST(Movement, HolesAndOpaqueOperatorsDoNotRun) {
  const Inputs inputs = {{"x", counting({3})}};
  const auto hole = failure(R"(program p(input x: f32[3]) -> (y) {
    hole y: f32[3] = "my_op"(x)
  })",
                            inputs);
  EXPECT_EQ(hole.kind, DiagnosticKind::HoleReached);
  EXPECT_NE(hole.message.find("`y` is computed by `my_op`, a hole"), std::string::npos)
      << hole.message;
  const auto opaque = failure(R"(program p(input x: f32[3]) -> (z) {
    opaque (y: f32[3], n: i64[]) = "solve"(x) macs 27
    kernel z: f32[3] { for i:3  z[i] = y[i] + 1 }
  })",
                              inputs);
  EXPECT_EQ(opaque.kind, DiagnosticKind::HoleReached);
  EXPECT_NE(opaque.message.find("`solve`"), std::string::npos) << opaque.message;
  const std::string branch = R"(program p(input x: f32[3], input p: bool[]) -> (y) {
    let y = if p { next x } else {
      hole h: f32[3] = "other"(x)
      next h
    }
  })";
  EXPECT_TRUE(
      interpreter()->run(verified(branch), {{"x", counting({3})}, {"p", tensor(Bool, {}, {1})}}));
  EXPECT_EQ(failure(branch, {{"x", counting({3})}, {"p", tensor(Bool, {}, {0})}}).kind,
            DiagnosticKind::HoleReached);
}

}  // namespace
}  // namespace solar::exec

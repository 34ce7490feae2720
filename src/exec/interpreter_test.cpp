#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/diagnostic_text.h"
#include "exec/executor.h"
#include "ir/verify.h"

namespace solar::exec {
namespace {

using enum ElementType;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TensorData tensor(ElementType type, std::vector<int64_t> shape, const Values& values) {
  return *TensorData::from_doubles(type, std::move(shape), values);
}
TensorData counting(std::vector<int64_t> shape) {
  auto result = *TensorData::make(F32, std::move(shape));
  for (int64_t i = 0; i < result.count(); ++i) result.set(i, static_cast<double>(i));
  return result;
}
Values values(const TensorData& data) {
  Values result;
  for (int64_t i = 0; i < data.count(); ++i) result.push_back(data.get(i));
  return result;
}

ir::VerifiedProgram verified(const std::string& text) {
  auto program = ir::verify_text(text);
  if (!program) {
    ADD_FAILURE() << render_text(program.error());
    std::abort();
  }
  return *program;
}

Outputs run(const std::string& text, const Inputs& inputs, const RunOptions& options = {}) {
  auto result = interpreter()->run(verified(text), inputs, options);
  EXPECT_TRUE(result) << (result ? "" : render_text(result.error()));
  return result ? *result : Outputs{};
}
Diagnostic failure(const std::string& text, const Inputs& inputs, const RunOptions& options = {}) {
  auto result = interpreter()->run(verified(text), inputs, options);
  EXPECT_FALSE(result);
  return result ? Diagnostic{} : result.error()[0];
}

TEST(Interpreter, MatrixProductWithInit) {
  const auto out =
      run(R"(program p(input a: f32[M, K], input b: f32[K, N], input c: f32[N]) -> (y) {
    dims M = 2, K = 3, N = 2
    kernel y: f32[M, N] { for i:M, j:N, k:K  y[i,j] += a[i,k] * b[k,j]  init c[j] }
  })",
          {{"a", tensor(F32, {2, 3}, {1, 2, 3, 4, 5, 6})},
           {"b", tensor(F32, {3, 2}, {1, 0, 0, 1, 1, 1})},
           {"c", tensor(F32, {2}, {10, 20})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{14, 25, 20, 31}));
}

TEST(Interpreter, GuardsSkipAndElseFills) {
  const auto out = run(R"(program p(input x: f32[N]) -> (up, tri, pad) {
    dims N = 5, M = 2 * N
    kernel up: f32[M] { for i:M where i % 2 == 0  up[i] = x[i // 2]  else -1 }
    kernel tri: f32[N] { for i:N, j:N where j < i  tri[i] += x[j] }
    kernel pad: f32[N] { for i:N where 0 <= i - 2 < N, i != 3  pad[i] = x[i - 2]  else 9 }
  })",
                       {{"x", counting({5})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{0, -1, 1, -1, 2, -1, 3, -1, 4, -1}));
  EXPECT_EQ(values(out.outputs[1]), (Values{0, 0, 1, 3, 6}));
  EXPECT_EQ(values(out.outputs[2]), (Values{9, 9, 0, 9, 2}));
}

TEST(Interpreter, ArgReductionsTakeTheFirstOfEqualsAndNan) {
  const auto out =
      run(R"(program p(input x: f32[B, N]) -> (v, ix) {
    dims B = 3, N = 4
    kernel v: f32[B], ix: i64[B] { for b:B, j:N  v[b], ix[b] argmax= x[b,j], j }
  })",
          {{"x", tensor(F32, {3, 4}, {1, 7, 7, 0, -kInf, -kInf, -kInf, -kInf, 3, kNan, 9, kNan})}});
  EXPECT_EQ(values(out.outputs[1]), (Values{1, 0, 1}));
  EXPECT_EQ(out.outputs[0].get(1), -kInf);
  EXPECT_TRUE(std::isnan(out.outputs[0].get(2)));
}

TEST(Interpreter, OrderedLoops) {
  const auto out = run(R"(program p(input x: f32[N, D]) -> (up, down, half) {
    dims N = 4, D = 2
    kernel up: f32[N, D] { for seq i:N, d:D  up[i,d] = prev + x[i,d]  init 0 }
    kernel down: f32[N, D] { for revseq i:N, d:D where i != 1  down[i,d] = prev + x[i,d]  init 100  else 0 }
    kernel half: bf16[N] { for seq i:N  half[i] = prev + 1.00390625  init 0 }
  })",
                       {{"x", counting({4, 2})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{0, 1, 2, 4, 6, 9, 12, 16}));
  EXPECT_EQ(values(out.outputs[1]), (Values{0, 1, 0, 0, 110, 112, 106, 107}));
  EXPECT_EQ(values(out.outputs[2]),
            (Values{1, 2, 3, 4}));  // each step's value is rounded before the next reads it
}

TEST(Interpreter, ViewsSharedAndCopied) {
  const auto out = run(R"(program p(input x: f32[N, M]) -> (t, f, g, s, c) {
    dims N = 2, M = 4
    view t = x { i, j -> j, i }
    view f = t { j, i -> (j, i) }
    view g = f { (a:4, b) -> b, a }
    slice s = x[reverse, 1:4:2]
    let c = concat(s, x; axis = 1)
  })",
                       {{"x", counting({2, 4})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(values(out.outputs[1]), (Values{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(values(out.outputs[2]), (Values{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(values(out.outputs[3]), (Values{5, 7, 1, 3}));
  EXPECT_EQ(values(out.outputs[4]), (Values{5, 7, 0, 1, 2, 3, 1, 3, 4, 5, 6, 7}));
}

TEST(Interpreter, StatesConstsAndKeptTensors) {
  const auto out = run(R"(program p(state s: f32[2], const k: f32[2] = [0.5, 4]) -> (y) {
    kernel h: f32[2] { for i:2  h[i] = s[i] * k[i] }
    kernel y: f32[2] { for i:2  y[i] = h[i] + 1 }
    update s = y
  })",
                       {{"s", tensor(F32, {2}, {2, 3})}}, {.keep = {"h"}});
  EXPECT_EQ(values(out.outputs[0]), (Values{2, 13}));
  EXPECT_EQ(values(out.states.at("s")), (Values{2, 13}));
  EXPECT_EQ(values(out.kept.at("h")), (Values{1, 12}));
}

TEST(Interpreter, ATensorCanBeReplacedOnceItIsComputed) {
  RunOptions options;
  std::map<std::string, Values> computed;
  options.replace = [&](const std::string& name,
                        const TensorData& value) -> std::optional<TensorData> {
    computed[name] = values(value);
    if (name != "y") return std::nullopt;
    return tensor(F32, {2}, {10, 20});
  };
  const auto out = run(R"(program p(input x: f32[2]) -> (z, t) {
    kernel y: f32[2] { for a:2   y[a] = x[a] + 1 }
    view t = y { a -> a }
    kernel z: f32[2] { for a:2   z[a] = y[a] * 2 }
  })",
                       {{"x", tensor(F32, {2}, {1, 2})}}, options);
  EXPECT_EQ(computed.at("y"), (Values{2, 3}));
  EXPECT_EQ(computed.at("t"), (Values{10, 20}));
  EXPECT_EQ(computed.at("z"), (Values{20, 40}));
  EXPECT_EQ(values(out.outputs[0]), (Values{20, 40}));
  EXPECT_EQ(values(out.outputs[1]), (Values{10, 20}));
}

TEST(Interpreter, IntegerConstantsAreExact) {
  const auto out = run(R"(
program p(const c: i64[N] = [9007199254740993, -9223372036854775808, 9223372036854775807]) -> (y) {
  dims N = 3
  kernel y: i64[N] { for n:N   y[n] = c[n] }
})",
                       {});
  EXPECT_EQ(out.outputs.at(0).get_integer(0), 9007199254740993);
  EXPECT_EQ(out.outputs.at(0).get_integer(1), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(out.outputs.at(0).get_integer(2), std::numeric_limits<int64_t>::max());
}

TEST(Interpreter, RoundingAndConversions) {
  const auto out = run(R"(program p(input x: f32[N], input q: i64[N]) -> (i, h, w, r, d, m) {
    dims N = 6
    kernel i: i8[N] { for n:N  i[n] = i8(x[n]) }
    kernel h: f16[N] { for n:N  h[n] = f16(x[n]) }
    kernel w: i8[N] { for n:N  w[n] = i8(n * 50) }
    kernel r: f32[N] { for n:N  r[n] = round(f32(n) * 0.5) }
    kernel d: i64[N] { for n:N  d[n] = q[n] // (q[n] - 1) }
    kernel m: i64[N] { for n:N  m[n] = q[n] % -2 }
  })",
                       {{"x", tensor(F32, {6}, {-1.9, 300, kNan, kInf, 2049, 0.1})},
                        {"q", tensor(I64, {6}, {-3, -2, -1, 0, 1, 2})}});
  EXPECT_EQ(values(out.outputs[0]), (Values{-1, 127, 0, 127, 127, 0}));
  EXPECT_EQ(out.outputs[1].get(4), 2048);
  EXPECT_EQ(values(out.outputs[2]), (Values{0, 50, 100, -106, -56, -6}));
  EXPECT_EQ(values(out.outputs[3]), (Values{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(values(out.outputs[4]), (Values{0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(values(out.outputs[5]), (Values{-1, 0, -1, 0, -1, 0}));
}

TEST(Interpreter, NanInExtremes) {
  const auto out = run(R"(program p(input x: f32[N]) -> (a, b, c) {
    dims N = 3
    kernel a: f32[] { for n:N  a[] max= x[n] }
    kernel b: f32[N] { for n:N  b[n] = max(x[n], 1) }
    kernel c: f32[N] { for n:N  c[n] = fmax(x[n], 1) }
  })",
                       {{"x", tensor(F32, {3}, {0, kNan, 2})}});
  EXPECT_TRUE(std::isnan(out.outputs[0].get(0)));
  EXPECT_TRUE(std::isnan(out.outputs[1].get(1)));
  EXPECT_EQ(values(out.outputs[2]), (Values{1, 1, 2}));
}

TEST(Interpreter, PaddingDoesNotMixWithInfinity) {
  // A padded zero times an infinite weight would be NaN; the padded points are skipped.
  const auto out = run(R"(program p(input x: f32[C, N], input w: f32[O, C, 3]) -> (y) {
    dims C = 32, N = 40, O = 32
    kernel y: f32[O, N] { for o:O, n:N, c:C, r:3 where 0 <= n + r - 1 < N  y[o,n] += x[c, n + r - 1] * w[o,c,r] }
  })",
                       {{"x", tensor(F32, {32, 40}, Values(32 * 40, 1))},
                        {"w", tensor(F32, {32, 32, 3}, Values(32 * 32 * 3, kInf))}});
  for (const double y : values(out.outputs[0])) EXPECT_EQ(y, kInf);
}

TEST(Interpreter, DataDependentReads) {
  const std::string text = R"(program p(input table: f32[V, D], input ids: i64[S]) -> (y, z) {
    dims V = 4, D = 2, S = 3
    indexed y: f32[S, D] { for s:S, d:D  y[s,d] = table[max(min(ids[s], V - 1), 0), d] }
    indexed z: f32[S, D] { for s:S, d:D  z[s,d] = table[ids[s], d] }
  })";
  const Inputs good = {{"table", counting({4, 2})}, {"ids", tensor(I64, {3}, {3, 0, 2})}};
  EXPECT_EQ(values(run(text, good).outputs[1]), (Values{6, 7, 0, 1, 4, 5}));
  const auto problem =
      failure(text, {{"table", counting({4, 2})}, {"ids", tensor(I64, {3}, {3, -5, 4})}});
  EXPECT_EQ(problem.kind, DiagnosticKind::IndexOutOfRange);
  EXPECT_NE(problem.message.find("`z`"), std::string::npos) << problem.message;
  EXPECT_NE(problem.message.find("`table` is -5 on axis 0"), std::string::npos) << problem.message;
}

TEST(Interpreter, ADataDependentReadMayBeGuardedBySelect) {
  const std::string text = R"(program p(input x: f32[V], input ids: i64[S]) -> (y) {
    dims V = 4, S = 3
    indexed y: f32[S] { for s:S  y[s] = select(ids[s] >= 0, x[ids[s]], -1) }
  })";
  EXPECT_EQ(
      values(run(text, {{"x", counting({4})}, {"ids", tensor(I64, {3}, {3, -7, 0})}}).outputs[0]),
      (Values{3, -1, 0}));
  EXPECT_EQ(failure(text, {{"x", counting({4})}, {"ids", tensor(I64, {3}, {3, -7, 4})}}).kind,
            DiagnosticKind::IndexOutOfRange);
}

constexpr const char* kChain = R"(program p(input x: f32[N]) -> (c) {
  dims N = 1000
  kernel a: f32[N] { for n:N  a[n] = x[n] + 1 }
  kernel b: f32[N] { for n:N  b[n] = a[n] * 2 }
  kernel c: f32[N] { for n:N  c[n] = b[n] - 1 }
})";

TEST(Interpreter, PeakCountsWhatLivesAtOnce) {
  EXPECT_EQ(predict_peak_bytes(verified(kChain)), 3 * 4000);  // x, and two of a, b, c
  EXPECT_EQ(predict_peak_bytes(verified(kChain), {"a"}), 4 * 4000);
  EXPECT_EQ(estimate_points(verified(kChain)), 3000);
}

TEST(Interpreter, TheMemoryLimitIsChecked) {
  const Inputs inputs = {{"x", counting({1000})}};
  EXPECT_EQ(values(run(kChain, inputs, {.memory_limit = 12000}).outputs[0])[3], 7);
  const auto problem = failure(kChain, inputs, {.memory_limit = 11999, .memory_option = "--limit"});
  EXPECT_EQ(problem.kind, DiagnosticKind::MemoryLimit);
  EXPECT_NE(problem.message.find("12000"), std::string::npos);
  EXPECT_NE(problem.message.find("11999"), std::string::npos);
  EXPECT_NE(problem.hint.find("--limit"), std::string::npos);
}

TEST(Interpreter, InputsAreChecked) {
  EXPECT_NE(failure(kChain, {{"X", counting({1000})}}).hint.find("`X`"), std::string::npos);
  EXPECT_EQ(failure(kChain, {}).kind, DiagnosticKind::InputTensor);
  EXPECT_EQ(failure(kChain, {{"x", counting({999})}}).kind, DiagnosticKind::InputTensor);
  EXPECT_EQ(failure(kChain, {{"x", *TensorData::make(F64, {1000})}}).kind,
            DiagnosticKind::InputTensor);
  EXPECT_EQ(failure(kChain, {{"x", counting({1000})}}, {.keep = {"nothing"}}).kind,
            DiagnosticKind::UnknownName);
}

TEST(Interpreter, BoolBytesFromOutsideAreNormalised) {
  auto x = *TensorData::make(Bool, {4});
  for (int i = 0; i < 4; ++i) x.mutable_data()[i] = static_cast<std::byte>(i * 85);
  const auto out = run(R"(program p(input x: bool[4]) -> (y, z) {
    kernel y: bool[4] { for i:4  y[i] = x[i] and not (x[i] == false) }
    kernel z: i64[] { for i:4  z[] += i64(x[i]) }
  })",
                       {{"x", x}});
  EXPECT_EQ(values(out.outputs[0]), (Values{0, 1, 1, 1}));
  EXPECT_EQ(out.outputs[1].get(0), 3);
}

TEST(Interpreter, ProgressAndInterruption) {
  const Inputs inputs = {{"x", counting({1000})}};
  int64_t last = 0;
  run(kChain, inputs, {.progress = [&](int64_t done, int64_t all) {
        EXPECT_EQ(all, 3000);
        EXPECT_GE(done, last);
        last = done;
      }});
  EXPECT_EQ(last, 3000);
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(failure(kChain, inputs, {.cancel = &cancel}).kind, DiagnosticKind::Interrupted);
}

TEST(Interpreter, ThreadsDoNotChangeTheResult) {
  const std::string text = R"(program p(input x: f32[B, N], input w: f32[M, N]) -> (y, s) {
    dims B = 70, N = 300, M = 90
    kernel y: f32[B, M] { for b:B, m:M, n:N  y[b,m] += x[b,n] * w[m,n] }
    kernel s: f32[B] { for b:B, m:M  s[b] += exp(y[b,m] * 1e-6) }
  })";
  auto x = counting({70, 300}), w = counting({90, 300});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, std::sin(static_cast<double>(i)));
  const auto one = run(text, {{"x", x}, {"w", w}}, {.threads = 1}),
             many = run(text, {{"x", x}, {"w", w}}, {.threads = 5});
  EXPECT_TRUE(one.outputs[0].same_bytes(many.outputs[0]));
  EXPECT_TRUE(one.outputs[1].same_bytes(many.outputs[1]));
}

}  // namespace
}  // namespace solar::exec

// What the goldens do not show: bindings, the elaborated program, limits.

#include "ir/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/apply_fixes.h"
#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"

namespace solar::ir {
namespace {

VerifiedProgram verified(const std::string& text, const VerifyOptions& options = {}) {
  auto program = verify_text(text, options);
  EXPECT_TRUE(program) << text << (program ? "" : render_text(program.error()));
  if (!program) std::abort();
  return *program;
}

Diagnostic only_error(const std::string& text, const VerifyOptions& options = {}) {
  const auto program = verify_text(text, options);
  EXPECT_FALSE(program) << text;
  if (program) return {};
  EXPECT_EQ(program.error().size(), 1u) << render_text(program.error());
  return program.error().at(0);
}

const std::string kPool = R"(
program pool(input x: f32[N, W]) -> (y) {
  dims N = 2, W = 9, K = 3, Q = (W - K) // 2 + 1
  op "max" at "m.py:3" module "pool" nominal N*Q {
    kernel y: f32[N, Q] { for n:N, q:Q, k:K   y[n,q] max= x[n, 2*q + k] }
  }
})";

TEST(Verify, AFixReplacesTheNameAloneAndQuotesReservedWords) {
  const auto fixed = [](const std::string& inputs, const std::string& value) {
    const std::string text = "program p(" + inputs + ") -> (y) {\n  dims N = 4\n" +
                             "  kernel y: f32[N] { for n:N   y[n] = " + value + " }\n}\n";
    const Diagnostic error = only_error(text);
    EXPECT_EQ(error.fixes.size(), 1u);
    return apply_fixes({"<text>", text}, {error}, true).text;
  };
  EXPECT_NE(fixed("input row: f32[N]", "(rows[n]) + 1").find("y[n] = (row[n]) + 1 }"),
            std::string::npos);
  EXPECT_NE(fixed("input `limit`: f32[N]", "`limits`[n]").find("y[n] = `limit`[n] }"),
            std::string::npos);
}

TEST(Verify, FunctionsMayStandBehindTheProgramThatCallsThem) {
  const auto program = verified(R"(
fn once(x: f32[]) -> (y) { let y = twice(x) }
program p(input x: f32[]) -> (y) { let a = once(x) let y = twice(a) }
fn twice(x: f32[]) -> (y) { kernel y: f32[] { y[] = 2 * x } }
)");
  EXPECT_EQ(program->statements.size(), 2u);
}

TEST(Verify, ARequireMayNameDimsBehindIt) {
  EXPECT_TRUE(verify_text(
      "program p(input x: f32[N]) -> (x) { dims N = 4 require M == 8 dims M = 2 * N }"));
}

TEST(Verify, FreeDimsCanBeBound) {
  EXPECT_EQ(verified(kPool)->tensors.back().shape, (std::vector<int64_t>{2, 4}));
  const auto program = verified(kPool, {.bindings = {{"W", 21}, {"N", 5}}});
  EXPECT_EQ(program->tensors.back().shape, (std::vector<int64_t>{5, 10}));
  EXPECT_EQ(program->groups.at(0).nominal, 50);
  EXPECT_EQ(program->dims.at(3).value, 10);
}

TEST(Verify, ADimThatIsNoExtentMayBeZeroOrNegative) {
  const char* text = R"(
program shifted(input x: f32[N]) -> (y) {
  dims N = 4, S = 1
  kernel y: f32[N] { for n:N   where n + S < N, n + S >= 0   y[n] = x[n + S]   else 0 }
})";
  for (const int64_t shift : {-2, 0, 3}) verified(text, {.bindings = {{"S", shift}}});
}

TEST(Verify, ErrorsThatAreNotShownAreCounted) {
  std::string text = "program p(input x: f32[N]) -> (y) {\n  dims N = 4\n";
  for (int i = 0; i < 130; ++i) text += fmt::format("  let y{0} = relu(unknown{0})\n", i);
  const auto program = verify_text(text + "  let y = relu(x)\n}\n");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().size(), 100u);
  EXPECT_NE(program.error().back().hint.find("30 more errors are not shown"), std::string::npos)
      << program.error().back().hint;
}

TEST(Verify, BindingsAreChecked) {
  const Diagnostic unknown = only_error(kPool, {.bindings = {{"M", 3}}});
  EXPECT_EQ(unknown.kind, DiagnosticKind::Usage);
  EXPECT_NE(unknown.hint.find("`K`"), std::string::npos) << unknown.hint;
  const Diagnostic derived = only_error(kPool, {.bindings = {{"Q", 3}}});
  EXPECT_EQ(derived.kind, DiagnosticKind::Usage);
  EXPECT_NE(derived.hint.find("(W - K) // 2 + 1 = 4"), std::string::npos) << derived.hint;
  const auto zero = verify_text(kPool, {.bindings = {{"N", 0}}});
  ASSERT_FALSE(zero);
  EXPECT_EQ(zero.error().at(0).kind, DiagnosticKind::BadExtent);
  EXPECT_EQ(zero.error().size(), 1u);  // once, though several extents are N
  // A binding under which the program no longer fits is refused like any program.
  const auto small = verify_text(kPool, {.bindings = {{"W", 2}}});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().at(0).kind, DiagnosticKind::BadExtent);
}

TEST(Verify, GroupsKeepWhereTheyComeFrom) {
  const auto program = verified(kPool);
  ASSERT_EQ(program->groups.size(), 1u);
  EXPECT_EQ(program->groups[0].op, "max");
  EXPECT_EQ(program->groups[0].at, "m.py:3");
  EXPECT_EQ(program->groups[0].module, "pool");
  EXPECT_EQ(program->statements.at(0).group, 0);
}

TEST(Verify, CallsAreInlinedUnderUniqueNames) {
  const auto program = verified(R"(
fn twice<N>(x: f32[N]) -> (y) {
  let a = softmax(x)
  let y = softmax(a)
}
program p(input x: f32[N]) -> (u, v) {
  dims N = 4
  let u = twice(x)
  let v = twice(u)
})");
  std::set<std::string> names;
  for (const Tensor& tensor : program->tensors)
    EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
  EXPECT_TRUE(names.contains("u"));
  EXPECT_TRUE(names.contains("u.a"));
  EXPECT_TRUE(names.contains("u.a.m"));
  EXPECT_EQ(program->statements.size(), 16u);
  EXPECT_EQ(program->statements.at(0).call, "twice.softmax");
}

TEST(Verify, AFunctionMayReturnItsArgument) {
  const auto program = verified(R"(
fn same<N>(x: f32[N]) -> (x) {
}
program p(input x: f32[N]) -> (y) {
  dims N = 4
  let y = same(x)
})");
  EXPECT_EQ(program->outputs.at(0), program->ports.at(0));
  EXPECT_EQ(program->output_names.at(0), "y");
}

TEST(Verify, KernelsKeepTheirForm) {
  const auto program = verified(R"(
program p(input x: f32[H, W], param w: f32[R]) -> (y, s) {
  dims H = 4, W = 5, R = 3
  kernel y: f32[H, W] { for h:H, w:W, r:R where 0 <= w + r - 1 < W   y[h,w] += x[h, w + r - 1] * w[r] }
  kernel s: f32[H, W] { for h:H, revseq w:W   s[h,w] = prev + y[h,w]   init 0 }
})");
  const auto& conv = std::get<Kernel>(program->statements.at(0).body);
  EXPECT_EQ(conv.reduction, Reduction::Sum);
  EXPECT_EQ(conv.loops.size(), 3u);
  EXPECT_EQ(conv.target_loops, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(conv.guards.size(), 2u);
  EXPECT_EQ(conv.accesses.size(), 2u);
  EXPECT_FALSE(conv.accesses[0].conditional);
  const auto& scan = std::get<Kernel>(program->statements.at(1).body);
  EXPECT_EQ(scan.loops.at(1).order, Loop::Order::Descending);
  EXPECT_GE(scan.init, 0);
}

TEST(Verify, SelectBranchesReadConditionally) {
  const auto program = verified(R"(
program p(input x: f32[N]) -> (y, z) {
  dims N = 4
  kernel y: f32[N] { for n:N   y[n] = select(n > 0, x[n - 1], x[n]) }
  kernel z: f32[N] { for n:N   z[n] = select(x[n] > 0, x[n], 0) }
})");
  for (const Access& access : std::get<Kernel>(program->statements.at(0).body).accesses) {
    EXPECT_TRUE(access.conditional);
  }
  for (const Access& access : std::get<Kernel>(program->statements.at(1).body).accesses) {
    EXPECT_FALSE(access.conditional);  // a data condition excludes no point
  }
}

TEST(Verify, PeriodicGuardsDivideExactly) {
  const auto program = verified(R"(
program p(input x: f32[H]) -> (y) {
  dims H = 4
  kernel y: f32[2*H] { for i:2*H where i % 2 == 0   y[i] = x[i // 2]   else 0 }
})");
  const auto& kernel = std::get<Kernel>(program->statements.at(0).body);
  ASSERT_EQ(kernel.guards.size(), 1u);
  EXPECT_EQ(kernel.guards[0].kind, Guard::Kind::Zero);
  EXPECT_GE(kernel.otherwise, 0);
}

TEST(Verify, DataGuardsFollowIndexGuards) {
  // x[i + 1] is read only where i + 1 < N, whichever of the guards stands first.
  const auto program = verified(R"(
program p(input x: f32[N]) -> (y) {
  dims N = 4
  indexed y: f32[N] { for i:N where x[i + 1] > 0, i + 1 < N   y[i] = x[i + 1]   else 0 }
})");
  const auto& kernel = std::get<Kernel>(program->statements.at(0).body);
  EXPECT_EQ(kernel.guards.size(), 1u);
  EXPECT_GE(kernel.data_guard, 0);
}

TEST(Verify, IndependentErrorsComeSortedAndOnce) {
  const auto program = verify_text(R"(
program p(input x: f32[N]) -> (y, z) {
  dims N = 4
  kernel y: f32[N] { for n:N   y[n] = u[n] + u[n] }
  kernel z: f32[N] { for n:N   z[n] = y[n] + x[n + 1] }
})");
  ASSERT_FALSE(program);
  ASSERT_EQ(program.error().size(), 3u)
      << render_text(program.error());  // two uses of u, one shift; none for y
  for (size_t i = 1; i < program.error().size(); ++i) {
    EXPECT_LE(program.error()[i - 1].span.begin, program.error()[i].span.begin);
  }
}

TEST(Verify, CoverageOfLargeWindowsIsProvenQuickly) {
  const auto program = verify_text(R"(
program p(input x: f32[H, W]) -> (y) {
  dims H = 4096, W = 4096, K = 3, P = (H - 1) // 2 + 1, Q = (W - 1) // 2 + 1
  kernel y: f32[P, Q] {
    for p:P, q:Q, r:K, s:K
    let h = 2*p + r - 1   let w = 2*q + s - 1
    where 0 <= h < H, 0 <= w < W
    y[p,q] max= x[h,w]
  }
})");
  EXPECT_TRUE(program) << render_text(program.error());
}

TEST(Verify, ConstantsKeepTheirValues) {
  const auto program = verified("program p(const c: f32[2, 2] = [1, -0.5, inf, 2e3]) -> (c) {}");
  EXPECT_EQ(program->tensors.at(0).constant->numbers,
            (std::vector<double>{1, -0.5, HUGE_VAL, 2000}));
}

TEST(Verify, IntegersTooLargeAreRefused) {
  for (const char* text : {
           "program p(input x: f32[A]) -> (x) { dims A = 9223372036854775807 }",
           "program p(input x: f32[A]) -> (x) { dims A = 9223372036854775807 + 1 }",
           "program p(input x: f32[A]) -> (x) { dims B = -9223372036854775807 - 1, A = -B }",
           "program p(input x: f32[4]) -> (y) { kernel y: f32[4] { for n:4   y[n] = "
           "x[n*4611686018427387904*-2] } }",
           "program p(input x: f32[4]) -> (y) { slice y = "
           "x[9223372036854775807:9223372036854775807] }",
           "program p(input x: f32[4]) -> (y) { kernel y: i64[] { y[] = -(-9223372036854775807 - "
           "1) } }",
           "program p(input x: f32[4]) -> (y) { kernel y: f32[4] { for n:4, m:4611686018427387903  "
           " y[n] += "
           "x[min(4*m - 1000000, 3)] } }",
       }) {
    const auto program = verify_text(text);
    EXPECT_FALSE(program) << text;
  }
}

TEST(Verify, ACallGivesTheModuleOfItsOperators) {
  const auto program = verified(R"(
fn half(x: f32[]) -> (y) { op "relu" module "*.act" { let y = relu(x) } }
fn layer(x: f32[]) -> (y) {
  op "neg" module "*" { let a = neg(x) }
  let b = half(a) module "*.first"
  let c = half(b)
  op "exp" module "head" { let y = exp(c) }
}
program p(input x: f32[]) -> (z) {
  let y = layer(x) module "layers.3"
  let z = layer(y)
})");
  std::vector<std::string> modules;
  for (const Group& group : program->groups) modules.push_back(group.module);
  EXPECT_EQ(modules, (std::vector<std::string>{"layers.3", "layers.3.first.act", "layers.3.act",
                                               "head", "", "first.act", "act", "head"}));
}

TEST(Verify, ALongStepReadsOneElement) {
  const auto program =
      verified("program p(input x: f32[4]) -> (y) { slice y = x[1:4:9223372036854775807] }");
  EXPECT_EQ(program->tensors.back().shape, (std::vector<int64_t>{1}));
}

TEST(Verify, TheReportOfAnErrorInsideACallNamesTheCall) {
  const Diagnostic error = only_error(R"(
program p(input x: f32[N]) -> (y) {
  dims N = 4
  let y = pad_reflect(x; BEFORE = 9, AFTER = 0)
})");
  EXPECT_EQ(error.kind, DiagnosticKind::SubscriptRange);
  ASSERT_FALSE(error.labels.empty());
  EXPECT_EQ(error.labels.back().text, "in this call");
  EXPECT_EQ(error.span.source->name, "prelude/rearrange.alir");
}

}  // namespace
}  // namespace solar::ir

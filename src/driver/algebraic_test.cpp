#include "driver/algebraic.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/diagnostic_text.h"
#include "ir/parser.h"
#include "ir/verify.h"
#include "report/json.h"
#include "report/text.h"
#include "roofline/test_machines.h"

namespace solar::driver {
namespace {

constexpr const char* kCollapses = R"(
program p(input x: f32[N, K], param w: f32[M, K]) -> (y) {
  dims N = 512, K = 512, M = 512
  op "linear" at "net.py:3" { kernel h: f32[N, M] { for n:N, m:M, k:K   h[n,m] += x[n,k] * w[m,k] } }
  op "sum" at "net.py:4" { kernel y: f32[N] { for n:N, m:M   y[n] += h[n,m] } }
})";

constexpr const char* kPlain = R"(
program p(input x: f32[64, 32], param w: f32[16, 32]) -> (h) {
  kernel h: f32[64, 16] { for n:64, m:16, k:32   h[n,m] += x[n,k] * w[m,k] }
})";

constexpr const char* kConstant = R"(
program p(input x: f32[64]) -> (y) {
  kernel y: f32[64] { for n:64   y[n] = x[n] - x[n] }
})";

report::Report report_of(const char* text, std::vector<arch::Machine> machines,
                         bool frozen = false) {
  Loaded loaded;
  auto file = ir::parse_text("t.alir", text);
  EXPECT_TRUE(file) << render_text(file.error());
  loaded.file = *file;
  auto program = ir::verify(*file);
  EXPECT_TRUE(program) << render_text(program.error());
  loaded.program = *program;
  report::Report report;
  report.source = "t.alir";
  const auto graph = lift(loaded);
  EXPECT_TRUE(graph);
  AnalyzeOptions options;
  options.frozen = frozen;
  EXPECT_TRUE(add_bounds(report, *graph, machines, options.policy));
  report.totals.macs_useful = graph->totals.macs_useful.value;
  add_algebraic(report, loaded, *graph, machines, options);
  return report;
}

constexpr const char* kLayers = R"(
program p(input x: f32[256, 8], param a: f32[8, 64], param b: f32[64, 8]) -> (y) {
  kernel h: f32[256, 64] { for n:256, j:64, i:8   h[n,j] += x[n,i] * a[i,j] }
  kernel y: f32[256, 8] { for n:256, k:8, j:64   y[n,k] += h[n,j] * b[j,k] }
})";

std::vector<arch::Machine> two_machines() {
  arch::Machine one = roofline::round_machine();
  arch::Machine other = one;
  other.id = "other";
  other.name = "Other";
  return {one, other};
}

TEST(Algebraic, EveryMachineHasARowAfterItsFusedOne) {
  const report::Report report = report_of(kCollapses, two_machines());
  ASSERT_EQ(report.bounds.size(), 6u);
  for (size_t i = 0; i < 6; i += 3) {
    EXPECT_EQ(report.bounds[i].mode, "unfused");
    EXPECT_EQ(report.bounds[i + 1].mode, "fused");
    EXPECT_EQ(report.bounds[i + 2].mode, "algebraic");
    EXPECT_EQ(report.bounds[i + 2].arch, report.bounds[i].arch);
    EXPECT_LT(report.bounds[i + 2].time_s, report.bounds[i + 1].time_s);
    EXPECT_EQ(report.bounds[i + 2].rewrites, 1u);
  }
  ASSERT_EQ(report.rewrites.size(), 1u);
  EXPECT_EQ(report.rewrites[0].saves_macs, int64_t{512} * 512 * 512 - 512 * 512);
  EXPECT_EQ(report.rewrites[0].saves_bytes, 0);
  EXPECT_EQ(report.rewrites[0].at, "net.py:4");
}

TEST(Algebraic, WithoutRewritesTheRowIsThatOfFused) {
  const report::Report report = report_of(kPlain, {roofline::round_machine()});
  ASSERT_EQ(report.bounds.size(), 3u);
  EXPECT_EQ(report.bounds[2].time_s, report.bounds[1].time_s);
  EXPECT_EQ(report.bounds[2].traffic_bytes, report.bounds[1].traffic_bytes);
  EXPECT_EQ(report.bounds[2].rewrites, 0u);
  EXPECT_TRUE(report.rewrites.empty());
  EXPECT_TRUE(report.degenerate.empty());
  EXPECT_EQ(report::render_text(report).find("algebra"), std::string::npos);
}

TEST(Algebraic, TheJsonHasRowsRewritesAndDegenerateParts) {
  const auto json = nlohmann::json::parse(
      report::render_json(report_of(kCollapses, {roofline::round_machine()})));
  const auto& row = json["bounds"][2];
  EXPECT_EQ(row["mode"], "algebraic");
  EXPECT_EQ(row["rewrites"], 1);
  const auto& assumptions = row["assumptions"];
  EXPECT_EQ(std::count(assumptions.begin(), assumptions.end(), "as-written-graph"), 0);
  EXPECT_EQ(std::count(assumptions.begin(), assumptions.end(), "found-rewrites"), 1);
  ASSERT_EQ(json["rewrites"].size(), 1u);
  EXPECT_EQ(json["rewrites"][0]["kind"], "push-sum");
  EXPECT_EQ(json["rewrites"][0]["op"], "sum");
  EXPECT_EQ(json["rewrites"][0]["tensor"], "y");
  EXPECT_EQ(json["rewrites"][0]["validated"].get<std::string>().substr(0, 3), "at ");
  ASSERT_EQ(json["degenerate"].size(), 1u);
  EXPECT_EQ(json["degenerate"][0]["kind"], "collapsed-product");
  EXPECT_EQ(json["degenerate"][0]["tensor"], "h");
}

TEST(Algebraic, ADegenerateProgramIsSaidLoudly) {
  const std::string text = report::render_text(report_of(kConstant, {roofline::round_machine()}));
  EXPECT_NE(text.find("DEGENERATE PROGRAM: the output `y` is the same whatever the inputs are"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("what the algebra allows"), std::string::npos) << text;
  EXPECT_NE(text.find("DEGENERATE PROGRAM: no output depends on the input `x`"), std::string::npos)
      << text;
}

const report::Bound& algebraic_of(const report::Report& report) {
  return *std::find_if(report.bounds.begin(), report.bounds.end(),
                       [](const report::Bound& b) { return b.mode == "algebraic"; });
}

TEST(Algebraic, KnownParametersAreMultipliedBeforehand) {
  const report::Report runtime = report_of(kLayers, {roofline::round_machine()});
  const report::Report frozen = report_of(kLayers, {roofline::round_machine()}, true);
  // The product of the weights is 8 x 8, and not read twice.
  EXPECT_LT(algebraic_of(frozen).time_s, algebraic_of(runtime).time_s);
  EXPECT_EQ(algebraic_of(frozen).traffic_bytes, 4 * (256 * 8 + 8 * 8 + 256 * 8));
  EXPECT_EQ(algebraic_of(frozen).params, "frozen");
  EXPECT_EQ(algebraic_of(runtime).params, "runtime");
  ASSERT_FALSE(frozen.rewrites.empty());
  EXPECT_EQ(frozen.rewrites.back().kind, "prepare");
  EXPECT_EQ(algebraic_of(frozen).rewrites, frozen.rewrites.size());
  const auto& assumptions = algebraic_of(frozen).assumptions;
  EXPECT_NE(std::find(assumptions.begin(), assumptions.end(), "frozen-parameters"),
            assumptions.end());
  EXPECT_TRUE(frozen.degenerate.empty());
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(frozen.bounds[i].time_s, runtime.bounds[i].time_s) << frozen.bounds[i].mode;
}

}  // namespace
}  // namespace solar::driver

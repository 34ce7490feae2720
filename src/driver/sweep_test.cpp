#include "driver/sweep.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/diagnostic_text.h"
#include "driver/fill_report.h"
#include "ir/parser.h"
#include "ir/verify.h"
#include "roofline/test_machines.h"

namespace solar::driver {
namespace {

constexpr const char* kText = R"(
program p(input x: f32[B, N], param w: f32[N, N]) -> (y) {
  dims B = 4, N = 8
  require B % 2 == 0
  kernel y: f32[B, N] { for b:B, n:N, k:N where k <= n   y[b,n] += x[b,k] * w[k,n] }
}
)";

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    auto file = ir::parse_text("t.alir", kText);
    ASSERT_TRUE(file) << render_text(file.error());
    auto program = ir::verify(*file);
    ASSERT_TRUE(program) << render_text(program.error());
    loaded_.source = "t.alir";
    loaded_.file = *file;
    loaded_.program = *program;
  }

  Result<report::Sweep> of(const std::vector<std::string>& sizes) const {
    return sweep(loaded_, {roofline::round_machine()}, {}, *parse_sizes(sizes), {});
  }

  Loaded loaded_ = {};
};

TEST_F(SweepTest, EveryRowIsTheAnalysisAtThatSize) {
  const auto found = of({"B=2", "4", "N=1", "8", "64"});
  ASSERT_TRUE(found) << render_text(found.error());
  ASSERT_EQ(found->rows.size(), 6u);
  for (const report::SweepRow& row : found->rows) {
    const int64_t b = row.sizes.at(0).second;
    const int64_t n = row.sizes.at(1).second;
    EXPECT_EQ(row.macs, b * n * n);
    EXPECT_EQ(row.macs_useful, b * n * (n + 1) / 2);
    EXPECT_EQ(row.traffic_bytes, 4 * (2 * b * n + n * (n + 1) / 2));
    Loaded bound = loaded_;
    bound.program = *ir::verify(loaded_.file, {{{"B", b}, {"N", n}}});
    const auto graph = lift(bound);
    ASSERT_TRUE(graph);
    report::Report report;
    ASSERT_TRUE(add_bounds(report, *graph, {roofline::round_machine()}, {}));
    ASSERT_EQ(row.times.size(), 1u);
    EXPECT_EQ(row.times[0].unfused_s, report.bounds[0].time_s);
    EXPECT_EQ(row.times[0].fused_s, report.bounds[1].time_s);
    EXPECT_EQ(row.times[0].limiter, report.bounds[1].limiter);
  }
  EXPECT_TRUE(found->crossovers.empty());  // of one dim only
}

TEST_F(SweepTest, TheLimiterChangesBetweenNeighbours) {
  std::string text = kText;
  text.erase(text.find("  require"), std::string("  require B % 2 == 0\n").size());
  text.replace(text.find("N = 8"), 5, "N = 64");
  loaded_.file = *ir::parse_text("t.alir", text);
  loaded_.program = *ir::verify(loaded_.file);
  // 1 TMAC/s, 1 TB/s: 2080 B MACs against 4 (128 B + 2080) bytes, from B = 6 on compute.
  const auto found = of({"B=1024", "1", "2"});
  ASSERT_TRUE(found) << render_text(found.error());
  ASSERT_EQ(found->crossovers.size(), 1u);
  EXPECT_EQ(found->crossovers[0].before, "memory");
  EXPECT_EQ(found->crossovers[0].last, 5);
  EXPECT_EQ(found->crossovers[0].after, "vector");
  EXPECT_EQ(found->crossovers[0].first, 6);
  EXPECT_NE(render_text(*found).find("memory up to B = 5, vector from B = 6"), std::string::npos);
  EXPECT_TRUE(of({"B=1..4"})->crossovers.empty());
}

TEST_F(SweepTest, ASizeWithoutAProgramIsARowOfItsOwn) {
  const auto found = of({"B=2", "3", "4"});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rows.size(), 3u);
  EXPECT_NE(found->rows[1].error, "");
  EXPECT_EQ(found->rows[1].times.size(), 0u);
  EXPECT_EQ(found->rows[2].macs, 4 * 64);
  EXPECT_NE(render_text(*found).find("no program at B=3"), std::string::npos);
  const auto json = nlohmann::json::parse(render_json(*found));
  EXPECT_EQ(json["rows"][1]["error"], found->rows[1].error);
  EXPECT_EQ(json["rows"][2]["bindings"]["B"], 4);
}

TEST_F(SweepTest, UnknownDimsAndTooManySizesAreUsageErrors) {
  const auto unknown = of({"b=1"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error()[0].kind, DiagnosticKind::Usage);
  EXPECT_NE(unknown.error()[0].hint.find("`B`"), std::string::npos) << unknown.error()[0].hint;
  const auto many = of({"B=1..200:1", "N=1..200:1"});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error()[0].message.find("40000 combinations"), std::string::npos);
}

TEST_F(SweepTest, CsvHasALineForEachSizeAndArchitecture) {
  const auto found = of({"B=2", "4"});
  ASSERT_TRUE(found);
  const std::string csv = render_csv(*found);
  EXPECT_EQ(
      csv.substr(0, csv.find('\r')),
      "B,arch,macs,macs_useful,traffic_bytes,unfused_s,fused_s,limiter,operational_intensity");
  EXPECT_NE(csv.find("\n4,round,256,144,"), std::string::npos) << csv;
}

}  // namespace
}  // namespace solar::driver

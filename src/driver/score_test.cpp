#include "driver/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/diagnostic_text.h"
#include "exec/tensor.h"
#include "ir/parser.h"
#include "ir/verify.h"
#include "roofline/test_machines.h"

namespace solar::driver {
namespace {

// y depends on x and w, flat on nothing: its row maximum over one column less itself.
constexpr const char* kText = R"(
program p(input x: f32[256, 64], input unused: f32[64], param w: f32[64, 64], input i: i64[4]) -> (y, flat) {
  kernel y: f32[256, 64] { for b:256, n:64, k:64   y[b,n] += x[b,k] * w[n,k] }
  kernel m: f32[256] { for b:256, k:1   m[b] max= y[b,k] }
  kernel zero: f32[64] { for n:64   zero[n] = unused[n] - unused[n] }
  kernel flat: f32[64] { for n:64   flat[n] = zero[n] + (m[0] - y[0,0]) }
}
)";

class ScoreTest : public testing::Test {
 protected:
  virtual const char* text() const { return kText; }
  void SetUp() override {
    auto file = ir::parse_text("t.alir", text());
    ASSERT_TRUE(file) << render_text(file.error());
    auto program = ir::verify(*file);
    ASSERT_TRUE(program) << render_text(program.error());
    loaded_.source = "t.py";
    loaded_.file = *file;
    loaded_.program = *program;
    for (const ir::TensorId id : (*program)->ports) {
      const ir::Tensor& port = (*program)->tensor(id);
      auto tensor = exec::TensorData::make(port.type, port.shape);
      ASSERT_TRUE(tensor);
      for (int64_t k = 0; k < tensor->count(); ++k)
        tensor->set(k, static_cast<double>((k * 7) % 11) - 5);
      loaded_.example["in/" + port.name] = *tensor;
    }
    auto graph = lift(loaded_);
    ASSERT_TRUE(graph);
    graph_ = *graph;
    machine_ = roofline::round_machine();
    machine_.last_level_cache = Bytes{1000};
    machine_.l1_shared = machine_.register_file = machine_.tensor_memory = Bytes{0};
    machine_.other_on_chip = Bytes{24};
  }

  report::Score of(double measured_s, std::optional<double> baseline_s = {},
                   bool algebra = true) const {
    const auto live = find_live(loaded_, {});
    EXPECT_TRUE(live) << render_text(live.error());
    AnalyzeOptions options;
    options.algebra = algebra;
    const auto found = score(loaded_, graph_, machine_, options, *live, {measured_s, baseline_s});
    EXPECT_TRUE(found) << render_text(found.error());
    return *found;
  }

  Loaded loaded_ = {};
  einsum::Graph graph_ = {};
  arch::Machine machine_ = {};
};

using Names = std::vector<std::string>;

TEST_F(ScoreTest, WhatMattersIsFoundByRunning) {
  const auto live = find_live(loaded_, {});
  ASSERT_TRUE(live);
  EXPECT_TRUE(live->known);
  EXPECT_EQ(live->constant_outputs, Names{"flat"});
  EXPECT_EQ(live->live, (Names{"x", "w"}));
  EXPECT_EQ(live->ignored, (Names{"i", "unused"}));
  EXPECT_EQ(live->needed, (Names{"x", "w"}));
  LivenessOptions few;
  few.points = 1;
  EXPECT_FALSE(find_live(loaded_, few)->known);
  few.points = 4 * (256 * 64 * 64 / 10 + 1000);  // the example and one change of everything
  const auto little = find_live(loaded_, few);
  ASSERT_TRUE(little);
  EXPECT_EQ(little->constant_outputs, Names{"flat"});
  EXPECT_EQ(little->live.size() + little->ignored.size(), 0u);
  loaded_.example.clear();
  EXPECT_FALSE(find_live(loaded_, {})->known);
}

TEST_F(ScoreTest, OneAtTheFloorAHalfAtTheBaseline) {
  const double sol = of(1).sol_s;  // 2^20 MACs at 1 TMAC/s
  EXPECT_NEAR(sol, 256 * 64 * 64 / 1e12, 1e-12);
  EXPECT_DOUBLE_EQ(*of(sol, 3 * sol).score, 1);
  EXPECT_DOUBLE_EQ(*of(3 * sol, 3 * sol).score, 0.5);
  EXPECT_DOUBLE_EQ(*of(5 * sol, 3 * sol).score, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*of(sol / 2, 3 * sol).score, 1 / 0.75);  // never clipped
  EXPECT_FALSE(of(sol / 4, 1.5 * sol).score);               // a shorter time would score less there
  EXPECT_FALSE(of(sol).score);
  EXPECT_FALSE(of(sol, sol).score);
  EXPECT_NE(of(sol, sol).no_score, "");
}

TEST_F(ScoreTest, Verdicts) {
  const report::Score at = of(1);
  EXPECT_EQ(at.verdict, "plausible");
  // x, w, y and flat, less 1,024 bytes on chip, at 2 TB/s; the floor is 1.05 us.
  EXPECT_EQ(at.live_bytes, 4 * (256 * 64 + 64 * 64 + 256 * 64 + 64));
  ASSERT_TRUE(at.impossible_s);
  EXPECT_DOUBLE_EQ(*at.impossible_s, static_cast<double>(at.live_bytes - 1024) / 2e12);
  EXPECT_EQ(of(*at.impossible_s * 0.999).verdict, "impossible");
  EXPECT_EQ(of(*at.impossible_s * 1.001).verdict, "suspicious");
  EXPECT_EQ(of(at.sol_s * 0.999).verdict, "suspicious");
  EXPECT_EQ(of(at.sol_s).verdict, "plausible");
  EXPECT_NE(of(at.sol_s * 0.999).verdict_text.find("classical-products"), std::string::npos);
  EXPECT_NE(at.verdict_text.find("degenerate"), std::string::npos);
}

// The graph reads all of the table, a kernel that gathers three rows of it.
TEST(Score, ATableOfWhichIndicesChooseIsNotNeeded) {
  const auto file = ir::parse_text("t.alir", R"(
program chosen(input i: i64[M], input w: f32[V, N]) -> (y) {
  dims M = 3, V = 40, N = 5
  kernel h: f32[M, V] { for m:M, v:V   h[m,v] = f32(i[m] == v) }
  kernel y: f32[M, N] { for m:M, n:N, v:V   y[m,n] += h[m,v] * w[v,n] }
})");
  ASSERT_TRUE(file);
  Loaded loaded;
  loaded.program = *ir::verify(*file);
  for (const ir::TensorId id : (*loaded.program)->ports) {
    const ir::Tensor& port = (*loaded.program)->tensor(id);
    auto tensor = exec::TensorData::make(port.type, port.shape);
    for (int64_t k = 0; k < tensor->count(); ++k) tensor->set(k, static_cast<double>(k + 1));
    loaded.example["in/" + port.name] = *tensor;
  }
  const auto live = find_live(loaded, {});
  ASSERT_TRUE(live);
  EXPECT_EQ(live->live, (Names{"i", "w"}));
  EXPECT_EQ(live->needed, Names{"i"});
}

TEST_F(ScoreTest, WithoutProofNothingIsImpossible) {
  machine_.tensor_memory.reset();
  EXPECT_EQ(of(1e-12).verdict, "suspicious");
  EXPECT_NE(of(1e-12).not_impossible.find("capacity on chip"), std::string::npos);
  machine_.tensor_memory = Bytes{0};
  machine_.strict_dram_bandwidth.reset();
  EXPECT_EQ(of(1e-12).verdict, "suspicious");
  EXPECT_NE(of(1e-12).not_impossible.find("bandwidth"), std::string::npos);
  machine_ = roofline::round_machine();
  machine_.last_level_cache = Bytes{int64_t{1} << 40};
  machine_.l1_shared = machine_.register_file = machine_.tensor_memory = machine_.other_on_chip =
      Bytes{0};
  EXPECT_EQ(*of(1e-12).impossible_s, 0);  // all of it may stay on chip
  EXPECT_EQ(of(1e-12).verdict, "suspicious");
}

// kText with dims, so that rewrites can be validated at small ones.
class DimsTest : public ScoreTest {
 protected:
  const char* text() const override {
    return R"(
program p(input x: f32[B, K], input unused: f32[N], param w: f32[N, K]) -> (y, flat) {
  dims B = 256, N = 64, K = 64
  kernel y: f32[B, N] { for b:B, n:N, k:K   y[b,n] += x[b,k] * w[n,k] }
  kernel flat: f32[N] { for n:N   flat[n] = unused[n] - unused[n] }
}
)";
  }
};

TEST_F(DimsTest, WhatTheAlgebraFindsIsPartOfIt) {
  const report::Score with = of(1);
  ASSERT_TRUE(with.algebraic_s);
  const auto is = [&](const std::string& kind, const std::string& tensor) {
    return std::any_of(
        with.degenerate.begin(), with.degenerate.end(),
        [&](const report::Degenerate& d) { return d.kind == kind && d.tensor == tensor; });
  };
  EXPECT_TRUE(is("constant-output", "flat"));
  EXPECT_TRUE(is("ignored-input", "unused"));
  EXPECT_NE(render_text(with).find("DEGENERATE PROGRAM: "), std::string::npos);
  const report::Score without = of(1, {}, false);
  EXPECT_FALSE(without.algebraic_s);
  EXPECT_TRUE(without.degenerate.empty());
  const auto json = nlohmann::json::parse(render_json(without));
  EXPECT_FALSE(json.contains("algebraic_s") || json.contains("degenerate"));
}

// The row sums of a product: a sum of w first takes 64 times fewer products.
class CollapsedTest : public ScoreTest {
 protected:
  const char* text() const override {
    return R"(
program p(input x: f32[B, K], param w: f32[N, K]) -> (s) {
  dims B = 256, N = 64, K = 64
  kernel y: f32[B, N] { for b:B, n:N, k:K   y[b,n] += x[b,k] * w[n,k] }
  kernel s: f32[B] { for b:B, n:N   s[b] += y[b,n] }
}
)";
  }
};

TEST_F(CollapsedTest, RewritesExplainWhatIsBelowTheFusedFloor) {
  const report::Score at = of(1);
  ASSERT_TRUE(at.algebraic_s);
  ASSERT_LT(*at.algebraic_s, at.sol_s);
  ASSERT_GE(at.rewrites_used, 1u);
  EXPECT_NE(at.verdict_text.find("degenerate (collapsed-product, below)"), std::string::npos)
      << at.verdict_text;

  const report::Score between = of((*at.algebraic_s + at.sol_s) / 2);
  EXPECT_EQ(between.verdict, "suspicious");
  EXPECT_NE(between.verdict_text.find("found rewrite"), std::string::npos) << between.verdict_text;
  EXPECT_NE(between.verdict_text.find("(push-sum"), std::string::npos) << between.verdict_text;
  EXPECT_NE(between.verdict_text.find("explain"), std::string::npos) << between.verdict_text;
  EXPECT_NE(between.verdict_text.find("as-written-graph does not hold"), std::string::npos)
      << between.verdict_text;

  const report::Score below = of(*at.algebraic_s * 0.999);
  EXPECT_EQ(below.verdict_text.find("explain"), std::string::npos) << below.verdict_text;
  if (below.verdict == "suspicious") {
    EXPECT_NE(below.verdict_text.find("below the algebraic floor of"), std::string::npos);
  }
  const report::Score without = of(at.sol_s * 0.999, {}, false);
  EXPECT_EQ(without.verdict_text.find("rewrite"), std::string::npos) << without.verdict_text;

  const auto json = nlohmann::json::parse(render_json(between));
  EXPECT_EQ(json["algebraic_s"], *at.algebraic_s);
  EXPECT_EQ(json["rewrites"][0]["kind"], "push-sum");
  EXPECT_EQ(json["degenerate"][0]["kind"], "collapsed-product");
}

TEST_F(ScoreTest, TheReportSaysIt) {
  const report::Score found = of(1e-12, 1);
  const std::string text = render_text(found);
  EXPECT_NE(text.find("impossible: moving the needed inputs"), std::string::npos) << text;
  EXPECT_NE(text.find("CONSTANT OUTPUTS: flat"), std::string::npos) << text;
  EXPECT_NE(text.find("IGNORED INPUTS: i, unused"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(render_json(found));
  EXPECT_EQ(json["schema"], "solar.score/1");
  EXPECT_EQ(json["verdict"], "impossible");
  EXPECT_EQ(json["live_bytes"], found.live_bytes);
}

}  // namespace
}  // namespace solar::driver

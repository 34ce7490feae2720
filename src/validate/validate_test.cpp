#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/parser.h"
#include "ir/unify_dims.h"
#include "ir/verify.h"
#include "validate/compare.h"
#include "validate/rounding.h"
#include "validate/same_program.h"
#include "validate/shrink.h"
#include "validate/sizes.h"

namespace solar::validate {
namespace {

exec::TensorData tensor(const std::vector<double>& values,
                        ir::ElementType type = ir::ElementType::F32) {
  auto made = exec::TensorData::from_doubles(type, {static_cast<int64_t>(values.size())}, values);
  EXPECT_TRUE(made.has_value());
  return *made;
}

constexpr double kEps = 0x1p-23;

TEST(Sizes, PointsOfProductsCountATenth) {
  const auto program = [](const std::string& nest) {
    auto verified = ir::verify_text(
        "program p(input a: f32[N, N], input b: f32[N, N]) -> (y) { dims N = 4096 kernel y: f32[N, "
        "N] { for m:N, n:N, k:N   y[m,n] " +
        nest + " } }");
    EXPECT_TRUE(verified.has_value());
    return *verified;
  };
  EXPECT_TRUE(fits_full(program("+= a[m,k] * b[k,n]"), {}));  // 69 Gpoints
  EXPECT_FALSE(fits_full(program("+= a[m,k] + b[k,n]"), {}));
  EXPECT_FALSE(fits_full(program("max= a[m,k] * b[k,n]"), {}));
}

TEST(Compare, TinyOutputsAreNotForgiven) {
  // Every value is far below any absolute tolerance somebody might choose.
  const auto softmax = tensor({2.1e-6, 3.5e-6, 1.2e-6});
  EXPECT_FALSE(compare(softmax, tensor({0, 0, 0}), kEps * 64).equal);
  EXPECT_TRUE(compare(softmax, softmax, kEps).equal);
}

TEST(Compare, ToleranceGrowsWithTheRootOfTheReduction) {
  const double error = 0.9 * kToleranceFactor * kEps * 10;
  EXPECT_TRUE(compare(tensor({1, 1}), tensor({1 + error, 1}), kEps * 10).equal);
  EXPECT_FALSE(compare(tensor({1, 1}), tensor({1 + error, 1}), kEps).equal);
}

TEST(Compare, AnElementAboveTheMeanIsJudgedByItself) {
  const auto expected = tensor({1000, 1, 1, 1});
  EXPECT_TRUE(compare(expected, tensor({1000 * (1 + kEps), 1, 1, 1}), kEps).equal);
}

TEST(Compare, NanInfinityAndIntegersAreExact) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(compare(tensor({nan, inf, -inf}), tensor({nan, inf, -inf}), kEps).equal);
  EXPECT_FALSE(compare(tensor({nan}), tensor({0}), kEps).equal);
  EXPECT_FALSE(compare(tensor({1}), tensor({nan}), kEps).equal);
  EXPECT_FALSE(compare(tensor({inf}), tensor({-inf}), kEps).equal);
  EXPECT_FALSE(
      compare(tensor({3}, ir::ElementType::I64), tensor({4}, ir::ElementType::I64), kEps * 31)
          .equal);
}

TEST(Compare, NamesTheWorstPlace) {
  const Comparison c = compare(tensor({1, 2, 3}), tensor({1, 2.5, 3}), kEps);
  EXPECT_EQ(c.wrong, 1);
  EXPECT_EQ(c.worst_place, "[1]: expected 2, got 2.5");
  EXPECT_DOUBLE_EQ(c.max_abs_error, 0.5);
}

ir::ast::File parsed(const std::string& text) {
  auto file = ir::parse_text("test.alir", text);
  EXPECT_TRUE(file.has_value());
  return *file;
}

ir::VerifiedProgram verified(const std::string& text) {
  auto program = ir::verify_text(text);
  EXPECT_TRUE(program.has_value());
  return *program;
}

std::string pooled(int64_t extent, int64_t pad, const std::string& scale = "0.5") {
  return "program p(input x: f32[N]) -> (y) { dims N = " + std::to_string(extent) + ", P = N + 2*" +
         std::to_string(pad) + " - 2 kernel y: f32[P] { for p:P, k:3 let h = p + k - " +
         std::to_string(pad) + " where 0 <= h < N   y[p] += " + scale + " * x[h] } }";
}

TEST(SameProgram, OnlyFreeDimsMayDiffer) {
  EXPECT_FALSE(
      compare_programs(parsed(pooled(100, 1)), parsed(pooled(7, 1))).difference.has_value());
  EXPECT_TRUE(
      compare_programs(parsed(pooled(100, 1)), parsed(pooled(7, 2))).difference.has_value());
}

TEST(SameProgram, ValueLiteralsMayDifferIfFiniteAndNonzero) {
  const Sameness same =
      compare_programs(parsed(pooled(100, 1, "0.125")), parsed(pooled(7, 1, "0.25")));
  EXPECT_FALSE(same.difference.has_value());
  ASSERT_EQ(same.literals.size(), 1U);
  EXPECT_EQ(same.literals[0].full, 0.125);
  EXPECT_TRUE(compare_programs(parsed(pooled(100, 1, "0.5")), parsed(pooled(7, 1, "0.0")))
                  .difference.has_value());
  EXPECT_TRUE(compare_programs(parsed(pooled(100, 1, "0.5")), parsed(pooled(7, 1, "-0.5")))
                  .difference.has_value());
}

TEST(SameProgram, GuardsMustBeTrueAndFalseAtBothSizes) {
  EXPECT_FALSE(uncovered(*verified(pooled(100, 1)), *verified(pooled(7, 1))).has_value());
  const auto reason = uncovered(*verified(pooled(100, 1)), *verified(pooled(100, 0)));
  EXPECT_TRUE(reason.has_value());
}

TEST(SameProgram, ALoopOfOneStepDoesNotStandForMany) {
  const auto sum = [](int n) {
    return verified("program s(input x: f32[N]) -> (y) { dims N = " + std::to_string(n) +
                    " kernel y: f32[] { for n:N   y[] += x[n] } }");
  };
  EXPECT_TRUE(uncovered(*sum(100), *sum(1)).has_value());
  EXPECT_FALSE(uncovered(*sum(100), *sum(2)).has_value());
}

std::vector<frontend::SourceConstant> constants(
    const std::vector<std::pair<std::string, int64_t>>& pairs) {
  std::vector<frontend::SourceConstant> result;
  for (const auto& [name, value] : pairs) result.push_back({name, value, 1, "module", {}});
  return result;
}

TEST(Shrink, KernelSizesAndLayersStay) {
  const Overrides small =
      shrink(constants({{"KERNEL", 3}, {"LAYERS", 12}, {"WIDTH", 4096}}), 16, true, 0);
  EXPECT_FALSE(small.contains("KERNEL"));
  EXPECT_FALSE(small.contains("LAYERS"));
  EXPECT_LE(small.at("WIDTH"), 32);
}

TEST(Shrink, EqualConstantsStayEqualAndOthersDiffer) {
  const Overrides small = shrink(constants({{"M", 1024}, {"K", 4096}, {"N", 1024}}), 32, true, 0);
  EXPECT_EQ(small.at("M"), small.at("N"));
  EXPECT_NE(small.at("M"), small.at("K"));
}

TEST(Shrink, ABatchBecomesTwoOrThree) {
  EXPECT_EQ(shrink(constants({{"batch_size", 128}}), 64, true, 0).at("batch_size"), 3);
  EXPECT_EQ(shrink(constants({{"batch_size", 128}}), 64, true, 1).at("batch_size"), 2);
}

TEST(Shrink, ABatchThatIsLikeAnotherSizeCanStayLikeIt) {
  const auto all = constants({{"batch_size", 4096}, {"N", 4096}, {"M", 100}});
  EXPECT_TRUE(has_shared_batch(all));
  EXPECT_FALSE(has_shared_batch(constants({{"batch_size", 4096}, {"N", 100}, {"M", 100}})));
  const auto sizes = shrink(all, 64, true, 0, {}, Batch::LikeOthers);
  EXPECT_EQ(sizes.at("batch_size"), sizes.at("N"));
}

TEST(Shrink, QuotientsKeepRatios) {
  const auto all = constants({{"batch", 128}, {"C", 64}, {"W", 32}, {"odd", 33}, {"kernel", 4}});
  EXPECT_EQ(divide(all, 4, 1), (Overrides{{"batch", 2}, {"C", 16}, {"W", 8}}));
  EXPECT_EQ(divide(all, 4, 0, Batch::LikeOthers).at("batch"), 32);
  EXPECT_EQ(divide(all, 4, 0, Batch::Kept), (Overrides{{"C", 16}, {"W", 8}}));
}

TEST(Shrink, AConstantStaysAMultipleOfItsStep) {
  auto all = constants({{"image_size", 224}, {"width", 224}, {"hidden", 768}});
  all[0].step = 32;
  all[2].step = 12;
  for (const int variant : {0, 1}) {
    const Overrides small = shrink(all, 16, true, variant);
    EXPECT_EQ(small.at("image_size") % 32, 0);
    EXPECT_GT(small.at("image_size"), 32);
    EXPECT_EQ(small.at("width"), small.at("image_size"));
    EXPECT_EQ(small.at("hidden") % 12, 0);
  }
  EXPECT_NE(shrink(all, 16, true, 0), shrink(all, 16, true, 1));
  all[2].step = 500;  // it is none
  EXPECT_LE(shrink(all, 16, true, 0).at("hidden"), 16);
}

TEST(Shrink, VariantsChooseOtherSizes) {
  const auto all = constants({{"N", 5000}, {"M", 300}});
  EXPECT_NE(shrink(all, 64, true, 0), shrink(all, 64, true, 1));
}

TEST(LongestReduction, CountsReducedAndOrderedLoops) {
  EXPECT_EQ(longest_reduction(*verified(
                "program s(input x: f32[4, 5, 6]) -> (y) { kernel y: f32[4] { for a:4, b:5, "
                "c:6   y[a] += x[a,b,c] } }")),
            30);
  EXPECT_EQ(longest_reduction(*verified(
                "program s(input x: f32[7]) -> (y) { kernel y: f32[7] { for seq t:7   y[t] = "
                "prev + x[t] init 0 } }")),
            7);
}

TEST(RoundingError, NarrowTypesRoundWhenStoredAndAccumulateInF32) {
  const double bf16 = ir::epsilon(ir::ElementType::BF16);
  const RoundingError one = rounding_error(*verified(
      "program s(input x: bf16[4, 512], input w: bf16[512]) -> (y) { kernel y: bf16[4] { for a:4, "
      "b:512   y[a] += x[a,b] * w[b] } }"));
  EXPECT_EQ(one.stored, bf16);
  EXPECT_EQ(one.accumulated, kEps);
  EXPECT_EQ(one.stores, 1);
  EXPECT_EQ(one.reduction, 512);
  // A scale of 1.1 instead of 1 is not within it.
  EXPECT_FALSE(compare(tensor({1, 1}), tensor({1.1, 1.1}), one.relative()).equal);
}

TEST(RoundingError, CountsTheLongestChainOfStores) {
  const RoundingError chain = rounding_error(*verified(
      "program s(input x: bf16[4]) -> (z) { kernel y: bf16[4] { for a:4   y[a] = x[a] * 2 } "
      "kernel w: f32[4] { for a:4   w[a] = f32(y[a]) } kernel z: bf16[4] { for a:4   z[a] = "
      "bf16(w[a] + 1) } }"));
  EXPECT_EQ(chain.stores, 2);
  const RoundingError loop = rounding_error(*verified(
      "program s(input x: bf16[4]) -> (y) { let y = repeat t:10 with (h = x) { kernel h2: bf16[4] "
      "{ for a:4   h2[a] = h[a] * 2 } kernel h3: bf16[4] { for a:4   h3[a] = h2[a] + 1 } next h3 "
      "} }"));
  EXPECT_EQ(loop.stores, 20);
}

TEST(RoundingError, ATypeThatAccumulatesInItselfIsCountedByItsReductions) {
  const RoundingError sum = rounding_error(*verified(
      "program s(input x: f32[4, 100]) -> (y) { kernel y: f32[4] { for a:4, b:100   y[a] += "
      "x[a,b] } }"));
  EXPECT_DOUBLE_EQ(sum.relative(), 10 * kEps);
}

}  // namespace
}  // namespace solar::validate

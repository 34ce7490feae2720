#include "roofline/inverse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "roofline/test_machines.h"

namespace solar::roofline {
namespace {

using ir::ElementType;

constexpr int64_t kTera = 1'000'000'000'000;

std::vector<Work> two_operators() {
  return {Work{{{ElementType::F32, true, {8 * kTera}}}, {kTera}},
          Work{{{ElementType::F32, false, {2 * kTera}}, {ElementType::BF16, false, {16 * kTera}}},
               {kTera}}};
}

Work whole() {
  Work graph = *sum_of(two_operators());
  graph.traffic = {kTera};
  return graph;
}

Inverse solve(double seconds, const std::vector<arch::Machine>& machines, Policy policy = {}) {
  const Result<Inverse> result = inverse(two_operators(), whole(), {seconds}, machines, policy);
  EXPECT_TRUE(result.has_value());
  return result ? *result : Inverse{};
}

TEST(InverseRoofline, NeedsOfAnyMachine) {
  const Inverse result = solve(0.5, {});
  EXPECT_DOUBLE_EQ(result.need.tensor.value, 48e12);  // tf32 16 + bf16 32 TMAC/s
  EXPECT_DOUBLE_EQ(result.need.vector.value, 4e12);
  EXPECT_DOUBLE_EQ(result.need.bandwidth.value, 2e12);
  ASSERT_EQ(result.need.formats.size(), 3U);
  EXPECT_EQ(result.need.formats[0].format, arch::NumberFormat::Tf32);
  EXPECT_EQ(result.need.formats[0].macs.value, 8 * kTera);
  EXPECT_DOUBLE_EQ(result.need.formats[0].rate.value, 16e12);
  EXPECT_EQ(result.assumptions.back(), "tf32-allowed");
}

TEST(InverseRoofline, FactorsAreHaveOverNeed) {
  const Inverse result = solve(0.5, {round_machine()});
  ASSERT_EQ(result.machines.size(), 1U);
  const MachineFactor& factor = result.machines[0];
  EXPECT_EQ(factor.machine, "round");
  // The table uses the machine's peaks, and operator by operator.
  for (const char* used : {"datasheet-peaks", "no-fusion", "tf32-allowed", "no-fp32-emulation"}) {
    EXPECT_EQ(std::count(result.assumptions.begin(), result.assumptions.end(), used), 1) << used;
  }
  EXPECT_DOUBLE_EQ(*factor.tensor, 0.25);  // 1 s tf32 + 1 s bf16
  EXPECT_DOUBLE_EQ(*factor.vector, 0.25);  // 2 s
  EXPECT_DOUBLE_EQ(*factor.bandwidth, 0.5);
  EXPECT_DOUBLE_EQ(*factor.fused, 0.25);
  EXPECT_DOUBLE_EQ(*factor.unfused, 0.5 / 3);  // 1 s + 2 s
}

TEST(InverseRoofline, ScalingByTheInverseFactorMeetsTheTarget) {
  const double target = 0.01;
  const Inverse before = solve(target, {round_machine()});
  for (const bool fused : {true, false}) {
    const double factor = fused ? *before.machines[0].fused : *before.machines[0].unfused;
    arch::Machine scaled = round_machine();
    for (arch::Rate& rate : scaled.rates) rate.peak.value /= factor;
    scaled.dram_bandwidth.value /= factor;
    const Inverse after = solve(target, {scaled});
    EXPECT_NEAR(fused ? *after.machines[0].fused : *after.machines[0].unfused, 1, 1e-12);
  }
}

TEST(InverseRoofline, NothingNeededHasNoFactor) {
  const std::vector<arch::Machine> machines = {round_machine()};
  const auto result = inverse({}, Work{{}, {kTera}}, {1}, machines, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(result->machines[0].tensor.has_value());
  EXPECT_FALSE(result->machines[0].vector.has_value());
  EXPECT_DOUBLE_EQ(*result->machines[0].bandwidth, 1);
}

TEST(InverseRoofline, AMissingRateConcernsOneMachine) {
  const Inverse result =
      solve(1, {plain_machine(), round_machine()}, {.precision = Precision::Tf32});
  ASSERT_EQ(result.machines.size(), 2U);
  ASSERT_EQ(result.machines[0].error.size(), 1U);
  EXPECT_EQ(result.machines[0].error[0].kind, DiagnosticKind::MissingRate);
  EXPECT_TRUE(result.machines[1].error.empty());
  EXPECT_TRUE(result.machines[1].fused.has_value());
}

TEST(InverseRoofline, BadTargetsAreUsageErrors) {
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    const auto result = inverse({}, {}, {seconds}, {}, {});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error()[0].kind, DiagnosticKind::Usage);
  }
}

}  // namespace
}  // namespace solar::roofline

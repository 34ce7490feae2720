#include "roofline/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <random>

#include "roofline/test_machines.h"

namespace solar::roofline {
namespace {

using ir::ElementType;
using Strings = std::vector<std::string>;

constexpr int64_t kTera = 1'000'000'000'000;

Bounds bound(const std::vector<Work>& operators, const Work& graph, const arch::Machine& machine,
             Policy policy = {}) {
  const Result<Bounds> result = bounds(operators, graph, machine, policy);
  EXPECT_TRUE(result.has_value());
  return result ? *result : Bounds{};
}

TEST(Roofline, OneOperator) {
  const Work work{{{ElementType::F32, false, {2 * kTera}}}, {kTera}};
  const Bounds result = bound({work}, work, round_machine());
  const Time& time = result.fused.time;
  EXPECT_DOUBLE_EQ(time.total.value, 2);
  EXPECT_DOUBLE_EQ(time.compute.value, 2);
  EXPECT_DOUBLE_EQ(time.memory.value, 1);
  EXPECT_EQ(time.limiter, Limiter::Vector);
  EXPECT_DOUBLE_EQ(time.operational_intensity->value, 4);
  EXPECT_EQ(result.unfused.time.total, time.total);
  EXPECT_EQ(result.operators.size(), 1U);
  EXPECT_EQ(result.fused.assumptions,
            (Strings{"as-written-graph", "classical-products", "cold-cache", "datasheet-peaks",
                     "no-fp32-emulation"}));
  EXPECT_EQ(result.unfused.assumptions,
            (Strings{"as-written-graph", "classical-products", "cold-cache", "no-fusion",
                     "datasheet-peaks", "no-fp32-emulation"}));
}

TEST(Roofline, TypesOfOneClassAddUpAndClassesOverlap) {
  // Tensor: 8 tf32 (1 s) + 16 bf16 (1 s); vector: 1.5 fp32 (1.5 s).
  const Work work{{{ElementType::F32, true, {8 * kTera}},
                   {ElementType::BF16, false, {16 * kTera}},
                   {ElementType::F32, false, {3 * kTera / 2}}},
                  {}};
  const Result<Time> time = time_of(work, round_machine(), {});
  ASSERT_TRUE(time.has_value());
  EXPECT_DOUBLE_EQ(time->tensor.value, 2);
  EXPECT_DOUBLE_EQ(time->vector.value, 1.5);
  EXPECT_DOUBLE_EQ(time->compute.value, 2);
  EXPECT_EQ(time->limiter, Limiter::Tensor);
  EXPECT_FALSE(time->operational_intensity.has_value());
}

TEST(Roofline, UnfusedAddsUpOperators) {
  const Work compute{{{ElementType::F32, false, {3 * kTera}}}, {kTera}};
  const Work memory{{}, {2 * kTera}};
  const Work graph{{{ElementType::F32, false, {3 * kTera}}}, {kTera}};
  const Bounds result = bound({compute, memory}, graph, round_machine());
  EXPECT_DOUBLE_EQ(result.unfused.time.total.value, 5);
  EXPECT_DOUBLE_EQ(result.unfused.time.memory.value, 3);
  EXPECT_DOUBLE_EQ(result.unfused.time.compute.value, 3);
  EXPECT_EQ(result.unfused.time.limiter, Limiter::Vector);
  EXPECT_EQ(result.unfused.time.traffic.value, 3 * kTera);
  EXPECT_DOUBLE_EQ(result.fused.time.total.value, 3);
  EXPECT_EQ(result.operators[1].limiter, Limiter::Memory);
}

TEST(Roofline, Tf32IsAnAssumptionOnlyWhereUsed) {
  const Work convolution{{{ElementType::F32, true, {kTera}}}, {1}};
  const Work matmul{{{ElementType::F32, false, {kTera}}}, {1}};
  const auto lists_tf32 = [](const Bound& bound) {
    return std::count(bound.assumptions.begin(), bound.assumptions.end(), "tf32-allowed") == 1;
  };
  const Bounds with = bound({convolution, convolution}, convolution, round_machine());
  EXPECT_TRUE(lists_tf32(with.fused));
  EXPECT_TRUE(lists_tf32(with.unfused));
  EXPECT_FALSE(lists_tf32(bound({matmul}, matmul, round_machine()).fused));
  // A convolution without a multiply-accumulate uses no rate.
  EXPECT_FALSE(
      lists_tf32(bound({}, Work{{{ElementType::F32, true, {0}}}, {1}}, round_machine()).fused));
}

TEST(Roofline, StrictUsesStrictValues) {
  const Work work{{{ElementType::BF16, false, {24 * kTera}}}, {4 * kTera}};
  const Bounds result = bound({work}, work, round_machine(), {.strict = true});
  EXPECT_DOUBLE_EQ(result.fused.time.compute.value, 1);
  EXPECT_DOUBLE_EQ(result.fused.time.memory.value, 2);
  EXPECT_EQ(result.fused.assumptions.back(), "strict-peaks");
  const Bounds unknown = bound({work}, work, plain_machine(), {.strict = true});
  EXPECT_EQ(std::count(unknown.fused.assumptions.begin(), unknown.fused.assumptions.end(),
                       "strict-unknown"),
            1);
}

TEST(Roofline, StrictLeavesFp32WhereItIsFaster) {
  // 2 s of bf16 on the tensor units, 1 s of fp32 beside it: split products would only lengthen the
  // first.
  const Work work{
      {{ElementType::BF16, false, {48 * kTera}}, {ElementType::F32, false, {3 * kTera / 2}}}, {1}};
  const Bounds both = bound({work}, work, round_machine(), {.strict = true});
  EXPECT_DOUBLE_EQ(both.fused.time.compute.value, 2);
  EXPECT_EQ(both.fused.assumptions.back(), "strict-peaks");
  EXPECT_DOUBLE_EQ(time_of(work, round_machine(), {.strict = true})->compute.value, 2);
  const Work alone{{{ElementType::F32, false, {24 * kTera}}}, {1}};
  const Bounds split = bound({alone}, alone, round_machine(), {.strict = true});
  EXPECT_DOUBLE_EQ(split.fused.time.compute.value, 3);
  EXPECT_EQ(split.fused.assumptions.back(), "fp32-as-split-products");
}

TEST(Roofline, ATimeThatIsNotFiniteIsAnError) {
  arch::Machine machine = round_machine();
  machine.dram_bandwidth = {1e-308};
  const Work work{{}, {kTera}};
  const auto result = bounds(std::vector<Work>{work}, work, machine, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().front().kind, DiagnosticKind::ArchUnit);
}

TEST(Roofline, NothingToDoTakesNoTime) {
  const Bounds result = bound({}, {}, round_machine());
  EXPECT_EQ(result.fused.time.total.value, 0);
  EXPECT_EQ(result.unfused.time.total.value, 0);
  EXPECT_EQ(result.fused.time.limiter, Limiter::Memory);
}

TEST(Roofline, TheGraphsFloorHoldsForUnfusedToo) {
  // A constant output: the graph writes it, no operator computes it.
  const Bounds result = bound({}, Work{{}, {kTera}}, round_machine());
  EXPECT_DOUBLE_EQ(result.unfused.time.total.value, 1);
  EXPECT_EQ(result.unfused.time.traffic.value, kTera);
}

TEST(Roofline, CountsThatOverflowAreErrors) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const Work work{{{ElementType::F32, false, {kHuge}}, {ElementType::F32, true, {1}}}, {}};
  const auto time = time_of(work, round_machine(), {});
  ASSERT_FALSE(time.has_value());
  EXPECT_EQ(time.error()[0].kind, DiagnosticKind::CountOverflow);
  const std::vector<Work> operators = {Work{{}, {kHuge}}, Work{{}, {1}}};
  EXPECT_FALSE(sum_of(operators).has_value());
  EXPECT_FALSE(bounds(operators, {}, round_machine(), {}).has_value());
}

TEST(Roofline, MissingRatesAreErrorsOnlyWhereNeeded) {
  const Work none{{{ElementType::F8E5M2, false, {0}}}, {1}};
  EXPECT_TRUE(time_of(none, round_machine(), {}).has_value());
  const Work some{{{ElementType::F8E5M2, false, {1}}}, {1}};
  EXPECT_FALSE(time_of(some, round_machine(), {}).has_value());
  const std::vector<Work> operators = {some};
  EXPECT_FALSE(bounds(operators, none, round_machine(), {}).has_value());
  EXPECT_TRUE(time_of(some, round_machine(), {.precision = Precision::Bf16}).has_value());
}

TEST(Roofline, AWarmCacheSavesWhatFitsOnChip) {
  arch::Machine machine = round_machine();
  const Work work{.traffic = {100}, .rewritten = {30}};
  const Policy warm{.warm_cache = true};
  EXPECT_EQ(time_of(work, machine, warm).error().front().kind, DiagnosticKind::MissingCapacity);
  machine.last_level_cache = Bytes{10};
  machine.l1_shared = machine.register_file = machine.tensor_memory = Bytes{3};
  machine.other_on_chip = Bytes{1};  // 20 in all
  EXPECT_EQ(time_of(work, machine, {})->traffic.value, 100);
  EXPECT_EQ(time_of(work, machine, warm)->traffic.value, 100 - 20 - 20);
  EXPECT_EQ(time_of({.traffic = {100}, .rewritten = {5}}, machine, warm)->traffic.value,
            100 - 20 - 5);
  EXPECT_EQ(time_of({.traffic = {15}}, machine, warm)->traffic.value, 0);
  // An operator reads what others left, and its results may be written while others run.
  const std::vector<Work> operators = {{.traffic = {90}}, {.traffic = {70}}};
  const auto both = bounds(operators, {.traffic = {60}}, machine, warm);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->fused.time.traffic.value, 40);
  EXPECT_EQ(both->unfused.time.traffic.value, 90 + 70 - 4 * 20);
  EXPECT_EQ(both->fused.assumptions.at(2), "warm-cache");
}

TEST(Roofline, RidgePoint) {
  // 1 TMAC/s = 2 Tflop/s against 1 TB/s.
  EXPECT_DOUBLE_EQ(ridge_point({1e12}, {1e12}).value, 2);
}

uint64_t seed() {
  const char* text = std::getenv("SOLAR_SEED");
  return text == nullptr ? 20240607 : std::strtoull(text, nullptr, 10);
}

std::vector<Work> random_operators(std::mt19937_64& random) {
  constexpr std::array kTypes = {ElementType::F64,  ElementType::F32, ElementType::F16,
                                 ElementType::BF16, ElementType::I8,  ElementType::I64};
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  std::vector<Work> operators(static_cast<size_t>(1 + below(12)));
  for (Work& work : operators) {
    work.traffic = {below(int64_t{1} << (1 + below(40)))};
    for (int64_t i = below(4); i > 0; --i) {
      work.macs.push_back({kTypes[static_cast<size_t>(below(kTypes.size()))],
                           below(2) == 1,
                           {below(int64_t{1} << (1 + below(45)))}});
    }
  }
  return operators;
}

/// Seconds without an assumption; nullopt: not known.
std::optional<double> without(const Bound& bound, const std::string& assumption) {
  for (const Without& one : bound.without) {
    if (one.assumption == assumption) return one.time.value;
  }
  return std::nullopt;
}

TEST(Without, EachAssumptionIsDroppedAlone) {
  const std::vector<Work> operators = {
      {{{ElementType::F32, false, Macs{1'000'000'000'000}}}, Bytes{1'000'000'000'000}},
      {{{ElementType::F32, true, Macs{8'000'000'000'000}}}, Bytes{3'000'000'000'000}}};
  Work graph = *sum_of(operators);
  graph.traffic = Bytes{500'000'000'000};
  arch::Machine machine = round_machine();
  const Bounds cold = bound(operators, graph, machine);
  EXPECT_DOUBLE_EQ(cold.fused.time.total.value, 1);  // 1 s on vector, 1 s on tensor units
  // The matrix product at bf16 / 3 shares the tensor units with the convolution.
  EXPECT_DOUBLE_EQ(without(cold.fused, "no-fp32-emulation").value(), 1);
  EXPECT_DOUBLE_EQ(without(cold.fused, "datasheet-peaks").value(), 1 / 1.5);
  EXPECT_DOUBLE_EQ(without(cold.fused, "tf32-allowed").value(), 9);  // all on vector units
  EXPECT_DOUBLE_EQ(without(cold.unfused, "no-fusion").value(), 1);
  EXPECT_FALSE(without(cold.fused, "cold-cache"));  // what is on chip is not known
  EXPECT_FALSE(without(cold.fused, "classical-products"));
  machine.last_level_cache = Bytes{200'000'000'000};
  machine.l1_shared = Bytes{0};
  machine.tensor_memory = Bytes{0};
  machine.register_file = Bytes{0};
  machine.other_on_chip = Bytes{0};
  ASSERT_TRUE(machine.on_chip());
  const std::vector<Work> reads = {{{}, Bytes{1'000'000'000'000}}};
  const Bounds warm = bound(reads, reads[0], machine);
  EXPECT_DOUBLE_EQ(without(warm.fused, "cold-cache").value(), 0.8);
}

TEST(Without, OnlyAssumptionsThatAreMadeAreDroppedAndOthersStay) {
  std::mt19937_64 random(seed());
  SCOPED_TRACE("SOLAR_SEED=" + std::to_string(seed()));
  for (int round = 0; round < 200; ++round) {
    const std::vector<Work> operators = random_operators(random);
    const Work graph = *sum_of(operators);
    const Bounds result = bound(operators, graph, round_machine());
    for (const Bound* each : {&result.fused, &result.unfused}) {
      for (const Without& one : each->without) {
        EXPECT_NE(std::find(each->assumptions.begin(), each->assumptions.end(), one.assumption),
                  each->assumptions.end());
        // Without tf32 products take longer; all others let a program be faster.
        if (one.assumption == "tf32-allowed") continue;
        EXPECT_LE(one.time.value, each->time.total.value * (1 + 1e-12)) << one.assumption;
      }
    }
  }
}

TEST(Roofline, LadderAndMonotonicityHold) {
  std::mt19937_64 random(seed());
  SCOPED_TRACE("SOLAR_SEED=" + std::to_string(seed()));
  for (int round = 0; round < 500; ++round) {
    const std::vector<Work> operators = random_operators(random);
    Work graph = *sum_of(operators);
    graph.traffic.value =
        static_cast<int64_t>(random() % static_cast<uint64_t>(graph.traffic.value + 1));
    for (const bool strict : {false, true}) {
      const Policy policy{.strict = strict};
      const Bounds result = bound(operators, graph, round_machine(), policy);
      const Time& unfused = result.unfused.time;
      const Time& fused = result.fused.time;
      ASSERT_LE(fused.total, unfused.total);
      ASSERT_GE(unfused.total, std::max(unfused.compute, unfused.memory));
      ASSERT_EQ(fused.macs, unfused.macs);
      arch::Machine faster = round_machine();
      for (arch::Rate& rate : faster.rates) rate.peak.value *= 1.25;
      faster.dram_bandwidth.value *= 1.5;
      faster.strict_dram_bandwidth->value *= 1.5;
      const Bounds quicker = bound(operators, graph, faster, policy);
      ASSERT_LE(quicker.fused.time.total, fused.total);
      ASSERT_LE(quicker.unfused.time.total.value, unfused.total.value * (1 + 1e-12));
    }
    const Bounds loose = bound(operators, graph, round_machine());
    const Bounds strict = bound(operators, graph, round_machine(), {.strict = true});
    ASSERT_LE(strict.fused.time.total, loose.fused.time.total);
    ASSERT_LE(strict.unfused.time.total, loose.unfused.time.total);
    arch::Machine unscaled = round_machine();
    unscaled.strict_peak_scale = 1.0;
    ASSERT_LE(bound(operators, graph, unscaled, {.strict = true}).fused.time.total,
              loose.fused.time.total);
  }
}

}  // namespace
}  // namespace solar::roofline

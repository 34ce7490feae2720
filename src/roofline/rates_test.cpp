#include "roofline/rates.h"

#include <gtest/gtest.h>

#include "roofline/test_machines.h"

namespace solar::roofline {
namespace {

using arch::NumberFormat;
using arch::UnitClass;
using ir::ElementType;
using Strings = std::vector<std::string>;

ChosenRate chosen(ElementType type, bool convolution, const arch::Machine& machine,
                  Policy policy = {}) {
  const Result<ChosenRate> rate = rate_of(type, convolution, machine, policy);
  EXPECT_TRUE(rate.has_value()) << ir::name(type);
  return rate ? *rate : ChosenRate{};
}

TEST(Rates, PrecisionNamesRoundTrip) {
  EXPECT_EQ(precision_names().size(), 10U);
  for (const std::string& text : precision_names()) EXPECT_EQ(name(*precision_named(text)), text);
  EXPECT_FALSE(precision_named("fp33").has_value());
  EXPECT_FALSE(precision_named("int4").has_value());
}

TEST(Rates, AsWrittenFollowsTheType) {
  const arch::Machine machine = round_machine();
  const ChosenRate f32 = chosen(ElementType::F32, false, machine);
  EXPECT_EQ(f32.unit, UnitClass::Vector);
  EXPECT_DOUBLE_EQ(f32.rate.value, 1e12);
  EXPECT_EQ(f32.assumptions, Strings{"no-fp32-emulation"});
  const ChosenRate bf16 = chosen(ElementType::BF16, true, machine);
  EXPECT_EQ(bf16.unit, UnitClass::Tensor);
  EXPECT_DOUBLE_EQ(bf16.rate.value, 16e12);
  EXPECT_DOUBLE_EQ(chosen(ElementType::F64, false, machine).rate.value, 0.5e12);
  EXPECT_DOUBLE_EQ(chosen(ElementType::I8, false, machine).rate.value, 32e12);
  EXPECT_EQ(chosen(ElementType::I8, false, machine).assumptions, Strings{});
}

TEST(Rates, ConvolutionsUseTf32WhereThereIsSuch) {
  const ChosenRate tf32 = chosen(ElementType::F32, true, round_machine());
  EXPECT_EQ(tf32.format, NumberFormat::Tf32);
  EXPECT_EQ(tf32.assumptions, Strings{"tf32-allowed"});
  const ChosenRate fp32 = chosen(ElementType::F32, true, plain_machine());
  EXPECT_EQ(fp32.format, NumberFormat::Fp32);
  EXPECT_EQ(fp32.assumptions, Strings{"no-fp32-emulation"});
  EXPECT_EQ(chosen(ElementType::F32, false, round_machine(), {.tf32_matmul = true}).format,
            NumberFormat::Tf32);
  EXPECT_EQ(chosen(ElementType::F32, true, round_machine(), {.precision = Precision::Fp32}).format,
            NumberFormat::Fp32);
}

TEST(Rates, EmulationOfFp32IsAnAssumptionOnlyWhereItWouldBeFaster) {
  const Policy fp32{.precision = Precision::Fp32};
  EXPECT_EQ(chosen(ElementType::F32, true, round_machine(), fp32).assumptions,
            Strings{"no-fp32-emulation"});
  arch::Machine slow = round_machine();  // tensor units at most three times the fp32 rate
  std::erase_if(slow.rates, [](const arch::Rate& rate) {
    return rate.format == NumberFormat::Tf32 || rate.format == NumberFormat::Bf16;
  });
  EXPECT_EQ(chosen(ElementType::F32, false, slow).assumptions, Strings{});
  slow.rates.push_back({NumberFormat::Bf16, UnitClass::Tensor, {3e12}, false});
  EXPECT_EQ(chosen(ElementType::F32, false, slow).assumptions, Strings{});
  slow.rates.back().peak = {3.1e12};
  EXPECT_EQ(chosen(ElementType::F32, false, slow).assumptions, Strings{"no-fp32-emulation"});
  // A strict bound takes the emulation, or is the lower one without it.
  const Policy unsplit{.strict = true, .split_fp32 = false};
  EXPECT_EQ(chosen(ElementType::F32, false, round_machine(), unsplit).assumptions, Strings{});
}

TEST(Rates, DoublePrecisionTakesTheFasterUnits) {
  arch::Machine machine = round_machine();
  machine.rates.push_back({NumberFormat::Fp64, UnitClass::Tensor, {2e12}, false});
  const ChosenRate rate = chosen(ElementType::F64, false, machine);
  EXPECT_EQ(rate.unit, UnitClass::Tensor);
  EXPECT_DOUBLE_EQ(rate.rate.value, 2e12);
}

TEST(Rates, StrictScalesAndSplitsProducts) {
  const Policy strict{.strict = true};
  const ChosenRate f32 = chosen(ElementType::F32, false, round_machine(), strict);
  EXPECT_EQ(f32.format, NumberFormat::Bf16);
  EXPECT_EQ(f32.unit, UnitClass::Tensor);
  EXPECT_DOUBLE_EQ(f32.rate.value, 16e12 / 3 * 1.5);
  EXPECT_EQ(f32.assumptions, Strings{"fp32-as-split-products"});
  // TF32 at 8 is faster than split bf16 at 16/3.
  EXPECT_DOUBLE_EQ(chosen(ElementType::F32, true, round_machine(), strict).rate.value, 12e12);
  EXPECT_DOUBLE_EQ(chosen(ElementType::BF16, true, round_machine(), strict).rate.value, 24e12);

  const ChosenRate unknown = chosen(ElementType::F16, false, plain_machine(), strict);
  EXPECT_DOUBLE_EQ(unknown.rate.value, 16e12);
  EXPECT_EQ(unknown.assumptions, Strings{"strict-unknown"});
  EXPECT_DOUBLE_EQ(bandwidth_of(round_machine(), strict).rate.value, 2e12);
  EXPECT_EQ(bandwidth_of(plain_machine(), strict).assumptions, Strings{"strict-unknown"});
}

TEST(Rates, UncertainValuesAreAssumptions) {
  arch::Machine machine = round_machine();
  machine.rates.back().uncertain = true;
  machine.uncertain = {"clock.max", "dram.bandwidth"};
  EXPECT_EQ(chosen(ElementType::F32, false, machine).assumptions,
            (Strings{"no-fp32-emulation", "uncertain-peak.vector.fp32"}));
  EXPECT_EQ(chosen(ElementType::BF16, false, machine, {.strict = true}).assumptions,
            Strings{"uncertain-clock.max"});
  EXPECT_EQ(bandwidth_of(machine, {}).assumptions, Strings{"uncertain-dram.bandwidth"});
}

TEST(Rates, IntegersWithoutARateTakeAnUpperOne) {
  const ChosenRate i64 = chosen(ElementType::I64, false, round_machine());
  EXPECT_DOUBLE_EQ(i64.rate.value, 32e12);
  EXPECT_EQ(i64.assumptions, Strings{"integer-upper-rate"});
  const ChosenRate i4 = chosen(ElementType::I4, false, round_machine());
  EXPECT_DOUBLE_EQ(i4.rate.value, 32e12);
  EXPECT_EQ(i4.assumptions, Strings{"int4-at-int8-rate"});
  // A floating-point policy leaves integers as they are.
  EXPECT_EQ(chosen(ElementType::I8, false, round_machine(), {.precision = Precision::Bf16}).format,
            NumberFormat::Int8);
  EXPECT_EQ(chosen(ElementType::F32, false, round_machine(), {.precision = Precision::Int8}).format,
            NumberFormat::Int8);
}

TEST(Rates, FourBitFloatsTakeEitherFormat) {
  arch::Machine machine = round_machine();
  machine.rates.push_back({NumberFormat::Nvfp4, UnitClass::Tensor, {64e12}, false});
  EXPECT_EQ(chosen(ElementType::F4E2M1, false, machine).format, NumberFormat::Nvfp4);
  EXPECT_FALSE(
      rate_of(ElementType::F4E2M1, false, machine, {.precision = Precision::Fp4}).has_value());
}

TEST(Rates, MissingRatesNameTheChoices) {
  const auto rate = rate_of(ElementType::F8E4M3, false, round_machine(), {});
  ASSERT_FALSE(rate.has_value());
  const Diagnostic& diagnostic = rate.error()[0];
  EXPECT_EQ(diagnostic.kind, DiagnosticKind::MissingRate);
  EXPECT_EQ(
      diagnostic.message,
      "`round` has no fp8 rate, which multiply-accumulates on f8e4m3 need as written; it has fp64, "
      "fp32, tf32, bf16, fp16, int8");
  EXPECT_NE(diagnostic.hint.find("`--precision bf16`"), std::string::npos);
  EXPECT_FALSE(
      rate_of(ElementType::F32, true, plain_machine(), {.precision = Precision::Tf32}).has_value());
  arch::Machine no_integers = round_machine();
  std::erase_if(no_integers.rates,
                [](const arch::Rate& rate) { return rate.format == NumberFormat::Int8; });
  EXPECT_FALSE(rate_of(ElementType::I8, false, no_integers, {}).has_value());
}

}  // namespace
}  // namespace solar::roofline

#include "roofline/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace solar::roofline {

using arch::Machine;
using arch::NumberFormat;
using arch::Rate;
using arch::UnitClass;
using ir::ElementType;

namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 10> kPrecisions = {{
    {Precision::AsWritten, "as-written"},
    {Precision::Fp64, "fp64"},
    {Precision::Fp32, "fp32"},
    {Precision::Tf32, "tf32"},
    {Precision::Bf16, "bf16"},
    {Precision::Fp16, "fp16"},
    {Precision::Fp8, "fp8"},
    {Precision::Fp4, "fp4"},
    {Precision::Nvfp4, "nvfp4"},
    {Precision::Int8, "int8"},
}};

/// The format of a policy other than AsWritten.
NumberFormat format_of(Precision precision) {
  switch (precision) {
    case Precision::Fp64:
      return NumberFormat::Fp64;
    case Precision::Tf32:
      return NumberFormat::Tf32;
    case Precision::Bf16:
      return NumberFormat::Bf16;
    case Precision::Fp16:
      return NumberFormat::Fp16;
    case Precision::Fp8:
      return NumberFormat::Fp8;
    case Precision::Fp4:
      return NumberFormat::Fp4;
    case Precision::Nvfp4:
      return NumberFormat::Nvfp4;
    case Precision::Int8:
      return NumberFormat::Int8;
    case Precision::AsWritten:
    case Precision::Fp32:
      return NumberFormat::Fp32;
  }
  return NumberFormat::Fp32;
}

NumberFormat format_as_written(ElementType type) {
  switch (type) {
    case ElementType::F64:
      return NumberFormat::Fp64;
    case ElementType::F32:
      return NumberFormat::Fp32;
    case ElementType::F16:
      return NumberFormat::Fp16;
    case ElementType::BF16:
      return NumberFormat::Bf16;
    case ElementType::F8E4M3:
    case ElementType::F8E5M2:
      return NumberFormat::Fp8;
    case ElementType::F4E2M1:
      return NumberFormat::Fp4;
    case ElementType::I4:
      return NumberFormat::Int4;
    case ElementType::I64:
    case ElementType::I32:
    case ElementType::I16:
    case ElementType::I8:
    case ElementType::U8:
    case ElementType::Bool:
      return NumberFormat::Int8;
  }
  return NumberFormat::Fp32;
}

/// Integers that no published rate describes.
bool has_no_format(ElementType type) {
  return type == ElementType::I64 || type == ElementType::I32 || type == ElementType::I16 ||
         type == ElementType::Bool;
}

/// A rate, perhaps divided: split products multiply a format's rate by a fraction.
struct Candidate {
  const Rate* rate = nullptr;
  double divisor = 1;
  double speed() const { return rate == nullptr ? 0 : rate->peak.value / divisor; }
};

Candidate faster(Candidate a, Candidate b) { return b.speed() > a.speed() ? b : a; }

Diagnostic missing_rate(const Machine& machine, NumberFormat format, ElementType type,
                        bool as_written) {
  std::vector<std::string> known;
  std::vector<std::string> choices;
  for (const NumberFormat other : arch::kAllNumberFormats) {
    if (machine.fastest(other) == nullptr) continue;
    known.emplace_back(arch::name(other));
    if (precision_named(arch::name(other)))
      choices.push_back(fmt::format("--precision {}", arch::name(other)));
  }
  Diagnostic diagnostic{.kind = DiagnosticKind::MissingRate};
  diagnostic.message =
      fmt::format("`{}` has no {} rate, which multiply-accumulates on {} need{}; it has {}",
                  machine.id, arch::name(format), ir::name(type), as_written ? " as written" : "",
                  fmt::format("{}", fmt::join(known, ", ")));
  diagnostic.hint = "choose " + quoted_choices(choices) + ", or another architecture";
  return diagnostic;
}

/// The candidate for MACs as the policy reads them, and the assumption it brings.
struct Choice {
  Candidate candidate = {};
  NumberFormat wanted = NumberFormat::Fp32;
  std::string assumption = {};
};

Choice choose_fp32(const Machine& machine, const Policy& policy, Choice choice) {
  choice.candidate = {machine.fastest(NumberFormat::Fp32)};
  const bool may_split = policy.strict ? policy.split_fp32 : policy.emulated_fp32;
  if (policy.strict && !may_split) return choice;
  Candidate split = faster(choice.candidate, {machine.fastest(NumberFormat::Tf32), 3});
  split = faster(split, {machine.fastest(NumberFormat::Bf16), 3});
  if (split.rate == choice.candidate.rate) return choice;
  if (may_split) {
    choice.candidate = split;
    choice.assumption = "fp32-as-split-products";
  } else if (choice.candidate.rate != nullptr) {
    choice.assumption = "no-fp32-emulation";
  }
  return choice;
}

Choice choose(ElementType type, bool convolution, const Machine& machine, const Policy& policy) {
  Choice choice{.wanted = format_of(type, convolution, policy)};
  if (choice.wanted == NumberFormat::Tf32) {
    choice.candidate = {machine.fastest(NumberFormat::Tf32)};
    if (policy.precision == Precision::Tf32 && choice.candidate.rate == nullptr) return choice;
    if (choice.candidate.rate != nullptr) {
      choice.assumption = "tf32-allowed";
      if (!policy.strict) return choice;
      // Nothing may be faster than a strict rate, and full fp32 is allowed too.
      Choice exact = choose_fp32(machine, policy, {.wanted = NumberFormat::Fp32});
      return exact.candidate.speed() > choice.candidate.speed() ? exact : choice;
    }
    choice.wanted = NumberFormat::Fp32;  // as written, on a machine without TF32
  }
  if (choice.wanted == NumberFormat::Fp32) return choose_fp32(machine, policy, std::move(choice));
  choice.candidate = {machine.fastest(choice.wanted)};
  if (policy.precision == Precision::AsWritten && choice.wanted == NumberFormat::Fp4) {
    choice.candidate = faster(choice.candidate, {machine.fastest(NumberFormat::Nvfp4)});
  }
  if (choice.wanted == NumberFormat::Int4 && choice.candidate.rate == nullptr) {
    choice.candidate = {machine.fastest(NumberFormat::Int8)};
    choice.assumption = "int4-at-int8-rate";
  }
  if (choice.wanted == NumberFormat::Int8 && policy.precision != Precision::Int8 &&
      has_no_format(type)) {
    choice.candidate = faster(choice.candidate, {machine.fastest(NumberFormat::Fp32)});
    choice.assumption = "integer-upper-rate";
  }
  return choice;
}

}  // namespace

std::string_view name(Precision precision) {
  for (const auto& [value, text] : kPrecisions) {
    if (value == precision) return text;
  }
  return "?";
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const auto& [value, text] : kPrecisions) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const auto& [value, text] : kPrecisions) names.emplace_back(text);
  return names;
}

NumberFormat format_of(ElementType type, bool convolution, const Policy& policy) {
  if (policy.precision == Precision::Int8) return NumberFormat::Int8;
  if (policy.precision != Precision::AsWritten && ir::is_float(type))
    return format_of(policy.precision);
  const bool tf32 = type == ElementType::F32 && policy.precision == Precision::AsWritten &&
                    ((convolution && policy.tf32_convolutions) || policy.tf32_matmul);
  return tf32 ? NumberFormat::Tf32 : format_as_written(type);
}

UnitClass usual_unit(NumberFormat format) {
  const bool vector = format == NumberFormat::Fp32 || format == NumberFormat::Fp64;
  return vector ? UnitClass::Vector : UnitClass::Tensor;
}

Result<ChosenRate> rate_of(ElementType type, bool convolution, const Machine& machine,
                           const Policy& policy) {
  const Choice choice = choose(type, convolution, machine, policy);
  const Rate* rate = choice.candidate.rate;
  if (rate == nullptr) {
    const bool as_written = policy.precision == Precision::AsWritten;
    return missing_rate(machine, choice.wanted, type, as_written);
  }
  ChosenRate chosen{.format = rate->format, .unit = rate->unit, .rate = {choice.candidate.speed()}};
  if (!choice.assumption.empty()) chosen.assumptions.push_back(choice.assumption);
  if (rate->uncertain) {
    chosen.assumptions.push_back(
        fmt::format("uncertain-peak.{}.{}", arch::name(rate->unit), arch::name(rate->format)));
  }
  if (policy.strict) {
    if (machine.strict_peak_scale) {
      chosen.rate.value *= *machine.strict_peak_scale;
      if (machine.is_uncertain("clock.max")) chosen.assumptions.emplace_back("uncertain-clock.max");
    } else {
      chosen.assumptions.emplace_back("strict-unknown");
    }
  }
  return chosen;
}

ChosenBandwidth bandwidth_of(const Machine& machine, const Policy& policy) {
  ChosenBandwidth chosen{.rate = machine.dram_bandwidth};
  if (policy.strict) {
    if (machine.strict_dram_bandwidth) {
      chosen.rate = *machine.strict_dram_bandwidth;
    } else {
      chosen.assumptions.emplace_back("strict-unknown");
    }
  }
  if (machine.is_uncertain("dram.bandwidth"))
    chosen.assumptions.emplace_back("uncertain-dram.bandwidth");
  return chosen;
}

void add_once(std::vector<std::string>& list, const std::vector<std::string>& assumptions) {
  for (const std::string& one : assumptions) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
  }
}

}  // namespace solar::roofline

#pragma once
// Machines with round numbers for tests.

#include "arch/machine.h"

namespace solar::roofline {

/// Vector: fp32 1 TMAC/s, fp64 0.5; tensor: tf32 8, bf16 16, fp16 16, int8 32 TMAC/s; DRAM 1 TB/s.
/// Strict: peaks x 1.5, bandwidth 2 TB/s.
inline arch::Machine round_machine() {
  using arch::NumberFormat;
  using arch::UnitClass;
  arch::Machine machine{.id = "round", .name = "Round numbers"};
  const auto add = [&](NumberFormat format, UnitClass unit, double tera_macs) {
    machine.rates.push_back({.format = format, .unit = unit, .peak = {tera_macs * 1e12}});
  };
  add(NumberFormat::Tf32, UnitClass::Tensor, 8);
  add(NumberFormat::Bf16, UnitClass::Tensor, 16);
  add(NumberFormat::Fp16, UnitClass::Tensor, 16);
  add(NumberFormat::Int8, UnitClass::Tensor, 32);
  add(NumberFormat::Fp64, UnitClass::Vector, 0.5);
  add(NumberFormat::Fp32, UnitClass::Vector, 1);
  machine.dram_bandwidth = {1e12};
  machine.dram_size = {80'000'000'000};
  machine.strict_peak_scale = 1.5;
  machine.strict_dram_bandwidth = BytesPerSecond{2e12};
  return machine;
}

/// The same without TF32 and without strict values.
inline arch::Machine plain_machine() {
  arch::Machine machine = round_machine();
  machine.id = "plain";
  machine.rates.erase(machine.rates.begin());
  machine.strict_peak_scale.reset();
  machine.strict_dram_bandwidth.reset();
  return machine;
}

}  // namespace solar::roofline

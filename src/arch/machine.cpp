#include "arch/machine.h"

#include <algorithm>

namespace solar::arch {

std::string_view name(UnitClass unit) { return unit == UnitClass::Tensor ? "tensor" : "vector"; }

std::string_view name(NumberFormat format) {
  switch (format) {
    case NumberFormat::Fp64:
      return "fp64";
    case NumberFormat::Fp32:
      return "fp32";
    case NumberFormat::Tf32:
      return "tf32";
    case NumberFormat::Bf16:
      return "bf16";
    case NumberFormat::Fp16:
      return "fp16";
    case NumberFormat::Fp8:
      return "fp8";
    case NumberFormat::Fp4:
      return "fp4";
    case NumberFormat::Nvfp4:
      return "nvfp4";
    case NumberFormat::Int8:
      return "int8";
    case NumberFormat::Int4:
      return "int4";
  }
  return "?";
}

bool is_integer(NumberFormat format) {
  return format == NumberFormat::Int8 || format == NumberFormat::Int4;
}

const Rate* Machine::fastest(NumberFormat format) const {
  const Rate* best = nullptr;
  for (const Rate& rate : rates) {
    if (rate.format != format) continue;
    if (best == nullptr || rate.peak > best->peak) best = &rate;
  }
  return best;
}

std::optional<Bytes> Machine::on_chip() const {
  Bytes total;
  for (const auto& part :
       {last_level_cache, l1_shared, register_file, tensor_memory, other_on_chip}) {
    if (!part) return std::nullopt;
    const auto sum = checked_add(total, *part);
    if (!sum) return std::nullopt;
    total = *sum;
  }
  return total;
}

bool Machine::is_uncertain(std::string_view key) const {
  return std::find(uncertain.begin(), uncertain.end(), key) != uncertain.end();
}

}  // namespace solar::arch

#pragma once
// Which peak rate a multiply-accumulate of a given element type runs at, under a policy.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/machine.h"
#include "base/result.h"
#include "ir/types.h"

namespace solar::roofline {

/// What MACs are computed in. AsWritten: each in its own element type; the others: every
/// floating-point MAC in that format (Int8: every MAC).
enum class Precision : uint8_t { AsWritten, Fp64, Fp32, Tf32, Bf16, Fp16, Fp8, Fp4, Nvfp4, Int8 };

std::string_view name(Precision precision);
std::optional<Precision> precision_named(std::string_view name);
std::vector<std::string> precision_names();

struct Policy {
  Precision precision = Precision::AsWritten;
  bool strict = false;       // rates and bandwidth that nothing exceeds, instead of the datasheet's
  bool tf32_matmul = false;  // as written: f32 matmuls may use TF32 too, not only convolutions
  bool tf32_convolutions = true;  // as written: f32 convolutions may use TF32
  bool split_fp32 = true;         // strict: fp32 may run as split products of tf32 or bf16
  bool emulated_fp32 = false;     // not strict: likewise
  bool warm_cache = false;        // what is on chip at the start may be of any use
};

/// A rate and what it takes for granted.
struct ChosenRate {
  arch::NumberFormat format = arch::NumberFormat::Fp32;
  arch::UnitClass unit = arch::UnitClass::Vector;
  MacsPerSecond rate = {};
  std::vector<std::string> assumptions = {};
};

/// The rate of MACs on elements of `type`. As written, f32 convolutions use TF32 where the machine
/// has it, f32 matmuls fp32. Strict: maximum clocks, and fp32 at max(fp32, tf32/3, bf16/3), the
/// rate of split products (assumption `fp32-as-split-products`); where it is not strict and those
/// would be faster, `no-fp32-emulation` says so. Types without a rate of their own: integers wider
/// than 8 bits and bool take the faster of int8 and fp32, which no implementation exceeds
/// (assumption `integer-upper-rate`), i4 takes int8 where there is no int4. A missing rate is a
/// MissingRate error that names the choices.
Result<ChosenRate> rate_of(ir::ElementType type, bool convolution, const arch::Machine& machine,
                           const Policy& policy);

/// The number format that MACs on `type` use as far as the policy alone says, without a machine.
arch::NumberFormat format_of(ir::ElementType type, bool convolution, const Policy& policy);

/// The unit class a format usually runs on: fp32 and fp64 on vector units, the rest on tensor
/// units.
arch::UnitClass usual_unit(arch::NumberFormat format);

/// Appends the assumptions that the list does not hold yet.
void add_once(std::vector<std::string>& list, const std::vector<std::string>& assumptions);

/// DRAM bandwidth under the policy.
struct ChosenBandwidth {
  BytesPerSecond rate = {};
  std::vector<std::string> assumptions = {};
};
ChosenBandwidth bandwidth_of(const arch::Machine& machine, const Policy& policy);

}  // namespace solar::roofline

#pragma once
// A machine as its architecture file describes it: dense peaks by number format and unit class,
// memory, on-chip storage. Values are the datasheet's; the strict ones say what the silicon can
// reach above it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace solar::arch {

using Hertz = Quantity<struct HertzTag>;
using Watts = Quantity<struct WattTag>;

/// Units that run at the same time. Work of different number formats on one class shares its time.
enum class UnitClass : uint8_t { Tensor, Vector };

/// The number format of a peak rate; the names in files and on the command line are the lower-case
/// ones.
enum class NumberFormat : uint8_t { Fp64, Fp32, Tf32, Bf16, Fp16, Fp8, Fp4, Nvfp4, Int8, Int4 };

inline constexpr std::array kAllUnitClasses = {UnitClass::Tensor, UnitClass::Vector};
inline constexpr std::array kAllNumberFormats = {
    NumberFormat::Fp64, NumberFormat::Fp32, NumberFormat::Tf32, NumberFormat::Bf16,
    NumberFormat::Fp16, NumberFormat::Fp8,  NumberFormat::Fp4,  NumberFormat::Nvfp4,
    NumberFormat::Int8, NumberFormat::Int4};

std::string_view name(UnitClass unit);
std::string_view name(NumberFormat format);
bool is_integer(NumberFormat format);

/// One dense peak, at the datasheet's clock.
struct Rate {
  NumberFormat format = NumberFormat::Fp32;
  UnitClass unit = UnitClass::Vector;
  MacsPerSecond peak = {};
  bool uncertain = false;  // derived or unpublished
};

/// What is absent is not known (or, for a rate, not supported); storage that a machine does not
/// have is 0 bytes.
struct Machine {
  std::string id;    // the file's name without `.toml`: `h100-sxm`
  std::string name;  // `NVIDIA H100 SXM`
  std::string vendor = {};
  std::optional<int64_t> year = {};
  std::optional<int64_t> compute_units = {};
  int64_t sparsity_factor = 1;   // speed-up of structured sparsity over the dense peaks
  std::vector<Rate> rates = {};  // by unit class, then format
  BytesPerSecond dram_bandwidth = {};
  Bytes dram_size = {};
  std::string dram_type = {};
  std::optional<Bytes> last_level_cache = {};
  std::optional<Bytes> l1_shared = {};      // all units together, the full arrays
  std::optional<Bytes> register_file = {};  // all units together
  std::optional<Bytes> tensor_memory = {};
  std::optional<Bytes> other_on_chip =
      {};  // an allowance for everything else that can hold an operand
  std::optional<Hertz> datasheet_clock = {};  // the one the peaks are printed for
  std::optional<Hertz> max_clock = {};
  std::optional<double> strict_peak_scale = {};
  std::optional<BytesPerSecond> strict_dram_bandwidth = {};
  std::optional<Watts> tdp = {};
  std::optional<BytesPerSecond> interconnect = {};  // both directions together
  std::vector<std::string> uncertain = {};          // keys whose values are derived or unpublished
  std::vector<std::string> source = {};
  std::string notes = {};
  std::vector<std::string> extends = {};  // the files it was built on, nearest first

  /// Everything on chip that can hold an operand; nullopt: a part of it is not known.
  std::optional<Bytes> on_chip() const;
  /// The fastest rate of `format`, over the unit classes (tensor on a tie); null if there is none.
  const Rate* fastest(NumberFormat format) const;
  bool is_uncertain(std::string_view key) const;
};

}  // namespace solar::arch

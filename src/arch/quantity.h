#pragma once
// Numbers with units, as people write them: `3.35 TB/s`, `50 MiB`, `989.4 Tflop/s`, `2ms`.

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/span.h"

namespace solar::arch {

enum class Dimension : uint8_t {
  Memory,        // B, kB MB GB TB PB, KiB MiB GiB TiB
  Bandwidth,     // the same per second
  Frequency,     // Hz, kHz MHz GHz
  FlopRate,      // flop/s, k M G T P E
  OpRate,        // op/s, k M G T P E
  MacsPerCycle,  // MAC/cycle
  Power,         // mW W kW
  Duration       // ps ns us ms s min h
};

/// The number in the dimension's base unit (B, B/s, Hz, flop/s, op/s, MAC/cycle, W, s), positive
/// and within what the dimension can sensibly be (1 to 1e24 for sizes and rates). On failure one
/// diagnostic of `kind` at `span` that says which units fit.
Result<double> parse_quantity(std::string_view text, Dimension dimension, const Span& span = {},
                              DiagnosticKind kind = DiagnosticKind::ArchUnit);

/// A whole number of bytes; the same failures, and a fraction of a byte.
Result<int64_t> parse_bytes(std::string_view text, const Span& span = {},
                            DiagnosticKind kind = DiagnosticKind::ArchUnit);

/// Whether `text` is a number followed by a unit of `dimension`.
bool has_unit_of(std::string_view text, Dimension dimension);

/// An example of how to write a value of the dimension.
std::string_view example(Dimension dimension);

}  // namespace solar::arch

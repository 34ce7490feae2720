#include "arch/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace solar::arch {
namespace {

struct Unit {
  std::string_view text;
  Dimension dimension;
  double scale;
};

constexpr std::array kUnits = {
    Unit{"B", Dimension::Memory, 1},
    Unit{"kB", Dimension::Memory, 1e3},
    Unit{"MB", Dimension::Memory, 1e6},
    Unit{"GB", Dimension::Memory, 1e9},
    Unit{"TB", Dimension::Memory, 1e12},
    Unit{"PB", Dimension::Memory, 1e15},
    Unit{"KiB", Dimension::Memory, 1024.0},
    Unit{"MiB", Dimension::Memory, 1024.0 * 1024.0},
    Unit{"GiB", Dimension::Memory, 1024.0 * 1024.0 * 1024.0},
    Unit{"TiB", Dimension::Memory, 1024.0 * 1024.0 * 1024.0 * 1024.0},
    Unit{"B/s", Dimension::Bandwidth, 1},
    Unit{"kB/s", Dimension::Bandwidth, 1e3},
    Unit{"MB/s", Dimension::Bandwidth, 1e6},
    Unit{"GB/s", Dimension::Bandwidth, 1e9},
    Unit{"TB/s", Dimension::Bandwidth, 1e12},
    Unit{"PB/s", Dimension::Bandwidth, 1e15},
    Unit{"KiB/s", Dimension::Bandwidth, 1024.0},
    Unit{"MiB/s", Dimension::Bandwidth, 1024.0 * 1024.0},
    Unit{"GiB/s", Dimension::Bandwidth, 1024.0 * 1024.0 * 1024.0},
    Unit{"TiB/s", Dimension::Bandwidth, 1024.0 * 1024.0 * 1024.0 * 1024.0},
    Unit{"Hz", Dimension::Frequency, 1},
    Unit{"kHz", Dimension::Frequency, 1e3},
    Unit{"MHz", Dimension::Frequency, 1e6},
    Unit{"GHz", Dimension::Frequency, 1e9},
    Unit{"flop/s", Dimension::FlopRate, 1},
    Unit{"kflop/s", Dimension::FlopRate, 1e3},
    Unit{"Mflop/s", Dimension::FlopRate, 1e6},
    Unit{"Gflop/s", Dimension::FlopRate, 1e9},
    Unit{"Tflop/s", Dimension::FlopRate, 1e12},
    Unit{"Pflop/s", Dimension::FlopRate, 1e15},
    Unit{"Eflop/s", Dimension::FlopRate, 1e18},
    Unit{"op/s", Dimension::OpRate, 1},
    Unit{"kop/s", Dimension::OpRate, 1e3},
    Unit{"Mop/s", Dimension::OpRate, 1e6},
    Unit{"Gop/s", Dimension::OpRate, 1e9},
    Unit{"Top/s", Dimension::OpRate, 1e12},
    Unit{"Pop/s", Dimension::OpRate, 1e15},
    Unit{"Eop/s", Dimension::OpRate, 1e18},
    Unit{"MAC/cycle", Dimension::MacsPerCycle, 1},
    Unit{"mW", Dimension::Power, 1e-3},
    Unit{"W", Dimension::Power, 1},
    Unit{"kW", Dimension::Power, 1e3},
    Unit{"ps", Dimension::Duration, 1e-12},
    Unit{"ns", Dimension::Duration, 1e-9},
    Unit{"us", Dimension::Duration, 1e-6},
    Unit{"ms", Dimension::Duration, 1e-3},
    Unit{"s", Dimension::Duration, 1},
    Unit{"min", Dimension::Duration, 60},
    Unit{"h", Dimension::Duration, 3600},
};

std::string_view describe(Dimension dimension) {
  switch (dimension) {
    case Dimension::Memory:
      return "an amount of memory";
    case Dimension::Bandwidth:
      return "a bandwidth";
    case Dimension::Frequency:
      return "a frequency";
    case Dimension::FlopRate:
      return "a floating-point rate";
    case Dimension::OpRate:
      return "an integer rate";
    case Dimension::MacsPerCycle:
      return "a rate per cycle";
    case Dimension::Power:
      return "a power";
    case Dimension::Duration:
      return "a duration";
  }
  return "a quantity";
}

/// What a value in base units may be: far more than any machine, and so little of it that no time
/// computed from it overflows.
struct Range {
  double least = 1;
  double most = 1e24;
};

Range range_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::MacsPerCycle:
      return {1e-3, 1e12};
    case Dimension::Frequency:
      return {1e-6, 1e24};
    case Dimension::Power:
      return {1e-3, 1e12};
    case Dimension::Duration:
      return {1e-15, 1e15};
    case Dimension::Memory:
    case Dimension::Bandwidth:
    case Dimension::FlopRate:
    case Dimension::OpRate:
      break;
  }
  return {};
}

std::string_view base_unit(Dimension dimension) {
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension && unit.scale == 1) return unit.text;
  }
  return "";
}

std::string units_of(Dimension dimension) {
  std::string result;
  for (const Unit& unit : kUnits) {
    if (unit.dimension != dimension) continue;
    if (!result.empty()) result += ", ";
    result += unit.text;
  }
  return result;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct NumberAndUnit {
  std::optional<double> number = {};
  std::string_view unit = {};
};

NumberAndUnit split(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.front() < '0' || text.front() > '9') return {};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return {};
  return {number, trim(text.substr(static_cast<size_t>(end - text.data())))};
}

const Unit* find_unit(std::string_view text, std::optional<Dimension> dimension) {
  for (const Unit& unit : kUnits) {
    if (unit.text == text && (!dimension || unit.dimension == *dimension)) return &unit;
  }
  return nullptr;
}

}  // namespace

std::string_view example(Dimension dimension) {
  switch (dimension) {
    case Dimension::Memory:
      return "50 MiB";
    case Dimension::Bandwidth:
      return "3.35 TB/s";
    case Dimension::Frequency:
      return "1.83 GHz";
    case Dimension::FlopRate:
      return "989.4 Tflop/s";
    case Dimension::OpRate:
      return "1978.9 Top/s";
    case Dimension::MacsPerCycle:
      return "270336 MAC/cycle";
    case Dimension::Power:
      return "700 W";
    case Dimension::Duration:
      return "2ms";
  }
  return "";
}

bool has_unit_of(std::string_view text, Dimension dimension) {
  const NumberAndUnit parts = split(text);
  return parts.number.has_value() && find_unit(parts.unit, dimension) != nullptr;
}

Result<double> parse_quantity(std::string_view text, Dimension dimension, const Span& span,
                              DiagnosticKind kind) {
  const auto fail = [&](std::string message) {
    return Diagnostic{
        .kind = kind,
        .message = std::move(message),
        .span = span,
        .hint = fmt::format("write it like `{}`; the units of {} are {}", example(dimension),
                            describe(dimension), units_of(dimension))};
  };
  const NumberAndUnit parts = split(text);
  if (!parts.number) return fail(fmt::format("`{}` is not a positive number with a unit", text));
  if (parts.unit.empty()) return fail(fmt::format("`{}` has no unit", text));
  const Unit* unit = find_unit(parts.unit, dimension);
  if (unit == nullptr) {
    const Unit* other = find_unit(parts.unit, std::nullopt);
    if (other == nullptr) return fail(fmt::format("`{}` is not a unit", parts.unit));
    return fail(fmt::format("`{}` is {}, but {} is wanted", text, describe(other->dimension),
                            describe(dimension)));
  }
  const double value = *parts.number * unit->scale;
  const Range range = range_of(dimension);
  if (!(value >= range.least && value <= range.most)) {
    const std::string_view base = base_unit(dimension);
    return fail(fmt::format("`{}` is not between {:g} {} and {:g} {}", text, range.least, base,
                            range.most, base));
  }
  return value;
}

Result<int64_t> parse_bytes(std::string_view text, const Span& span, DiagnosticKind kind) {
  SOLAR_TRY(const double value, parse_quantity(text, Dimension::Memory, span, kind));
  constexpr double kLargest = 4e18;
  const double whole = std::round(value);
  if (value > kLargest || whole < 1 || std::abs(value - whole) > value * 1e-12) {
    return Diagnostic{
        .kind = kind,
        .message = fmt::format("`{}` is not a whole number of bytes below 4e18", text),
        .span = span,
        .hint = "give a size that is a whole number of bytes"};
  }
  return static_cast<int64_t>(whole);
}

}  // namespace solar::arch

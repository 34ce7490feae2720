#include "report/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace solar::report {
namespace {

constexpr const char* kNone = "-";  // what is not a finite number

/// Four significant digits, fewer where they are zeros.
std::string digits(double value) { return fmt::format("{:.4g}", value); }

/// The value after rounding to the digits shown.
double rounded(double value) { return std::strtod(digits(value).c_str(), nullptr); }

}  // namespace

std::string si_text(double value, const char* unit) {
  if (!std::isfinite(value)) return kNone;
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (rounded(value) >= 1000 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const std::string suffix = fmt::format("{}{}", kPrefixes[prefix], unit);
  return suffix.empty() ? digits(value) : fmt::format("{} {}", digits(value), suffix);
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return kNone;
  if (seconds == 0) return "0 s";
  constexpr std::array kUnits = {"s", "ms", "us", "ns", "ps"};
  size_t unit = 0;
  while (rounded(seconds) < 1 && unit + 1 < kUnits.size()) {
    seconds *= 1000;
    ++unit;
  }
  return fmt::format("{} {}", digits(seconds), kUnits[unit]);
}

std::string bytes_text(double bytes) { return si_text(bytes, "B"); }
std::string macs_text(double macs) { return si_text(macs, "MAC"); }
std::string count_text(double count) { return si_text(count, ""); }

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return kNone;
  if (ratio >= 1000 || ratio < 0.01) return fmt::format("{:.3g}x", ratio);
  return fmt::format("{:.{}f}x", ratio, ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2);
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return kNone;
  if (share > 0 && share < 0.0005) return "<0.1%";
  return fmt::format("{:.1f}%", 100 * share);
}

std::string small_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : kNone;
}

}  // namespace solar::report

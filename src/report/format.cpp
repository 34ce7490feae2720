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

/// With as many decimals, up to 7, as it takes not to show as 1 what is not.
std::string unlike_one(double value, int decimals) {
  constexpr int kMost = 7;
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  for (int more = decimals; more <= kMost; ++more) {
    std::string longer = fmt::format("{:.{}f}", value, more);
    if (std::strtod(longer.c_str(), nullptr) != 1) return longer;
  }
  return text;
}

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
  return unlike_one(ratio, ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2) + "x";
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return kNone;
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (std::strtod(fmt::format("{:.1f}", 100 * share).c_str(), nullptr) != 100)
    return fmt::format("{:.1f}%", 100 * share);
  const std::string exact = unlike_one(share, 3);
  return fmt::format("{:.{}f}%", 100 * share, exact.size() - 4);
}

std::string score_text(double value) {
  if (!std::isfinite(value)) return kNone;
  return rounded(value) == 1 ? unlike_one(value, 0) : digits(value);
}

std::string small_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : kNone;
}

}  // namespace solar::report

#pragma once
// Quantities as people read them: SI prefixes, three to four significant digits, never a rounded-up
// prefix (`1.00 ms`, not `1000 us`); `-` for what is not finite. Plain ASCII.

#include <cstdint>
#include <string>

namespace solar::report {

/// `1.234 ms`, `12.3 us`, `0 s`.
std::string time_text(double seconds);
/// `12.58 MB`; below 1000 exact: `512 B`.
std::string bytes_text(double bytes);
/// `1.074 GMAC`; below 1000 exact.
std::string macs_text(double macs);
/// `1.2 M`, `37`: a count without a unit.
std::string count_text(double count);
/// `989.4 Tflop/s`: any unit with a prefix.
std::string si_text(double value, const char* unit);
/// `2.41x`; `0.9996x`, as nothing reads as 1 that is not.
std::string ratio_text(double ratio);
/// `45.2%` of a share between 0 and 1; a share that is not zero never reads as `0.0%`, one that is
/// not 1 not as `100.0%`.
std::string percent_text(double share);
/// `0.8231`, `0.99998`: four digits, more where they would read as 1.
std::string score_text(double value);
/// An error or a tolerance share: `1.19e-07`, `0.031`.
std::string small_text(double value);

}  // namespace solar::report

#pragma once
// Sums in floating point that end as an integer which is surely not above the exact sum.

#include <cmath>
#include <cstdint>

namespace solar::bound {

/// Adds terms whose relative errors are far below `kRelativeError`, and takes that off.
class LowerSum {
 public:
  /// Of a term made by a few roundings and one power in long double.
  static constexpr long double kRelativeError = 1e-15L;

  void add(long double term) {
    sum_ += term;
    size_ += std::fabs(term);
  }
  /// At least 0, at most INT64_MAX.
  int64_t floor() const {
    const long double low = std::floor(sum_ - size_ * kRelativeError);
    if (!(low > 0)) return 0;
    return low >= 9.2e18L ? INT64_MAX : static_cast<int64_t>(low);
  }

 private:
  long double sum_ = 0;
  long double size_ = 0;
};

}  // namespace solar::bound

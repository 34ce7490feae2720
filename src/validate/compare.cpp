#include "validate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace solar::validate {
namespace {

std::string place_of(const std::vector<int64_t>& shape, int64_t flat) {
  std::vector<int64_t> position(shape.size(), 0);
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = flat % shape[i];
    flat /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(position, ", "));
}

double root_mean_square(const exec::TensorData& tensor) {
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.get(i);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++finite;
  }
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

}  // namespace

Comparison compare(const exec::TensorData& expected, const exec::TensorData& actual,
                   double rounding) {
  Comparison result;
  result.count = expected.count();
  const bool floats = ir::is_float(expected.type());
  const double rms = floats ? root_mean_square(expected) : 0;
  const double relative =
      floats ? std::max(kToleranceFactor * rounding, ir::epsilon(expected.type())) : 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double worst = -1;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double want = expected.get(i);
    const double got = actual.get(i);
    double share = 0;
    if (!floats) {
      share = expected.get_integer(i) == actual.get_integer(i) ? 0 : kInfinity;
      ++result.telling;
    } else if (std::isfinite(want) && std::isfinite(got)) {
      const double error = std::abs(want - got);
      // Below the type's smallest normal number relative accuracy ends.
      const double scale = std::max({std::abs(want), rms, 0x1p-126});
      share = error / (relative * scale);
      ++result.telling;
      result.max_abs_error = std::max(result.max_abs_error, error);
      result.max_rel_error = std::max(result.max_rel_error, error / scale);
    } else {
      share = (std::isnan(want) && std::isnan(got)) || want == got ? 0 : kInfinity;
    }
    if (share > 1) ++result.wrong;
    if (share > worst) {
      worst = share;
      if (share > 0) {
        result.worst_place = fmt::format("{}: expected {:.9g}, got {:.9g}",
                                         place_of(expected.shape(), i), want, got);
      }
    }
  }
  result.worst_tolerance_share = std::max(worst, 0.0);
  result.equal = result.wrong == 0;
  return result;
}

}  // namespace solar::validate

#include "exec/lanes_inline.h"
// (first: it sets the optimiser's floating-point mode for everything below)
#include <cstring>

namespace solar::exec {
namespace {

constexpr int kPartials = 32;

template <class T, class F>
SOLAR_INLINE T combine_pairwise(T* partials, F f) {
  for (int width = kPartials / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) partials[k] = f(partials[k], partials[k + width]);
  }
  return partials[0];
}

template <class T, class F>
SOLAR_INLINE T reduce_row(const T* __restrict x, int count, F f) {
  if (count < 2 * kPartials) {
    T result = x[0];
    for (int j = 1; j < count; ++j) result = f(result, x[j]);
    return result;
  }
  T partials[kPartials];
  for (int k = 0; k < kPartials; ++k) partials[k] = x[k];
  int j = kPartials;
  for (; j + kPartials <= count; j += kPartials) {
    for (int k = 0; k < kPartials; ++k) partials[k] = f(partials[k], x[j + k]);
  }
  for (int k = 0; j < count; ++j, ++k) partials[k] = f(partials[k], x[j]);
  return combine_pairwise(partials, f);
}

/// The sum of x[j] * factor(j).
template <class T, class F>
SOLAR_INLINE T sum_products(const T* __restrict x, int count, F factor) {
  T partials[kPartials] = {};
  int j = 0;
  for (; j + kPartials <= count; j += kPartials) {
    for (int k = 0; k < kPartials; ++k) partials[k] += x[j + k] * factor(j + k);
  }
  for (int k = 0; j < count; ++j, ++k) partials[k] += x[j] * factor(j);
  return combine_pairwise(partials, [](T a, T b) { return a + b; });
}

}  // namespace

SOLAR_VECTORISED void accumulate(Reduction reduction, ComputeType type, void* total,
                                 const int32_t* lanes, Operand value, int count) {
  with_any(type, [&](auto tag) {
    using T = decltype(tag);
    with_reduction<T>(reduction, [&](auto f) {
      T* __restrict out = static_cast<T*>(total);
      const T* __restrict x = row<T>(value);
      if (lanes != nullptr) {
        for (int j = 0; j < count; ++j) out[lanes[j]] = f(out[lanes[j]], x[value.uniform ? 0 : j]);
      } else if (value.uniform) {
        const T same = x[0];
        for (int j = 0; j < count; ++j) out[j] = f(out[j], same);
      } else {
        for (int j = 0; j < count; ++j) out[j] = f(out[j], x[j]);
      }
    });
  });
}

SOLAR_VECTORISED void accumulate_product(ComputeType type, void* total, const int32_t* lanes,
                                         Operand a, Operand b, int count) {
  if (a.uniform) std::swap(a, b);
  with_float(type, [&](auto tag) {
    using T = decltype(tag);
    T* __restrict out = static_cast<T*>(total);
    const T* __restrict x = row<T>(a);
    const T* __restrict y = row<T>(b);
    if (lanes != nullptr || a.uniform) {
      for (int j = 0; j < count; ++j) {
        out[lanes == nullptr ? j : lanes[j]] += x[a.uniform ? 0 : j] * y[b.uniform ? 0 : j];
      }
    } else if (b.uniform) {
      const T same = y[0];
      for (int j = 0; j < count; ++j) out[j] += x[j] * same;
    } else {
      for (int j = 0; j < count; ++j) out[j] += x[j] * y[j];
    }
  });
}

SOLAR_VECTORISED void reduce(Reduction reduction, ComputeType type, void* total, Operand value,
                             int count) {
  if (count == 0) return;
  with_any(type, [&](auto tag) {
    using T = decltype(tag);
    with_reduction<T>(reduction, [&](auto f) {
      T* out = static_cast<T*>(total);
      const T* x = row<T>(value);
      if (!value.uniform) {
        *out = f(*out, reduce_row(x, count, f));
      } else {
        for (int j = 0; j < count; ++j) *out = f(*out, x[0]);
      }
    });
  });
}

SOLAR_VECTORISED void dot(ComputeType type, void* total, Operand a, Operand b, int count) {
  if (a.uniform) std::swap(a, b);
  with_float(type, [&](auto tag) {
    using T = decltype(tag);
    const T* x = row<T>(a);
    const T* y = row<T>(b);
    T sum = 0;
    if (count == 0) return;
    if (a.uniform) {
      for (int j = 0; j < count; ++j) sum += x[0] * y[0];
    } else if (b.uniform) {
      const T same = y[0];
      sum = sum_products(x, count, [=](int) { return same; });
    } else {
      sum = sum_products(x, count, [=](int j) { return y[j]; });
    }
    *static_cast<T*>(total) += sum;
  });
}

void accumulate_arg(bool maximum, ComputeType type, ComputeType second_type, const ArgRows& rows,
                    const int32_t* lanes, bool single, Operand value, Operand second, int count) {
  const size_t width = bytes_of(second_type);
  with_any(type, [&](auto tag) {
    using T = decltype(tag);
    auto* best = static_cast<T*>(rows.best);
    const T* x = row<T>(value);
    for (int j = 0; j < count; ++j) {
      const int lane = single ? 0 : lanes == nullptr ? j : lanes[j];
      const T candidate = x[value.uniform ? 0 : j];
      const T held = best[lane];
      const bool better = is_nan(candidate) ? !is_nan(held)
                          : maximum         ? candidate > held
                                            : candidate < held;
      if (rows.reached[lane] != 0 && !better) continue;
      rows.reached[lane] = 1;
      best[lane] = candidate;
      std::memcpy(static_cast<char*>(rows.second) + width * static_cast<size_t>(lane),
                  static_cast<const char*>(second.data) +
                      width * static_cast<size_t>(second.uniform ? 0 : j),
                  width);
    }
  });
}

}  // namespace solar::exec

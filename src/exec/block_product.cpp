#include "exec/lanes_inline.h"
// (first: it sets the optimiser's floating-point mode for everything below)
#include "exec/block_product.h"

namespace solar::exec {
namespace {

template <class T>
struct Vector {
  typedef T type __attribute__((vector_size(32), aligned(32)));
  typedef T unaligned __attribute__((vector_size(32), aligned(sizeof(T))));
};

/// One kRowPanel x kColumnPanel tile, kept in registers over `depth`.
template <class T>
SOLAR_INLINE void multiply_tile(const T* __restrict a, const T* __restrict b, T* __restrict c,
                                int64_t depth, int64_t stride) {
  using V = typename Vector<T>::type;
  using U = typename Vector<T>::unaligned;
  constexpr int kLanes = 32 / sizeof(T);
  V sums[kRowPanel][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    const V left = *reinterpret_cast<const V*>(b + k * 2 * kLanes);
    const V right = *reinterpret_cast<const V*>(b + k * 2 * kLanes + kLanes);
#pragma GCC unroll 6
    for (int i = 0; i < kRowPanel; ++i) {
      const T x = a[k * kRowPanel + i];
      sums[i][0] += x * left;
      sums[i][1] += x * right;
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRowPanel; ++i) {
    U* out = reinterpret_cast<U*>(c + i * stride);
    out[0] += sums[i][0];
    out[1] += sums[i][1];
  }
}

template <class T>
SOLAR_INLINE void multiply_all(const T* a, const T* b, T* c, int64_t row_panels,
                               int64_t column_panels, int64_t depth, int64_t stride) {
  constexpr int kColumns = kColumnPanel<T>;
  for (int64_t n = 0; n < column_panels; ++n) {
    for (int64_t m = 0; m < row_panels; ++m) {
      multiply_tile(a + m * depth * kRowPanel, b + n * depth * kColumns,
                    c + m * kRowPanel * stride + n * kColumns, depth, stride);
    }
  }
}

template <class T>
SOLAR_INLINE bool finite(const T* values, int64_t count) {
  int bad = 0;
  for (int64_t i = 0; i < count; ++i) bad |= values[i] - values[i] != T(0) ? 1 : 0;
  return bad == 0;
}

}  // namespace

SOLAR_VECTORISED void multiply_blocks(const float* a, const float* b, float* c, int64_t row_panels,
                                      int64_t column_panels, int64_t depth, int64_t stride) {
  multiply_all(a, b, c, row_panels, column_panels, depth, stride);
}
SOLAR_VECTORISED void multiply_blocks(const double* a, const double* b, double* c,
                                      int64_t row_panels, int64_t column_panels, int64_t depth,
                                      int64_t stride) {
  multiply_all(a, b, c, row_panels, column_panels, depth, stride);
}
SOLAR_VECTORISED bool all_finite(const float* values, int64_t count) {
  return finite(values, count);
}
SOLAR_VECTORISED bool all_finite(const double* values, int64_t count) {
  return finite(values, count);
}

}  // namespace solar::exec

#pragma once
// The register-blocked inner loop of matrix products on packed blocks.

#include <cstdint>

namespace solar::exec {

inline constexpr int kRowPanel = 6;
template <class T>
inline constexpr int kColumnPanel = sizeof(T) == 4 ? 16 : 8;

/// c += a * b. `a`: panels of kRowPanel rows, each `depth` x kRowPanel; `b`: panels of
/// kColumnPanel<T> columns, each `depth` x kColumnPanel<T>, 32-byte aligned; `c`: row-major with
/// `stride` elements a row, whole panels both ways.
void multiply_blocks(const float* a, const float* b, float* c, int64_t row_panels,
                     int64_t column_panels, int64_t depth, int64_t stride);
void multiply_blocks(const double* a, const double* b, double* c, int64_t row_panels,
                     int64_t column_panels, int64_t depth, int64_t stride);

/// No infinity, no NaN.
bool all_finite(const float* values, int64_t count);
bool all_finite(const double* values, int64_t count);

}  // namespace solar::exec

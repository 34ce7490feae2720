#pragma once
// OpenBLAS, opened when first needed, one thread a call: threads are this program's matter.

#include <cstdint>

namespace solar::exec::native {

/// A row-major matrix, or one that is read transposed.
template <class T>
struct MatrixRef {
  T* data = nullptr;
  int64_t stride = 0;  // between rows of what lies in memory
  bool transposed = false;
};

class Blas {
 public:
  /// Null where OpenBLAS cannot be had.
  static const Blas* get();

  /// c = a * b + (accumulate ? c : 0); a is m x k, b is k x n, c is not transposed.
  void multiply(int64_t m, int64_t n, int64_t k, MatrixRef<const float> a, MatrixRef<const float> b,
                MatrixRef<float> c, bool accumulate) const;
  void multiply(int64_t m, int64_t n, int64_t k, MatrixRef<const double> a,
                MatrixRef<const double> b, MatrixRef<double> c, bool accumulate) const;

 private:
  void* single_ = nullptr;
  void* wide_ = nullptr;
};

}  // namespace solar::exec::native

#include "exec/jit/blas.h"

#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>

namespace solar::exec::native {
namespace {

CBLAS_TRANSPOSE flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/// BLAS wants row strides of at least the row's length even where there is one row.
template <class T>
blasint stride_of(const MatrixRef<T>& matrix, int64_t rows, int64_t columns) {
  return static_cast<blasint>(
      std::max({matrix.stride, matrix.transposed ? rows : columns, int64_t{1}}));
}

template <class Function, class T>
void call(void* function, int64_t m, int64_t n, int64_t k, const MatrixRef<const T>& a,
          const MatrixRef<const T>& b, const MatrixRef<T>& c, bool accumulate) {
  reinterpret_cast<Function>(function)(
      CblasRowMajor, flag(a.transposed), flag(b.transposed), static_cast<blasint>(m),
      static_cast<blasint>(n), static_cast<blasint>(k), T(1), a.data, stride_of(a, m, k), b.data,
      stride_of(b, k, n), accumulate ? T(1) : T(0), c.data, stride_of(c, m, n));
}

}  // namespace

const Blas* Blas::get() {
  static const Blas* const blas = []() -> const Blas* {
    void* handle = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    const auto set_threads = reinterpret_cast<decltype(&openblas_set_num_threads)>(
        ::dlsym(handle, "openblas_set_num_threads"));
    auto* result = new Blas;
    result->single_ = ::dlsym(handle, "cblas_sgemm");
    result->wide_ = ::dlsym(handle, "cblas_dgemm");
    if (set_threads == nullptr || result->single_ == nullptr || result->wide_ == nullptr) {
      delete result;
      return nullptr;
    }
    set_threads(1);
    return result;
  }();
  return blas;
}

void Blas::multiply(int64_t m, int64_t n, int64_t k, MatrixRef<const float> a,
                    MatrixRef<const float> b, MatrixRef<float> c, bool accumulate) const {
  call<decltype(&cblas_sgemm), float>(single_, m, n, k, a, b, c, accumulate);
}

void Blas::multiply(int64_t m, int64_t n, int64_t k, MatrixRef<const double> a,
                    MatrixRef<const double> b, MatrixRef<double> c, bool accumulate) const {
  call<decltype(&cblas_dgemm), double>(wide_, m, n, k, a, b, c, accumulate);
}

}  // namespace solar::exec::native

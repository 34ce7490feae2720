#include "exec/jit/blas.h"

#include <dlfcn.h>

#include <algorithm>

namespace solar::exec::native {
namespace {

using Index = int;                                               // of the library's usual build
constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;  // the C interface's constants

template <class T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, Index m, Index n, Index k,
                      T alpha, const T* a, Index a_stride, const T* b, Index b_stride, T beta, T* c,
                      Index c_stride);

/// BLAS wants row strides of at least the row's length even where there is one row.
template <class T>
Index stride_of(const MatrixRef<T>& matrix, int64_t rows, int64_t columns) {
  return static_cast<Index>(
      std::max({matrix.stride, matrix.transposed ? rows : columns, int64_t{1}}));
}

template <class T>
void call(void* function, int64_t m, int64_t n, int64_t k, const MatrixRef<const T>& a,
          const MatrixRef<const T>& b, const MatrixRef<T>& c, bool accumulate) {
  reinterpret_cast<Gemm<T>>(function)(kRowMajor, a.transposed ? kTransposed : kPlain,
                                      b.transposed ? kTransposed : kPlain, static_cast<Index>(m),
                                      static_cast<Index>(n), static_cast<Index>(k), T(1), a.data,
                                      stride_of(a, m, k), b.data, stride_of(b, k, n),
                                      accumulate ? T(1) : T(0), c.data, stride_of(c, m, n));
}

}  // namespace

const Blas* Blas::get() {
  static const Blas* const blas = []() -> const Blas* {
    void* handle = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    const auto set_threads =
        reinterpret_cast<void (*)(int)>(::dlsym(handle, "openblas_set_num_threads"));
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
  call<float>(single_, m, n, k, a, b, c, accumulate);
}

void Blas::multiply(int64_t m, int64_t n, int64_t k, MatrixRef<const double> a,
                    MatrixRef<const double> b, MatrixRef<double> c, bool accumulate) const {
  call<double>(wide_, m, n, k, a, b, c, accumulate);
}

}  // namespace solar::exec::native

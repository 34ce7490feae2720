#pragma once
// Scalar operations of a kernel besides its multiply-accumulates. Their number is what the program
// writes, not what an implementation needs: for estimates only.

#include "einsum/contraction.h"

namespace solar::einsum {

struct OperationsPerPoint {
  int64_t elementwise = 0;  // add, mul, compare, select, ...; the reduction's own operation
  int64_t special = 0;  // exp, log, tanh, erf, sqrt, pow, ..., division by anything but a constant
};

/// Constants, index arithmetic and casts are no operations.
OperationsPerPoint operations_per_point(const KernelReader& reader,
                                        const std::vector<Contraction>& contractions);

}  // namespace solar::einsum

#pragma once
// How a kernel uses a tensor that it reads: whether what is known of its zeros is made use of.

#include "ir/core.h"

namespace solar::einsum {

/// Every load of the access is a divisor, as a count of elements is.
bool only_divides(const ir::Kernel& kernel, int32_t access);

/// The zeros of the access are followed where it is a factor; with `infinities`, also what is minus
/// infinity where it is a summand, and what is true or false where it is a condition.
bool is_followed(const ir::Kernel& kernel, int32_t access, bool infinities);

}  // namespace solar::einsum

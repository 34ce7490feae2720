#pragma once
// Arithmetic on ir::Linear: sums of integer multiples of atoms. Intermediate coefficients may wrap;
// the values of verified subscripts fit 64 bits, so sums that are evaluated are right.

#include "ir/core.h"

namespace solar::einsum {

using ir::Linear;

inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Linear constant(int64_t value);
Linear single(int32_t atom);
Linear add(const Linear& a, const Linear& b);
Linear scale(const Linear& a, int64_t factor);
inline Linear subtract(const Linear& a, const Linear& b) { return add(a, scale(b, -1)); }
int64_t coefficient(const Linear& a, int32_t atom);
/// `a` without the term of `atom`.
Linear without(const Linear& a, int32_t atom);
/// The atom that `a` consists of (coefficient 1, no constant), or -1.
int32_t sole_atom(const Linear& a);

}  // namespace solar::einsum

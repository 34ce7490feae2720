#pragma once
// Scalars that are literals or nodes. Private to the verifier's nests.

#include "ir/verify/nest.h"

namespace solar::ir {

inline Scalar node_scalar(int32_t node) {
  Scalar result;
  result.node = node;
  return result;
}

inline Scalar integer_literal(int64_t value) {
  Scalar result;
  result.integer = value;
  result.number = static_cast<double>(value);
  return result;
}

inline Scalar float_literal(double value) {
  Scalar result;
  result.is_float = true;
  result.number = value;
  return result;
}

inline Scalar bool_literal(bool value) {
  Scalar result;
  result.is_bool = true;
  result.integer = value ? 1 : 0;
  return result;
}

}  // namespace solar::ir

#include "exec/lanes_inline.h"
// (first: it sets the optimiser's floating-point mode for everything below)
#include "exec/lanes_binary.h"
#include "exec/lanes_unary.h"

namespace solar::exec {
namespace {

SOLAR_VECTORISED void unary_f32(ScalarOp op, Operand a, void* out, int count) {
  run_float_unary<float>(op, a, out, count);
}
SOLAR_VECTORISED void unary_f64(ScalarOp op, Operand a, void* out, int count) {
  run_float_unary<double>(op, a, out, count);
}
SOLAR_VECTORISED void unary_i64(ScalarOp op, Operand a, void* out, int count) {
  run_integer_unary(op, a, out, count);
}
SOLAR_VECTORISED void binary_f32(ScalarOp op, Operand a, Operand b, void* out, int count) {
  run_float_binary<float>(op, a, b, out, count);
}
SOLAR_VECTORISED void binary_f64(ScalarOp op, Operand a, Operand b, void* out, int count) {
  run_float_binary<double>(op, a, b, out, count);
}
SOLAR_VECTORISED void binary_i64(ScalarOp op, Operand a, Operand b, void* out, int count) {
  run_integer_binary(op, a, b, out, count);
}
SOLAR_VECTORISED void binary_bool(ScalarOp op, Operand a, Operand b, void* out, int count) {
  run_bool_binary(op, a, b, out, count);
}
SOLAR_VECTORISED void select(ComputeType type, Operand a, Operand b, Operand c, void* out,
                             int count) {
  with_any(type, [&](auto tag) { run_select<decltype(tag)>(a, b, c, out, count); });
}
SOLAR_VECTORISED void logical_not(Operand a, void* out, int count) {
  map1<uint8_t, uint8_t>(a, out, count, [](uint8_t x) { return static_cast<uint8_t>(x ^ 1); });
}

}  // namespace

void run_operation(ScalarOp op, ComputeType type, Operand a, Operand b, Operand c, void* out,
                   int count) {
  if (op == ScalarOp::Select) return select(type, a, b, c, out, count);
  if (op == ScalarOp::Not) return logical_not(a, out, count);
  if (op >= ScalarOp::Add) {
    switch (type) {
      case ComputeType::F32:
        return binary_f32(op, a, b, out, count);
      case ComputeType::F64:
        return binary_f64(op, a, b, out, count);
      case ComputeType::I64:
        return binary_i64(op, a, b, out, count);
      case ComputeType::Bool:
        return binary_bool(op, a, b, out, count);
    }
  }
  switch (type) {
    case ComputeType::F32:
      return unary_f32(op, a, out, count);
    case ComputeType::F64:
      return unary_f64(op, a, out, count);
    case ComputeType::I64:
      return unary_i64(op, a, out, count);
    case ComputeType::Bool:
      return;
  }
}

}  // namespace solar::exec

#include "einsum/operations.h"

#include <algorithm>

namespace solar::einsum {

namespace {

using ir::ScalarNode;
using ir::ScalarOp;

bool is_special(const ir::Kernel& kernel, const ScalarNode& node) {
  switch (node.op) {
    case ScalarOp::Exp:
    case ScalarOp::Log:
    case ScalarOp::Log1p:
    case ScalarOp::Expm1:
    case ScalarOp::Sqrt:
    case ScalarOp::Rsqrt:
    case ScalarOp::Sin:
    case ScalarOp::Cos:
    case ScalarOp::Tan:
    case ScalarOp::Tanh:
    case ScalarOp::Sinh:
    case ScalarOp::Cosh:
    case ScalarOp::Asin:
    case ScalarOp::Acos:
    case ScalarOp::Atan:
    case ScalarOp::Erf:
    case ScalarOp::Lgamma:
    case ScalarOp::Sigmoid:
    case ScalarOp::Pow:
    case ScalarOp::Atan2:
      return true;
    case ScalarOp::Div:
    case ScalarOp::FloorDiv:
    case ScalarOp::Mod:
      return kernel.nodes[static_cast<size_t>(node.b)].op != ScalarOp::Constant;
    default:
      return false;
  }
}

}  // namespace

OperationsPerPoint operations_per_point(const KernelReader& reader,
                                        const std::vector<Contraction>& contractions) {
  const ir::Kernel& kernel = reader.kernel();
  OperationsPerPoint count;
  std::vector<bool> reads(kernel.nodes.size(), false);   // a value that depends on data
  std::vector<bool> needed(kernel.nodes.size(), false);  // reached from the value
  for (const int32_t root : {kernel.value, kernel.second_value}) {
    if (root >= 0) needed[static_cast<size_t>(root)] = true;
  }
  for (size_t i = kernel.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const int32_t operand : {kernel.nodes[i].a, kernel.nodes[i].b, kernel.nodes[i].c}) {
      if (operand >= 0) needed[static_cast<size_t>(operand)] = true;
    }
  }
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ScalarNode& node = kernel.nodes[i];
    if (!needed[i]) continue;
    reads[i] = node.op == ScalarOp::Load || node.op == ScalarOp::Prev;
    const bool leaf = node.a < 0;
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0 && reads[static_cast<size_t>(operand)]) reads[i] = true;
    }
    if (leaf || !reads[i] || node.op == ScalarOp::Cast) continue;
    ++(is_special(kernel, node) ? count.special : count.elementwise);
  }
  if (!contractions.empty()) {
    count.elementwise -= static_cast<int64_t>(contractions.size()) - 1;
    for (const Contraction& contraction : contractions) count.elementwise -= contraction.products;
    count.elementwise = std::max<int64_t>(count.elementwise, 0);
  } else if (kernel.reduction != ir::Reduction::None) {
    ++count.elementwise;
  }
  return count;
}

}  // namespace solar::einsum

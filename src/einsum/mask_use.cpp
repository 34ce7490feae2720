#include "einsum/mask_use.h"

namespace solar::einsum {
namespace {

using ir::ScalarOp;

/// Of the nodes, in order: which hold the loaded value, given those before.
template <class Carries>
std::vector<bool> spread(const ir::Kernel& kernel, int32_t access, const Carries& carries) {
  std::vector<bool> found(kernel.nodes.size(), false);
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::ScalarNode& node = kernel.nodes[i];
    found[i] = node.op == ScalarOp::Load ? node.reference == access : carries(node, found);
  }
  return found;
}

bool holds(const std::vector<bool>& found, int32_t node) {
  return node >= 0 && found[static_cast<size_t>(node)];
}

bool uses(const std::vector<bool>& found, const ir::ScalarNode& node) {
  return holds(found, node.a) || holds(found, node.b) || holds(found, node.c);
}

/// What passes a condition on.
bool is_logical(ScalarOp op) {
  return op == ScalarOp::Not || op == ScalarOp::And || op == ScalarOp::Or ||
         op == ScalarOp::Equal || op == ScalarOp::NotEqual;
}

}  // namespace

bool only_divides(const ir::Kernel& kernel, int32_t access) {
  const auto found =
      spread(kernel, access, [](const ir::ScalarNode& node, const std::vector<bool>& before) {
        return node.op == ScalarOp::Mul && (holds(before, node.a) || holds(before, node.b));
      });
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::ScalarNode& node = kernel.nodes[i];
    if (found[i] || (node.op == ScalarOp::Div && !holds(found, node.a))) continue;
    if (uses(found, node)) return false;
  }
  return !found[static_cast<size_t>(kernel.value)];
}

bool is_followed(const ir::Kernel& kernel, int32_t access, bool infinities) {
  const auto found =
      spread(kernel, access, [&](const ir::ScalarNode& node, const std::vector<bool>& before) {
        return (node.op == ScalarOp::Cast || (infinities && is_logical(node.op))) &&
               uses(before, node);
      });
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::ScalarNode& node = kernel.nodes[i];
    if (found[i] || node.op == ScalarOp::Mul || !uses(found, node)) continue;
    const bool sums = node.op == ScalarOp::Add || node.op == ScalarOp::Sub;
    const bool chooses = node.op == ScalarOp::Select;
    if (!infinities || !(sums || chooses)) return false;
  }
  return true;
}

}  // namespace solar::einsum

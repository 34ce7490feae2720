// Scalar expressions: each node becomes one value, or is evaluated inside the branch of the select
// that wants it.

#include <cmath>

#include "exec/jit/emit.h"

namespace solar::exec::native {

using ir::ScalarNode;

ComputeType Emitter::type_of(int32_t node) const {
  return ir::compute_type(kernel_.nodes[static_cast<size_t>(node)].type);
}

bool Emitter::is_number(int32_t index) const {
  const ScalarNode& n = kernel_.nodes[static_cast<size_t>(index)];
  return n.op == ScalarOp::Constant && !std::isnan(n.constant);
}

/// Nodes that may leave their tensor outside of the select branch they stand in.
void Emitter::find_delicate_nodes() {
  delicate_.assign(kernel_.nodes.size(), false);
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const ScalarNode& n = kernel_.nodes[i];
    bool delicate = false;
    if (n.op == ScalarOp::Load) {
      const NestAccess& access = nest_.accesses[static_cast<size_t>(n.reference)];
      delicate = access.conditional || access.data_dependent;
    } else if (n.op == ScalarOp::Index) {
      delicate = reads_data(kernel_.linears[static_cast<size_t>(n.reference)]);
    }
    for (const int32_t operand : {n.a, n.b, n.c}) {
      delicate = delicate || (operand >= 0 && delicate_[static_cast<size_t>(operand)]);
    }
    delicate_[i] = delicate;
  }
}

Value Emitter::node(int32_t index) {
  const auto at = static_cast<size_t>(index);
  if (cache_.nodes[at].empty()) {
    const Value value = compute(kernel_.nodes[at]);
    cache_.nodes[at] = value;
  }
  return cache_.nodes[at];
}

Value Emitter::compute(const ScalarNode& n) {
  switch (n.op) {
    case ScalarOp::Constant:
      return constant(n);
    case ScalarOp::Index:
      return linear(kernel_.linears[static_cast<size_t>(n.reference)]);
    case ScalarOp::Load: {
      const Value pointer = address(n.reference);
      return load(nest_.accesses[static_cast<size_t>(n.reference)].from.type, pointer);
    }
    case ScalarOp::Prev:
      return text_.let("load {}, ptr {}", llvm_type(output_type_), previous_);
    case ScalarOp::Cast: {
      const Value value = node(n.a);
      return cast(value, type_of(n.a), n.type);
    }
    case ScalarOp::Select:
      return select(n);
    default:
      break;
  }
  const Value x = node(n.a);
  const Value y = n.b >= 0 ? node(n.b) : Value{};
  const ComputeType type = type_of(n.a);
  switch (type) {
    case ComputeType::I64:
      return n.b >= 0 ? integer_binary(n.op, x, y) : integer_unary(n.op, x);
    case ComputeType::Bool:
      return n.b >= 0 ? bool_binary(n.op, x, y) : text_.let("xor i1 {}, true", x);
    default:
      return n.b >= 0 ? float_binary(n, type, x, y) : float_unary(n.op, type, x);
  }
}

Value Emitter::constant(const ScalarNode& n) const {
  const ComputeType type = ir::compute_type(n.type);
  switch (type) {
    case ComputeType::I64:
      return fmt::format("{}", n.integer);
    case ComputeType::Bool:
      return n.integer != 0 ? "true" : "false";
    default:
      return float_constant(type, n.constant);
  }
}

Value Emitter::select(const ScalarNode& n) {
  const Value condition = node(n.a);
  const char* type = llvm_type(type_of(n.b));
  if (!delicate_[static_cast<size_t>(n.b)] && !delicate_[static_cast<size_t>(n.c)]) {
    const Value yes = node(n.b), no = node(n.c);
    return text_.let("select i1 {}, {} {}, {} {}", condition, type, yes, type, no);
  }
  const std::string yes_block = text_.fresh("t"), no_block = text_.fresh("f"),
                    after = text_.fresh("e");
  text_.line("br i1 {}, label %{}, label %{}", condition, yes_block, no_block);
  const auto branch = [&](const std::string& label, int32_t operand) {
    const Scope scope(*this);
    text_.begin(label);
    const Value value = node(operand);
    const std::string end = text_.block();
    text_.jump(after);
    return std::pair{value, end};
  };
  const auto [yes, yes_end] = branch(yes_block, n.b);
  const auto [no, no_end] = branch(no_block, n.c);
  text_.begin(after);
  return text_.let("phi {} [ {}, %{} ], [ {}, %{} ]", type, yes, yes_end, no, no_end);
}

}  // namespace solar::exec::native

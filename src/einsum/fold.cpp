#include "einsum/fold.h"

namespace solar::einsum {

ProducerIndex::ProducerIndex(const ir::Program& program)
    : program_(&program), producers_(program.tensors.size(), -1) {
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const auto define = [&](ir::TensorId id) {
      producers_[ir::index(id)] = static_cast<int32_t>(i);
    };
    const auto& body = program.statements[i].body;
    if (const auto* kernel = std::get_if<ir::Kernel>(&body)) {
      define(kernel->output);
      if (kernel->second_output) define(*kernel->second_output);
    } else if (const auto* view = std::get_if<ir::View>(&body)) {
      define(view->output);
    } else {
      define(std::get<ir::Concat>(body).output);
    }
  }
}

const ir::View* ProducerIndex::view_of(ir::TensorId id) const {
  const int32_t at = producer(id);
  return at < 0 ? nullptr
                : std::get_if<ir::View>(&program_->statements[static_cast<size_t>(at)].body);
}

const ir::Kernel* ProducerIndex::kernel_of(ir::TensorId id) const {
  const int32_t at = producer(id);
  return at < 0 ? nullptr
                : std::get_if<ir::Kernel>(&program_->statements[static_cast<size_t>(at)].body);
}

FoldedAccess fold(const ProducerIndex& index, Nest& nest, ir::TensorId tensor,
                  std::vector<Linear> subscripts) {
  while (const ir::View* view = index.view_of(tensor)) {
    const std::vector<Linear> map = nest.import(view->atoms, subscripts);
    subscripts.clear();
    for (const Linear& subscript : view->subscripts)
      subscripts.push_back(nest.import(subscript, map));
    tensor = view->input;
  }
  return {tensor, std::move(subscripts)};
}

Linear fold_data_read(const ProducerIndex& index, Nest& nest, Atom atom) {
  FoldedAccess access = fold(index, nest, atom.tensor, std::move(atom.operands));
  const ir::Kernel* kernel = index.kernel_of(access.base);
  const bool plain = kernel != nullptr && kernel->reduction == ir::Reduction::None &&
                     kernel->guards.empty() && kernel->data_guard < 0 && !kernel->indexed;
  if (plain) {
    int32_t node = kernel->value;
    while (kernel->nodes[static_cast<size_t>(node)].op == ir::ScalarOp::Cast) {
      node = kernel->nodes[static_cast<size_t>(node)].a;
      if (!ir::is_integer(kernel->nodes[static_cast<size_t>(node)].type)) break;
    }
    const ir::ScalarNode& value = kernel->nodes[static_cast<size_t>(node)];
    if (value.op == ir::ScalarOp::Constant && ir::is_integer(value.type))
      return constant(value.integer);
    if (value.op == ir::ScalarOp::Index) {
      std::vector<Linear> loops(kernel->loops.size());
      for (size_t axis = 0; axis < kernel->target_loops.size(); ++axis) {
        loops[static_cast<size_t>(kernel->target_loops[axis])] = access.subscripts[axis];
      }
      const std::vector<Linear> map = nest.import(kernel->atoms, loops);
      return nest.import(kernel->linears[static_cast<size_t>(value.reference)], map);
    }
  }
  atom.tensor = access.base;
  atom.operands = std::move(access.subscripts);
  return nest.add_atom(std::move(atom));
}

}  // namespace solar::einsum

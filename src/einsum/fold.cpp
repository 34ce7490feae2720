// Reads as reads of stored tensors: views, slices, results of loops and index tensors that are
// plain index expressions disappear into the subscripts.

#include "einsum/program_index.h"

namespace solar::einsum {

std::vector<Linear> ProgramIndex::with_steps(ir::TensorId id, std::vector<Linear> own,
                                             std::span<const Linear> steps) const {
  const auto count = static_cast<std::ptrdiff_t>(loops(id).size());
  own.insert(own.end(), steps.begin(), steps.begin() + count);
  return own;
}

std::vector<Linear> ProgramIndex::step_values(const std::vector<int32_t>& loops,
                                              std::span<const Linear> values) const {
  std::vector<Linear> steps(loops.empty() ? 0 : program_->steps.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    const StepLoop& loop = step_loop(loops[i]);
    if (loop.step < 0) continue;
    steps[static_cast<size_t>(loop.step)] =
        loop.descending ? subtract(constant(loop.extent - 1), values[i]) : values[i];
  }
  return steps;
}

FoldedAccess ProgramIndex::fold(Nest& nest, ir::TensorId tensor,
                                std::vector<Linear> subscripts) const {
  for (;;) {
    const Alias& alias = aliases_[ir::index(tensor)];
    if (alias.kind == Alias::Kind::None) return {tensor, std::move(subscripts)};
    switch (alias.kind) {
      case Alias::Kind::View: {
        const auto rank = static_cast<std::ptrdiff_t>(program_->tensor(tensor).shape.size());
        const std::vector<Linear> own(subscripts.begin(), subscripts.begin() + rank);
        const std::vector<Linear> steps(subscripts.begin() + rank, subscripts.end());
        const std::vector<Linear> map = nest.import(
            alias.view->atoms, own, step_values(loops(tensor), steps), [&](Nest& into, Atom atom) {
              atom.operands = with_steps(atom.tensor, std::move(atom.operands), steps);
              return fold_data_read(into, std::move(atom));
            });
        subscripts.clear();
        for (const Linear& subscript : alias.view->subscripts)
          subscripts.push_back(nest.import(subscript, map));
        subscripts = with_steps(alias.to, std::move(subscripts), steps);
        break;
      }
      case Alias::Kind::AtStep:
        subscripts.push_back(constant(alias.step));
        break;
      case Alias::Kind::Stacked: {
        const StepLoop& loop = step_loop(alias.loop);
        const Linear value = subscripts.front();
        subscripts.erase(subscripts.begin());
        subscripts.push_back(loop.descending ? subtract(constant(loop.extent - 1), value) : value);
        break;
      }
      default:
        break;
    }
    tensor = alias.to;
    // What a body passes on may come from further out.
    subscripts.resize(shape(tensor).size());
  }
}

Linear ProgramIndex::fold_data_read(Nest& nest, Atom atom) const {
  FoldedAccess access = fold(nest, atom.tensor, std::move(atom.operands));
  const ir::Kernel* kernel = kernel_of(access.base);
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
      std::vector<Linear> own(kernel->loops.size());
      for (size_t axis = 0; axis < kernel->target_loops.size(); ++axis) {
        own[static_cast<size_t>(kernel->target_loops[axis])] = access.subscripts[axis];
      }
      const std::span<const Linear> steps =
          std::span<const Linear>(access.subscripts).subspan(kernel->target_loops.size());
      const std::vector<Linear> map =
          nest.import(kernel->atoms, own, step_values(loops(access.base), steps));
      return nest.import(kernel->linears[static_cast<size_t>(value.reference)], map);
    }
  }
  atom.tensor = access.base;
  atom.operands = std::move(access.subscripts);
  return nest.add_atom(std::move(atom));
}

bool ProgramIndex::returns_to(ir::TensorId tensor, ir::TensorId inside) const {
  // Bases of donated scatters, through nothing but whole reads.
  for (;;) {
    Nest nest(shape(tensor));
    std::vector<Linear> axes;
    for (int32_t axis = 0; axis < nest.loop_count(); ++axis) axes.push_back(single(axis));
    const FoldedAccess access = fold(nest, tensor, axes);
    if (access.base == inside) return access.subscripts == axes;
    const ir::Scatter* scatter = donated_scatter_of(access.base);
    if (scatter == nullptr || access.subscripts != axes) return false;
    tensor = *scatter->base;
  }
}

std::optional<FoldedAccess> ProgramIndex::storage_of(Nest& nest, ir::TensorId tensor,
                                                     std::vector<Linear> subscripts) const {
  for (;;) {
    FoldedAccess access = fold(nest, tensor, std::move(subscripts));
    subscripts = std::move(access.subscripts);
    if (is_port(access.base)) {
      if (program_->tensor(access.base).role == ir::Role::Const) return std::nullopt;
      return FoldedAccess{access.base, std::move(subscripts)};
    }
    if (const ir::Scatter* scatter = donated_scatter_of(access.base)) {
      tensor = *scatter->base;
      subscripts.resize(shape(tensor).size());
      continue;
    }
    const ir::Carried* carried = carried_of(access.base);
    if (carried == nullptr || !returns_to(carried->next, carried->inside)) return std::nullopt;
    tensor = carried->initial;
    subscripts.resize(shape(tensor).size());
  }
}

}  // namespace solar::einsum

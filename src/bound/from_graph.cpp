#include "bound/from_graph.h"

#include <algorithm>

#include "einsum/nest_form.h"
#include "einsum/storage.h"

namespace solar::bound {

namespace {

Affine affine_of(const ir::Linear& value) {
  Affine affine;
  affine.offset = value.constant;
  for (const ir::Term& term : value.terms) affine.terms.push_back({term.atom, term.coefficient});
  return affine;
}

// Narrow floats are added up in f32.
Width partial_width(ir::ElementType type, Width dram) {
  constexpr Width kF32{128};
  return ir::is_float(type) ? std::max(dram, kF32) : dram;
}

Tensor tensor_of(const einsum::FormAccess& access, const ir::Tensor& tensor, Width width) {
  Tensor out;
  out.name = tensor.name;
  out.array = static_cast<int32_t>(ir::index(access.tensor));
  for (size_t axis = 0; axis < access.subscripts.size(); ++axis) {
    out.axes.push_back(affine_of(access.subscripts[axis]));
    if (axis < access.whole.size()) out.axes.back().whole = access.whole[axis];
  }
  out.footprint = access.footprint;
  out.dram = width;
  out.on_chip = width;
  out.partial = width;
  return out;
}

}  // namespace

std::optional<Width> width_of(const ir::Tensor& tensor, const einsum::StoragePolicy& storage) {
  ir::Tensor row = tensor;
  row.shape = {};  // no blocks that are not full
  const auto bytes = einsum::bytes_of(row, 32, storage);
  const auto twice = einsum::bytes_of(row, 64, storage);
  if (!bytes || !twice || twice->value != 2 * bytes->value) return std::nullopt;
  return Width{bytes->value};
}

std::optional<Einsum> einsum_of(const einsum::Node& node, const ir::Program& program,
                                const einsum::StoragePolicy& storage) {
  if (!node.form) return std::nullopt;
  const einsum::NestForm& form = *node.form;
  Einsum out;
  out.name = node.name;
  out.points = form.points;
  for (const einsum::FormLoop& loop : form.loops)
    out.dims.push_back({loop.name, loop.extent, loop.ordered});
  for (const ir::Linear& guard : form.guards) out.guards.push_back(affine_of(guard));
  for (const einsum::FormAccess& read : form.reads) {
    const ir::Tensor& tensor = program.tensor(read.tensor);
    const auto width = width_of(tensor, storage);
    if (!width) return std::nullopt;
    out.tensors.push_back(tensor_of(read, tensor, *width));
  }
  const ir::Tensor& written = program.tensor(form.write.tensor);
  const auto width = width_of(written, storage);
  if (!width) return std::nullopt;
  Tensor output = tensor_of(form.write, written, *width);
  output.is_output = true;
  output.partial = form.is_sum ? partial_width(written.type, *width) : *width;
  out.tensors.push_back(std::move(output));
  return out;
}

}  // namespace solar::bound

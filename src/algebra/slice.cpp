#include "algebra/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace solar::algebra {
namespace {

bool any_in(const std::vector<ir::TensorId>& ids, const std::set<ir::TensorId>& set) {
  return std::any_of(ids.begin(), ids.end(), [&](ir::TensorId id) { return set.contains(id); });
}

/// The root, what is merged into it and the views between, in order.
std::vector<ir::Statement> statements_of(const Working& working, ir::TensorId root,
                                         const std::vector<ir::TensorId>& merged) {
  const Working::Place end = working.place(root);
  const auto& block = working.block(static_cast<size_t>(end.block));
  const std::set<ir::TensorId> wanted(merged.begin(), merged.end());
  std::set<ir::TensorId> needed = {root};
  std::vector<ir::Statement> found;
  for (int32_t i = end.position; i >= 0; --i) {
    const ir::Statement& statement = block[static_cast<size_t>(i)];
    const std::vector<ir::TensorId> outputs = ir::outputs_of(statement);
    const bool of_slice = i == end.position || any_in(outputs, wanted) ||
                          std::holds_alternative<ir::View>(statement.body);
    if (!of_slice || !any_in(outputs, needed)) continue;
    found.push_back(statement);
    for (const ir::TensorId id : ir::inputs_of(statement)) needed.insert(id);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace

Slice slice_of(const Working& working, ir::TensorId root, const std::vector<ir::TensorId>& merged,
               const std::vector<ir::Statement>& built) {
  Slice slice;
  const ir::Program& whole = working.program();
  slice.before.name = whole.name;
  slice.before.tensors = whole.tensors;
  slice.before.steps = whole.steps;
  slice.before.statements = statements_of(working, root, merged);
  slice.before.outputs = {root};
  slice.before.output_names = {"result"};
  slice.after = slice.before;
  slice.after.statements.pop_back();  // the root's
  slice.after.statements.insert(slice.after.statements.end(), built.begin(), built.end());

  std::set<ir::TensorId> defined;
  std::vector<ir::TensorId> ports;
  for (const ir::Program* program : {&slice.before, &slice.after}) {
    for (const ir::Statement& statement : program->statements) {
      for (const ir::TensorId id : ir::outputs_of(statement)) defined.insert(id);
    }
  }
  for (const ir::Program* program : {&slice.before, &slice.after}) {
    for (const ir::Statement& statement : program->statements) {
      for (const ir::TensorId id : ir::inputs_of(statement)) {
        const bool known = std::find(ports.begin(), ports.end(), id) != ports.end();
        if (!defined.contains(id) && !known) ports.push_back(id);
      }
    }
  }
  for (ir::Program* program : {&slice.before, &slice.after}) {
    program->ports = ports;
    for (const ir::TensorId id : ports) {
      ir::Tensor& tensor = program->tensors[ir::index(id)];
      if (tensor.role == ir::Role::Const) continue;
      tensor.role = ir::Role::Input;
      tensor.name = fmt::format("input_{}", ir::index(id));
    }
    for (ir::Statement& statement : program->statements) statement.group = -1;
  }
  return slice;
}

}  // namespace solar::algebra

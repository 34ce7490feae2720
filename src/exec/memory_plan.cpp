#include "exec/memory_plan.h"

#include <algorithm>

#include "base/checked.h"
#include "exec/element.h"
#include "exec/executor.h"
#include "exec/nest.h"

namespace solar::exec {
namespace {

using ir::TensorId;

int64_t saturating_bytes(const ir::Tensor& tensor) {
  const auto count = checked_product(tensor.shape);
  const auto bytes = count ? checked_mul(*count, memory_bytes(tensor.type)) : std::nullopt;
  return bytes.value_or(INT64_MAX);
}

Placement own_buffer(TensorId id, const ir::Tensor& tensor) {
  return {id, 0, row_major_strides(tensor.shape), true};
}

/// A view shares its input's buffer when its positions there are a sum of strides.
Placement place_view(const ir::Program& program, const ir::View& view, const Placement& input) {
  const ir::Tensor& output = program.tensor(view.output);
  ir::Linear position = {.constant = input.offset};
  for (size_t axis = 0; axis < view.subscripts.size(); ++axis) {
    add_scaled(position, view.subscripts[axis], input.strides[axis]);
  }
  simplify(position, view.atoms, output.shape);
  Placement result = {input.owner, position.constant, std::vector<int64_t>(output.shape.size(), 0),
                      false};
  for (const ir::Term& term : position.terms) {
    if (view.atoms[static_cast<size_t>(term.atom)].kind != ir::Atom::Kind::Loop) {
      return own_buffer(view.output, output);
    }
    result.strides[static_cast<size_t>(term.atom)] = term.coefficient;
  }
  return result;
}

bool is_outside(const ir::Tensor& tensor) { return tensor.role != ir::Role::Value; }

}  // namespace

int64_t saturating_add(int64_t a, int64_t b) { return checked_add(a, b).value_or(INT64_MAX); }

int64_t statement_points(const ir::Program& program, const ir::Statement& statement) {
  if (std::holds_alternative<ir::View>(statement.body)) return 0;
  if (const auto* concat = std::get_if<ir::Concat>(&statement.body)) {
    return checked_product(program.tensor(concat->output).shape).value_or(INT64_MAX);
  }
  int64_t points = 1;
  for (const ir::Loop& loop : std::get<ir::Kernel>(statement.body).loops) {
    points = checked_mul(points, loop.extent).value_or(INT64_MAX);
  }
  return points;
}

std::vector<TensorId> tensors_named(const ir::Program& program,
                                    const std::vector<std::string>& names) {
  std::vector<TensorId> result;
  for (const std::string& name : names) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      if (program.tensors[i].name == name) result.push_back(static_cast<TensorId>(i));
    }
  }
  return result;
}

std::vector<TensorId> results_of(const ir::Program& program, const std::vector<TensorId>& kept) {
  std::vector<TensorId> result = program.outputs;
  for (const ir::Update& update : program.updates) result.push_back(update.value);
  result.insert(result.end(), kept.begin(), kept.end());
  return result;
}

MemoryPlan plan_memory(const ir::Program& program, const std::vector<TensorId>& results) {
  MemoryPlan plan;
  const auto statements = static_cast<int32_t>(program.statements.size());
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    plan.placements.push_back(own_buffer(static_cast<TensorId>(i), program.tensors[i]));
  }
  plan.last_use.assign(program.tensors.size(), -1);
  const auto use = [&](TensorId id, int32_t at) {
    int32_t& last = plan.last_use[index(plan.placements[index(id)].owner)];
    last = std::max(last, at);
  };
  for (int32_t at = 0; at < statements; ++at) {
    const ir::Statement& statement = program.statements[static_cast<size_t>(at)];
    if (const auto* view = std::get_if<ir::View>(&statement.body)) {
      plan.placements[index(view->output)] =
          place_view(program, *view, plan.placements[index(view->input)]);
    }
    for (const TensorId id : inputs_of(statement)) use(id, at);
    for (const TensorId id : outputs_of(statement)) use(id, at);
  }
  for (const TensorId id : results) use(id, statements);

  int64_t live = 0;
  for (const ir::Tensor& tensor : program.tensors) {
    if (is_outside(tensor)) live = saturating_add(live, saturating_bytes(tensor));
  }
  plan.peak_bytes = live;
  std::vector<std::vector<TensorId>> freed(static_cast<size_t>(statements) + 1);
  for (int32_t at = 0; at < statements && live != INT64_MAX; ++at) {
    for (const TensorId id : outputs_of(program.statements[static_cast<size_t>(at)])) {
      if (plan.placements[index(id)].owner != id) continue;
      live = saturating_add(live, saturating_bytes(program.tensor(id)));
      freed[static_cast<size_t>(plan.last_use[index(id)])].push_back(id);
    }
    plan.peak_bytes = std::max(plan.peak_bytes, live);
    if (live == INT64_MAX) break;
    for (const TensorId id : freed[static_cast<size_t>(at)])
      live -= saturating_bytes(program.tensor(id));
  }
  for (const TensorId id : results) {  // a view is copied out
    if (!plan.placements[index(id)].plain)
      live = saturating_add(live, saturating_bytes(program.tensor(id)));
  }
  plan.peak_bytes = std::max(plan.peak_bytes, live);
  return plan;
}

int64_t predict_peak_bytes(const ir::VerifiedProgram& program,
                           const std::vector<std::string>& keep) {
  return plan_memory(*program, results_of(*program, tensors_named(*program, keep))).peak_bytes;
}

int64_t estimate_points(const ir::VerifiedProgram& program) {
  int64_t points = 0;
  for (const ir::Statement& statement : program->statements) {
    points = saturating_add(points, statement_points(*program, statement));
  }
  return points;
}

}  // namespace solar::exec

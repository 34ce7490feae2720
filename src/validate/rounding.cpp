#include "validate/rounding.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/checked.h"

namespace solar::validate {
namespace {

/// Points that an element of the kernel comes from.
int64_t reduced_points(const ir::Kernel& kernel) {
  int64_t points = 1;
  for (size_t i = 0; i < kernel.loops.size(); ++i) {
    const bool target = std::find(kernel.target_loops.begin(), kernel.target_loops.end(),
                                  static_cast<int32_t>(i)) != kernel.target_loops.end();
    if (!target || kernel.loops[i].order != ir::Loop::Order::Any) {
      points = saturating_mul(points, kernel.loops[i].extent);
    }
  }
  return points;
}

int64_t ordered_steps(const ir::Kernel& kernel) {
  int64_t steps = 1;
  for (const ir::Loop& loop : kernel.loops) {
    if (loop.order != ir::Loop::Order::Any) steps = saturating_mul(steps, loop.extent);
  }
  return steps;
}

int64_t longest(const ir::Program& program, const std::vector<ir::Statement>& statements) {
  int64_t result = 1;
  for (const ir::Statement& statement : statements) {
    int64_t points = 1;
    if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
      points = reduced_points(*kernel);
    } else if (const auto* scatter = std::get_if<ir::Scatter>(&statement.body)) {
      points = reduced_points(scatter->nest);
    } else if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
      points = std::max(longest(program, repeat->body),
                        program.steps[static_cast<size_t>(repeat->step)].extent);
    } else if (const auto* loop = std::get_if<ir::While>(&statement.body)) {
      points = std::max(longest(program, loop->body), loop->limit);
    } else if (const auto* branch = std::get_if<ir::If>(&statement.body)) {
      points =
          std::max(longest(program, branch->taken.body), longest(program, branch->otherwise.body));
    }
    result = std::max(result, points);
  }
  return result;
}

/// The longest chain of values of one epsilon that leads to each tensor.
class Chains {
 public:
  Chains(const ir::Program& program, double epsilon) : program_(program), epsilon_(epsilon) {}

  int64_t longest() {
    run(program_.statements);
    int64_t result = 1;
    for (const auto& [id, length] : lengths_) result = std::max(result, length);
    return result;
  }

 private:
  int64_t length(ir::TensorId id) const {
    const auto at = lengths_.find(static_cast<int32_t>(id));
    return at == lengths_.end() ? 0 : at->second;
  }

  int64_t longest_input(const ir::Statement& statement) const {
    int64_t result = 0;
    for (const ir::TensorId id : ir::inputs_of(statement)) result = std::max(result, length(id));
    return result;
  }

  void set(ir::TensorId id, int64_t length) { lengths_[static_cast<int32_t>(id)] = length; }

  void run(const std::vector<ir::Statement>& statements) {
    for (const ir::Statement& statement : statements) run(statement);
  }

  void run(const ir::Statement& statement) {
    const int64_t before = longest_input(statement);
    if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
      const bool rounds = ir::epsilon(program_.tensor(kernel->output).type) == epsilon_;
      set_all(statement, saturating_add(before, rounds ? ordered_steps(*kernel) : 0));
    } else if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
      run_loop(statement, repeat->carried, repeat->body,
               program_.steps[static_cast<size_t>(repeat->step)].extent);
    } else if (const auto* loop = std::get_if<ir::While>(&statement.body)) {
      run_loop(statement, loop->carried, loop->body, loop->limit);
    } else if (const auto* branch = std::get_if<ir::If>(&statement.body)) {
      run(branch->taken.body);
      run(branch->otherwise.body);
      for (size_t i = 0; i < branch->results.size(); ++i) {
        set(branch->results[i],
            std::max(length(branch->taken.values[i]), length(branch->otherwise.values[i])));
      }
    } else {
      set_all(statement, before);  // moves values, or (a scatter) rounds once
    }
  }

  /// Every step may add what one step adds.
  void run_loop(const ir::Statement& statement, const std::vector<ir::Carried>& carried,
                const std::vector<ir::Statement>& body, int64_t steps) {
    const int64_t before = longest_input(statement);
    for (const ir::Carried& one : carried) set(one.inside, before);
    run(body);
    int64_t added = 0;
    for (const ir::Carried& one : carried) {
      added = std::max(added, length(one.next) - std::min(before, length(one.next)));
    }
    set_all(statement, saturating_add(before, saturating_mul(added, steps)));
  }

  void set_all(const ir::Statement& statement, int64_t length) {
    for (const ir::TensorId id : ir::outputs_of(statement)) set(id, length);
  }

  const ir::Program& program_;
  double epsilon_;
  std::unordered_map<int32_t, int64_t> lengths_ = {};
};

}  // namespace

double RoundingError::relative() const {
  const double sums = accumulated * std::sqrt(static_cast<double>(reduction));
  if (stored <= accumulated) return sums;
  return stored * std::sqrt(static_cast<double>(stores)) / 4 + sums;
}

int64_t longest_reduction(const ir::Program& program) {
  return longest(program, program.statements);
}

RoundingError rounding_error(const ir::Program& program) {
  RoundingError error;
  for (const ir::Tensor& tensor : program.tensors) {
    // What comes from outside is the same for both sides.
    if (tensor.role == ir::Role::Value)
      error.stored = std::max(error.stored, ir::epsilon(tensor.type));
  }
  error.accumulated = std::min(error.stored, ir::epsilon(ir::ElementType::F32));
  error.reduction = longest_reduction(program);
  if (error.stored > error.accumulated) error.stores = Chains(program, error.stored).longest();
  return error;
}

}  // namespace solar::validate

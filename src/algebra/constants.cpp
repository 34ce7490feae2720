#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algebra/build.h"
#include "algebra/interval.h"
#include "algebra/rewrite.h"
#include "algebra/terms.h"

namespace solar::algebra {
namespace {

using ir::ScalarOp;

constexpr size_t kMaximumValues = 4096;  // of a const port that are looked at
constexpr int32_t kMaximumCancels = 8;   // differences of one kernel that are written out

/// Does it read anything at all?
bool is_plain_constant(const ir::Kernel& kernel) {
  return kernel.nodes[static_cast<size_t>(kernel.value)].op == ScalarOp::Constant;
}

class Ranges {
 public:
  explicit Ranges(const Working& working)
      : working_(working),
        expander_(working),
        ranges_(working.program().tensors.size()),
        depends_(working.program().tensors.size(), false) {
    for (const ir::TensorId id : working.program().ports) port(id);
    walk(0);
  }

  const Interval& of(ir::TensorId id) const { return ranges_[ir::index(id)]; }
  /// It is computed from something given from outside.
  bool depends(ir::TensorId id) const { return depends_[ir::index(id)]; }

 private:
  Interval& at(ir::TensorId id) { return ranges_[ir::index(id)]; }

  void port(ir::TensorId id) {
    const ir::Tensor& tensor = working_.tensor(id);
    depends_[ir::index(id)] = tensor.role != ir::Role::Const;
    if (tensor.type == ir::ElementType::Bool) at(id) = {0, 1};
    if (tensor.constant == nullptr) return;
    const auto& numbers = tensor.constant->numbers;
    if (numbers.empty() || numbers.size() > kMaximumValues) return;
    Interval all = Interval::of(numbers[0]);
    for (const double number : numbers) {
      if (std::isnan(number)) return;
      all = hull(all, Interval::of(number));
    }
    at(id) = all;
  }

  void walk(size_t block) {
    for (const ir::Statement& statement : working_.block(block)) {
      const std::vector<ir::TensorId> inputs = ir::inputs_of(statement);
      const bool dependent =
          std::any_of(inputs.begin(), inputs.end(), [&](ir::TensorId id) { return depends(id); });
      for (const ir::TensorId id : ir::outputs_of(statement)) depends_[ir::index(id)] = dependent;
      if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
        at(kernel->output) = of(*kernel);
        if (kernel->second_output && kernel->second_value >= 0 && kernel->guards.empty())
          at(*kernel->second_output) = node(*kernel, kernel->second_value);
      } else if (const auto* view = std::get_if<ir::View>(&statement.body)) {
        at(view->output) = at(view->input);
      } else if (const auto* concat = std::get_if<ir::Concat>(&statement.body)) {
        Interval all = at(concat->inputs.front());
        for (const ir::TensorId id : concat->inputs) all = hull(all, at(id));
        at(concat->output) = all;
      } else if (const auto* sort = std::get_if<ir::Sort>(&statement.body)) {
        at(sort->values) = at(sort->input);
      }
    }
  }

  Interval of(const ir::Kernel& kernel) {
    if (kernel.indexed || kernel.data_guard >= 0) return {};
    known_.assign(kernel.nodes.size(), std::nullopt);
    cancels_ = 0;
    const Interval value = node(kernel, kernel.value);
    const bool whole = kernel.guards.empty();
    const auto or_else = [&](Interval all) {
      if (!whole && kernel.otherwise >= 0) all = hull(all, node(kernel, kernel.otherwise));
      return all;
    };
    for (const ir::Loop& loop : kernel.loops) {
      if (loop.order != ir::Loop::Order::Any || loop.ragged) return {};
    }
    if (kernel.reduction == ir::Reduction::None) return or_else(value);
    if (is_unit_reduction(kernel)) return value;
    const bool constant = value.is_constant();
    switch (kernel.reduction) {
      case ir::Reduction::Sum: {
        if (!constant || (!whole && value.low != 0)) return {};
        const Interval start = kernel.init >= 0 ? node(kernel, kernel.init) : Interval::of(0);
        if (value.low == 0) return or_else(start);
        double points = 1;
        for (size_t i = 0; i < kernel.loops.size(); ++i) {
          const auto loop = static_cast<int32_t>(i);
          if (std::find(kernel.target_loops.begin(), kernel.target_loops.end(), loop) ==
              kernel.target_loops.end())
            points *= static_cast<double>(kernel.loops[i].extent);
        }
        return start.is_constant() ? Interval::of(value.low * points + start.low) : Interval{};
      }
      case ir::Reduction::Max:
      case ir::Reduction::Min: {
        Interval all = value;
        if (kernel.init >= 0) {
          const Interval start = node(kernel, kernel.init);
          const bool max = kernel.reduction == ir::Reduction::Max;
          all = max ? Interval{std::max(all.low, start.low), std::max(all.high, start.high)}
                    : Interval{std::min(all.low, start.low), std::min(all.high, start.high)};
          if (!whole) all = hull(all, start);
        }
        return or_else(all);
      }
      case ir::Reduction::ArgMax:
      case ir::Reduction::ArgMin:
        return whole ? value : Interval{};
      default:
        return {};
    }
  }

  Interval node(const ir::Kernel& kernel, int32_t id) {
    if (id < 0) return {};
    std::optional<Interval>& known = known_[static_cast<size_t>(id)];
    if (known) return *known;
    const ir::ScalarNode& n = kernel.nodes[static_cast<size_t>(id)];
    Interval value = compute(kernel, n);
    const bool difference = n.op == ScalarOp::Sub && ir::is_float(n.type) && !value.is_constant();
    if (difference && cancels_ < kMaximumCancels) {
      ++cancels_;
      if (expander_.cancels(kernel, id)) value = Interval::of(0);
    }
    known = value;
    return value;
  }

  Interval compute(const ir::Kernel& kernel, const ir::ScalarNode& n) {
    switch (n.op) {
      case ScalarOp::Constant:
        if (ir::is_float(n.type)) {
          return std::isnan(n.constant) ? Interval{} : Interval::of(n.constant);
        }
        return std::abs(n.integer) < (int64_t{1} << 52)
                   ? Interval::of(static_cast<double>(n.integer))
                   : Interval{};
      case ScalarOp::Load:
        return at(kernel.accesses[static_cast<size_t>(n.reference)].tensor);
      case ScalarOp::Index:
        return index(kernel, n);
      case ScalarOp::Cast: {
        const Interval a = node(kernel, n.a);
        if (ir::is_float(n.type)) return a;
        const bool whole = a.is_constant() && a.low == std::trunc(a.low) && std::abs(a.low) < 100;
        return whole && n.type != ir::ElementType::Bool ? a : Interval{};
      }
      default: {
        const Interval a = node(kernel, n.a);
        const Interval b = node(kernel, n.b);
        const Interval c = node(kernel, n.c);
        return evaluate(n, a, b, c, n.a == n.b && n.b >= 0);
      }
    }
  }

  static Interval index(const ir::Kernel& kernel, const ir::ScalarNode& n) {
    const ir::Linear& value = kernel.linears[static_cast<size_t>(n.reference)];
    Interval all = Interval::of(static_cast<double>(value.constant));
    for (const ir::Term& term : value.terms) {
      if (static_cast<size_t>(term.atom) >= kernel.loops.size()) return {};
      const double reach =
          static_cast<double>(term.coefficient) *
          static_cast<double>(kernel.loops[static_cast<size_t>(term.atom)].extent - 1);
      all = {all.low + std::min(0.0, reach), all.high + std::max(0.0, reach)};
    }
    return all;
  }

  const Working& working_;
  Expander expander_;
  std::vector<Interval> ranges_;
  std::vector<bool> depends_;
  std::vector<std::optional<Interval>> known_ = {};
  int32_t cancels_ = 0;
};

/// Floats, and what is not constant anyway.
bool may_fill(const Working& working, const ir::Kernel& kernel) {
  return !kernel.second_output && !is_plain_constant(kernel) &&
         ir::is_float(working.tensor(kernel.output).type);
}

}  // namespace

void fold_constants(Working& working, Log& log) {
  const Ranges ranges(working);
  std::vector<ir::TensorId> found;
  for (const ir::Statement& statement : working.block(0)) {
    const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
    if (kernel == nullptr || !may_fill(working, *kernel)) continue;
    if (ranges.of(kernel->output).is_constant() && ranges.depends(kernel->output))
      found.push_back(kernel->output);
  }
  // Said only where something else goes on with the constant.
  const auto all_constant = [&](const auto& self, ir::TensorId id) -> bool {
    if (working.leaves(id)) return false;
    const std::vector<ir::TensorId>& readers = working.readers(id);
    return std::all_of(readers.begin(), readers.end(), [&](ir::TensorId reader) {
      if (working.view(reader) != nullptr) return self(self, reader);
      return working.kernel(reader) != nullptr && may_fill(working, *working.kernel(reader)) &&
             ranges.of(reader).is_constant();
    });
  };
  std::vector<ir::TensorId> frontier;
  for (const ir::TensorId id : found) {
    if (!all_constant(all_constant, id)) frontier.push_back(id);
  }
  for (const ir::TensorId id : frontier) {
    const std::string& name = working.tensor(id).name;
    if (!log.allows("constant", name)) continue;
    const double value = ranges.of(id).low;
    log.add(working, id, "constant",
            fmt::format("every element of `{}` is {}, whatever the inputs are", name, value));
    ir::Statement statement;
    statement.body = fill(working.program(), id, value);
    working.replace(id, {std::move(statement)});
  }
  working.remove_dead();
}

}  // namespace solar::algebra

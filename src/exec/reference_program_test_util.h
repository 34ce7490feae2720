#pragma once
// A second evaluator of whole programs, for tests only: every statement by its definition, every
// tensor by itself, nothing shared or reused.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "exec/executor.h"
#include "exec/reference_test_util.h"

namespace solar::exec::reference {

/// Thrown where a run ends with a diagnostic.
struct Stop {
  DiagnosticKind kind = {};
};

class ProgramEvaluator {
 public:
  explicit ProgramEvaluator(const ir::Program& program)
      : program_(program), steps_(program.steps.size(), 0) {}

  Outputs run(const Inputs& inputs) {
    paths_.assign(program_.controls.size(), {});
    for (const ir::TensorId id : program_.ports) {
      const ir::Tensor& port = program_.tensor(id);
      set(id, port.role == ir::Role::Const ? *TensorData::of(port) : inputs.at(port.name));
    }
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const ir::Tensor& tensor = program_.tensors[i];
      if (tensor.role == ir::Role::Const)
        set(static_cast<ir::TensorId>(i), *TensorData::of(tensor));
    }
    run_block(program_.statements);
    Outputs result;
    for (const ir::TensorId id : program_.outputs) result.outputs.push_back(get(id));
    for (const ir::Update& update : program_.updates)
      result.states.insert_or_assign(program_.tensor(update.state).name, get(update.value));
    result.paths = paths_;
    return result;
  }

 private:
  TensorData& get(ir::TensorId id) { return values_.at(id); }
  void set(ir::TensorId id, TensorData data) { values_.insert_or_assign(id, std::move(data)); }
  TensorData& make(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensor(id);
    set(id, *TensorData::make(tensor.type, tensor.shape));
    TensorData& data = get(id);
    for (int64_t i = 0; i < data.count(); ++i) data.set_integer(i, 0);
    return data;
  }
  KernelEvaluator evaluator(const ir::Kernel& kernel) {
    return {kernel, [this](ir::TensorId id) -> TensorData& { return get(id); }, steps_};
  }
  static void copy(TensorData& to, int64_t to_at, const TensorData& from, int64_t from_at) {
    if (ir::is_float(to.type())) {
      to.set(to_at, from.get(from_at));
    } else {
      to.set_integer(to_at, from.get_integer(from_at));
    }
  }

  void run_block(const std::vector<ir::Statement>& body) {
    for (const ir::Statement& statement : body) run_statement(statement);
  }

  void run_statement(const ir::Statement& statement) {
    try {
      std::visit([this](const auto& body) { run(body); }, statement.body);
    } catch (const OutOfRange&) {
      throw Stop{DiagnosticKind::IndexOutOfRange};
    } catch (const DuplicateWrite&) {
      throw Stop{DiagnosticKind::DuplicateWrite};
    }
  }

  void run(const ir::Kernel& kernel) {
    make(kernel.output);
    if (kernel.second_output) make(*kernel.second_output);
    evaluator(kernel).run();
  }

  void run(const ir::View& view) {
    const ir::Tensor& output = program_.tensor(view.output);
    ir::Kernel kernel;
    for (size_t axis = 0; axis < output.shape.size(); ++axis) {
      kernel.loops.push_back({.name = {}, .extent = output.shape[axis]});
      kernel.target_loops.push_back(static_cast<int32_t>(axis));
    }
    kernel.atoms = view.atoms;
    kernel.accesses.push_back({view.input, view.subscripts, false});
    kernel.nodes.push_back({.op = ir::ScalarOp::Load, .type = output.type, .reference = 0});
    kernel.output = view.output;
    kernel.value = 0;
    run(kernel);
  }

  void run(const ir::Concat& concat) {
    TensorData& out = make(concat.output);
    const auto axis = static_cast<size_t>(concat.axis);
    int64_t begin = 0;
    for (const ir::TensorId id : concat.inputs) {
      const TensorData& in = get(id);
      int64_t inner = 1;
      for (size_t i = axis + 1; i < in.shape().size(); ++i) inner *= in.shape()[i];
      for (int64_t i = 0; i < in.count(); ++i) {
        const int64_t low = i % inner, along = i / inner % in.shape()[axis];
        const int64_t high = i / inner / in.shape()[axis];
        copy(out, (high * out.shape()[axis] + begin + along) * inner + low, in, i);
      }
      begin += in.shape()[axis];
    }
  }

  void run(const ir::Scatter& scatter) {
    TensorData& out = make(scatter.nest.output);
    if (scatter.base) out = get(*scatter.base);
    evaluator(scatter.nest).run_scatter(scatter.subscripts);
  }

  /// Whether element i comes before element j; equal elements keep their order.
  static bool before(const TensorData& data, int64_t i, int64_t j, bool descending) {
    if (!ir::is_float(data.type())) {
      const int64_t a = data.get_integer(i), b = data.get_integer(j);
      return descending ? a > b : a < b;
    }
    const double a = data.get(i), b = data.get(j);
    const double low = descending ? b : a, high = descending ? a : b;
    return !std::isnan(low) && (std::isnan(high) || low < high);
  }

  void run(const ir::Sort& sort) {
    const TensorData in = get(sort.input);
    TensorData& values = make(sort.values);
    TensorData& positions = make(sort.positions);
    const auto axis = static_cast<size_t>(sort.axis);
    const int64_t length = in.shape()[axis];
    int64_t inner = 1;
    for (size_t i = axis + 1; i < in.shape().size(); ++i) inner *= in.shape()[i];
    for (int64_t line = 0; line < in.count() / length; ++line) {
      const int64_t high = line / inner, low = line % inner;
      const auto element = [&](int64_t i) { return (high * length + i) * inner + low; };
      std::vector<int64_t> order(static_cast<size_t>(length));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        return before(in, element(i), element(j), sort.descending);
      });
      for (int64_t i = 0; i < sort.count; ++i) {
        const int64_t to = (high * sort.count + i) * inner + low;
        copy(values, to, in, element(order[static_cast<size_t>(i)]));
        positions.set_integer(to, order[static_cast<size_t>(i)]);
      }
    }
  }

  void run(const ir::Compact& compact) {
    const TensorData in = get(compact.input);
    TensorData& out = make(compact.output);
    const int64_t limit = out.shape()[0];
    std::vector<int64_t> found;
    for (int64_t i = 0; i < in.count(); ++i) {
      const bool zero = ir::is_float(in.type()) ? in.get(i) == 0 : in.get_integer(i) == 0;
      if (compact.kind == ir::Compact::Kind::Unique) {
        const bool known = std::any_of(found.begin(), found.end(), [&](int64_t j) {
          return !before(in, i, j, false) && !before(in, j, i, false);
        });
        if (!known) found.push_back(i);
      } else if (!zero) {
        found.push_back(i);
      }
    }
    const auto count = static_cast<int64_t>(found.size());
    if (count > limit) throw Stop{DiagnosticKind::ResultLimit};
    if (compact.kind == ir::Compact::Kind::Unique) {
      std::sort(found.begin(), found.end(),
                [&](int64_t i, int64_t j) { return before(in, i, j, false); });
      for (int64_t i = 0; i < count; ++i) copy(out, i, in, found[static_cast<size_t>(i)]);
    } else {
      const auto rank = static_cast<int64_t>(in.shape().size());
      for (int64_t i = 0; i < count; ++i) {
        int64_t rest = found[static_cast<size_t>(i)];
        for (int64_t axis = rank; axis-- > 0;) {
          out.set_integer(i * rank + axis, rest % in.shape()[static_cast<size_t>(axis)]);
          rest /= in.shape()[static_cast<size_t>(axis)];
        }
      }
    }
    make(compact.count).set_integer(0, count);
  }

  void run(const ir::Opaque&) { throw Stop{DiagnosticKind::HoleReached}; }

  void carry(const std::vector<ir::Carried>& carried) {
    std::vector<TensorData> next;
    for (const ir::Carried& one : carried) next.push_back(get(one.next));
    for (size_t i = 0; i < carried.size(); ++i) set(carried[i].inside, next[i]);
  }

  void run(const ir::Repeat& repeat) {
    for (const ir::Carried& one : repeat.carried) set(one.inside, get(one.initial));
    for (const ir::Stacked& one : repeat.stacked) make(one.result);
    const ir::Step& step = program_.steps[static_cast<size_t>(repeat.step)];
    for (int64_t i = 0; i < step.extent; ++i) {
      const int64_t at = step.descending ? step.extent - 1 - i : i;
      steps_[static_cast<size_t>(repeat.step)] = at;
      run_block(repeat.body);
      for (const ir::Stacked& one : repeat.stacked) {
        const TensorData& element = get(one.element);
        for (int64_t j = 0; j < element.count(); ++j)
          copy(get(one.result), at * element.count() + j, element, j);
      }
      carry(repeat.carried);
    }
    for (const ir::Carried& one : repeat.carried) set(one.result, get(one.inside));
  }

  void run(const ir::While& loop) {
    for (const ir::Carried& one : loop.carried) set(one.inside, get(one.initial));
    ControlPath& path = paths_[static_cast<size_t>(loop.control)];
    ++path.entered;
    for (int64_t steps = 0;; ++steps) {
      for (size_t i = 0; i < loop.before_test; ++i) run_statement(loop.body[i]);
      if (get(loop.test).get_integer(0) == 0) break;
      if (steps == loop.limit) throw Stop{DiagnosticKind::StepLimit};
      for (size_t i = loop.before_test; i < loop.body.size(); ++i) run_statement(loop.body[i]);
      carry(loop.carried);
      ++path.steps;
    }
    for (const ir::Carried& one : loop.carried) set(one.result, get(one.inside));
  }

  void run(const ir::If& branches) {
    const bool taken = get(branches.condition).get_integer(0) != 0;
    ControlPath& path = paths_[static_cast<size_t>(branches.control)];
    ++(taken ? path.taken : path.not_taken);
    const ir::Branch& branch = taken ? branches.taken : branches.otherwise;
    run_block(branch.body);
    for (size_t i = 0; i < branches.results.size(); ++i)
      set(branches.results[i], get(branch.values[i]));
  }

  const ir::Program& program_;
  std::map<ir::TensorId, TensorData> values_ = {};
  std::vector<int64_t> steps_;
  std::vector<ControlPath> paths_ = {};
};

}  // namespace solar::exec::reference

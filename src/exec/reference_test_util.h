#pragma once
// A second evaluator, for tests only: every point of a kernel by itself, every node by recursion,
// sums in double. Shares no code with the interpreter but the element codecs.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/reference_scalar_test_util.h"
#include "exec/tensor.h"
#include "ir/core.h"

namespace solar::exec::reference {

/// Thrown where a data-dependent subscript leaves its axis.
struct OutOfRange : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Thrown where a scatter without an operator writes an element again.
struct DuplicateWrite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Find = std::function<TensorData&(ir::TensorId)>;

class KernelEvaluator {
 public:
  KernelEvaluator(const ir::Kernel& kernel, Find find, std::vector<int64_t> steps = {})
      : kernel_(kernel), find_(std::move(find)), steps_(std::move(steps)) {}

  void run() {
    std::vector<int64_t> extents;
    for (const auto& loop : kernel_.loops) extents.push_back(loop.extent);
    TensorData& out = find_(kernel_.output);
    const int64_t elements = out.count();
    for (int64_t element = 0; element < elements; ++element) run_element(out, element);
  }

  /// Every point in loop order, its value combined into the element at `subscripts`. Rounds at the
  /// end.
  void run_scatter(const std::vector<ir::Linear>& subscripts) {
    TensorData& out = find_(kernel_.output);
    std::vector<Scalar> values;
    for (int64_t i = 0; i < out.count(); ++i) values.push_back(load(out, i));
    std::vector<bool> written(values.size(), false);
    point_.assign(kernel_.loops.size(), 0);
    while (true) {
      if (holds()) {
        std::vector<int64_t> at;
        for (const ir::Linear& subscript : subscripts) at.push_back(linear_value(subscript));
        const auto element = static_cast<size_t>(element_of(out, at));
        if (kernel_.reduction == ir::Reduction::None && written[element])
          throw DuplicateWrite("element " + std::to_string(element));
        written[element] = true;
        values[element] = combine(kernel_.reduction, values[element], evaluate(kernel_.value));
      }
      size_t i = point_.size();
      while (i > 0 && ++point_[i - 1] == kernel_.loops[i - 1].extent) point_[--i] = 0;
      if (i == 0) break;
    }
    for (size_t i = 0; i < values.size(); ++i) store(out, static_cast<int64_t>(i), values[i]);
  }

  /// The value of a linear at the current point, for generators of tests.
  int64_t linear_at(const ir::Linear& linear, std::vector<int64_t> point) {
    point_ = std::move(point);
    return linear_value(linear);
  }
  bool guards_hold(std::vector<int64_t> point) {
    point_ = std::move(point);
    return guards_hold();
  }

 private:
  bool is_target(size_t loop) const {
    return std::find(kernel_.target_loops.begin(), kernel_.target_loops.end(),
                     static_cast<int32_t>(loop)) != kernel_.target_loops.end();
  }

  void run_element(TensorData& out, int64_t element) {
    const ir::Reduction reduction = kernel_.reduction;
    point_.assign(kernel_.loops.size(), 0);
    set_target(out, element);
    for (size_t loop = 0; loop < kernel_.loops.size(); ++loop) {
      if (kernel_.loops[loop].order != ir::Loop::Order::Any) return run_ordered(out, element, loop);
    }
    std::vector<size_t> reduced;
    for (size_t loop = 0; loop < kernel_.loops.size(); ++loop) {
      if (!is_target(loop)) reduced.push_back(loop);
    }
    const ElementType type = out.type();
    Scalar total = identity(reduction, type);
    if (kernel_.init >= 0) total = evaluate(kernel_.init);
    Scalar second = {ComputeType::I64, 0, 0};
    bool reached = false;
    while (true) {
      if (holds()) {
        const Scalar value = evaluate(kernel_.value);
        if (reduction == ir::Reduction::ArgMax || reduction == ir::Reduction::ArgMin) {
          const double a = number(value), b = number(total);
          const bool better = std::isnan(a)                        ? !std::isnan(b)
                              : reduction == ir::Reduction::ArgMax ? a > b
                                                                   : a < b;
          if (!reached || better) total = value, second = evaluate(kernel_.second_value);
        } else {
          total = combine(reduction, total, value);
        }
        reached = true;
      }
      size_t i = reduced.size();
      while (i > 0 && ++point_[reduced[i - 1]] == kernel_.loops[reduced[i - 1]].extent)
        point_[reduced[--i]] = 0;
      if (i == 0) break;
    }
    if (!reached && kernel_.otherwise >= 0) total = evaluate(kernel_.otherwise);
    store(out, element, total);
    if (kernel_.second_output) store(find_(*kernel_.second_output), element, second);
  }

  void set_target(const TensorData& out, int64_t element) {
    for (size_t axis = out.shape().size(); axis-- > 0;) {
      point_[static_cast<size_t>(kernel_.target_loops[axis])] = element % out.shape()[axis];
      element /= out.shape()[axis];
    }
  }

  /// The elements of one recurrence, from its first step to this one. Quadratic, and so obviously
  /// right.
  void run_ordered(TensorData& out, int64_t element, size_t loop) {
    const int64_t last = point_[loop], extent = kernel_.loops[loop].extent;
    const bool ascending = kernel_.loops[loop].order == ir::Loop::Order::Ascending;
    point_[loop] = ascending ? 0 : extent - 1;
    previous_ = evaluate(kernel_.init);
    for (int64_t at = point_[loop];; at += ascending ? 1 : -1) {
      point_[loop] = at;
      store(out, element, holds() ? evaluate(kernel_.value) : evaluate(kernel_.otherwise));
      previous_ = load(out, element);
      if (at == last) return;
    }
  }

  static double number(const Scalar& x) {
    return x.type == ComputeType::F32 || x.type == ComputeType::F64
               ? x.real
               : static_cast<double>(x.integer);
  }

  static Scalar identity(ir::Reduction reduction, ElementType type) {
    const ComputeType compute = ir::compute_type(type);
    constexpr double inf = std::numeric_limits<double>::infinity();
    switch (reduction) {
      case ir::Reduction::Product:
        return {compute, 1, 1};
      case ir::Reduction::And:
        return {compute, 0, 1};
      case ir::Reduction::Max:
      case ir::Reduction::ArgMax:
        return {compute, -inf, lowest(type)};
      case ir::Reduction::Min:
      case ir::Reduction::ArgMin:
        return {compute, inf, highest(type)};
      default:
        return {compute, 0, 0};
    }
  }
  static int64_t lowest(ElementType type) {
    const int bits = ir::storage_bits(type);
    if (type == ElementType::U8 || type == ElementType::Bool) return 0;
    return bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  }
  static int64_t highest(ElementType type) {
    if (type == ElementType::U8) return 255;
    if (type == ElementType::Bool) return 1;
    const int bits = ir::storage_bits(type);
    return bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  }

  static Scalar combine(ir::Reduction reduction, const Scalar& a, const Scalar& b) {
    if (reduction == ir::Reduction::None) return b;
    if (a.type == ComputeType::I64) {
      const auto x = static_cast<uint64_t>(a.integer), y = static_cast<uint64_t>(b.integer);
      switch (reduction) {
        case ir::Reduction::Sum:
          return {a.type, 0, static_cast<int64_t>(x + y)};
        case ir::Reduction::Product:
          return {a.type, 0, static_cast<int64_t>(x * y)};
        case ir::Reduction::Max:
          return a.integer > b.integer ? a : b;
        default:
          return a.integer < b.integer ? a : b;
      }
    }
    if (a.type == ComputeType::Bool) {
      const bool both = a.integer != 0 && b.integer != 0, either = a.integer != 0 || b.integer != 0;
      return {a.type, 0, (reduction == ir::Reduction::And ? both : either) ? 1 : 0};
    }
    switch (reduction) {
      case ir::Reduction::Sum:
        return {a.type, a.real + b.real, 0};
      case ir::Reduction::Product:
        return {a.type, a.real * b.real, 0};
      case ir::Reduction::Max:
        return {a.type, propagating(a.real, b.real, true), 0};
      default:
        return {a.type, propagating(a.real, b.real, false), 0};
    }
  }
  bool in_ranges() {
    for (size_t loop = 0; loop < kernel_.loops.size(); ++loop) {
      const auto& range = kernel_.loops[loop].ragged;
      if (!range) continue;
      if (point_[loop] < linear_value(range->begin) || point_[loop] >= linear_value(range->end))
        return false;
    }
    return true;
  }
  bool holds() {
    return in_ranges() && guards_hold() &&
           (kernel_.data_guard < 0 || evaluate(kernel_.data_guard).integer != 0);
  }
  bool guards_hold() {
    return std::all_of(kernel_.guards.begin(), kernel_.guards.end(),
                       [&](const ir::Guard& g) { return meets(g); });
  }
  bool meets(const ir::Guard& guard) {
    const int64_t value = linear_value(guard.value);
    switch (guard.kind) {
      case ir::Guard::Kind::NonNegative:
        return value >= 0;
      case ir::Guard::Kind::Zero:
        return value == 0;
      default:
        return value != 0;
    }
  }

  int64_t linear_value(const ir::Linear& linear) {
    int64_t value = linear.constant;
    for (const ir::Term& term : linear.terms) value += term.coefficient * atom_value(term.atom);
    return value;
  }

  int64_t atom_value(int32_t index) {
    const ir::Atom& atom = kernel_.atoms[static_cast<size_t>(index)];
    if (atom.kind == ir::Atom::Kind::Loop) return point_[static_cast<size_t>(index)];
    if (atom.kind == ir::Atom::Kind::Step) return steps_[static_cast<size_t>(atom.step)];
    if (atom.kind == ir::Atom::Kind::Select) {
      const bool taken = std::all_of(atom.conditions.begin(), atom.conditions.end(),
                                     [&](const ir::Guard& condition) { return meets(condition); });
      return linear_value(atom.operands[taken ? 0 : 1]);
    }
    std::vector<int64_t> operands;
    for (const ir::Linear& operand : atom.operands) operands.push_back(linear_value(operand));
    const auto quotient = [&] {
      return static_cast<int64_t>(
          std::floor(static_cast<double>(operands[0]) / static_cast<double>(atom.divisor)));
    };
    switch (atom.kind) {
      case ir::Atom::Kind::FloorDiv:
        return quotient();
      case ir::Atom::Kind::Mod:
        return operands[0] - quotient() * atom.divisor;
      case ir::Atom::Kind::Min:
        return *std::min_element(operands.begin(), operands.end());
      case ir::Atom::Kind::Max:
        return *std::max_element(operands.begin(), operands.end());
      default:
        break;
    }
    const TensorData& tensor = find_(atom.tensor);
    return tensor.get_integer(element_of(tensor, operands));
  }

  static int64_t element_of(const TensorData& tensor, const std::vector<int64_t>& subscripts) {
    int64_t element = 0;
    for (size_t axis = 0; axis < subscripts.size(); ++axis) {
      if (subscripts[axis] < 0 || subscripts[axis] >= tensor.shape()[axis]) {
        throw OutOfRange("subscript " + std::to_string(subscripts[axis]) + " on axis " +
                         std::to_string(axis));
      }
      element = element * tensor.shape()[axis] + subscripts[axis];
    }
    return element;
  }

  static Scalar load(const TensorData& tensor, int64_t element) {
    const ComputeType type = ir::compute_type(tensor.type());
    if (type == ComputeType::F32 || type == ComputeType::F64) return {type, tensor.get(element), 0};
    return {type, 0, tensor.get_integer(element)};
  }
  static void store(TensorData& tensor, int64_t element, const Scalar& value) {
    if (value.type == ComputeType::F32) {
      tensor.set(element, static_cast<float>(value.real));
    } else if (value.type == ComputeType::F64) {
      tensor.set(element, value.real);
    } else {
      tensor.set_integer(element, value.integer);
    }
  }

  Scalar evaluate(int32_t index) {
    const ir::ScalarNode& node = kernel_.nodes[static_cast<size_t>(index)];
    const ComputeType type = ir::compute_type(node.type);
    switch (node.op) {
      case ScalarOp::Constant:
        return {type, type == ComputeType::F32 ? static_cast<float>(node.constant) : node.constant,
                node.integer};
      case ScalarOp::Index:
        return {type, 0, linear_value(kernel_.linears[static_cast<size_t>(node.reference)])};
      case ScalarOp::Prev:
        return previous_;
      case ScalarOp::Load: {
        const ir::Access& access = kernel_.accesses[static_cast<size_t>(node.reference)];
        const TensorData& tensor = find_(access.tensor);
        std::vector<int64_t> subscripts;
        for (const ir::Linear& subscript : access.subscripts)
          subscripts.push_back(linear_value(subscript));
        return load(tensor, element_of(tensor, subscripts));
      }
      case ScalarOp::Select:
        return evaluate(evaluate(node.a).integer != 0 ? node.b : node.c);
      default:
        break;
    }
    const Scalar a = evaluate(node.a);
    if (node.op == ScalarOp::Cast) return cast(a, node.type);
    const Scalar b = node.b >= 0 ? evaluate(node.b) : Scalar{};
    switch (a.type) {
      case ComputeType::F32:
        return real_operation<float>(node.op, type, static_cast<float>(a.real),
                                     static_cast<float>(b.real));
      case ComputeType::F64:
        return real_operation<double>(node.op, type, a.real, b.real);
      case ComputeType::I64:
        return integer_operation(node.op, type, a.integer, b.integer);
      default:
        return bool_operation(node.op, type, a.integer != 0, b.integer != 0);
    }
  }

  static Scalar cast(const Scalar& a, ElementType to) {
    auto holder = TensorData::make(to, {});
    if (a.type == ComputeType::F32 || a.type == ComputeType::F64) {
      holder->set(0, a.real);
    } else {
      holder->set_integer(0, a.integer);
    }
    return load(*holder, 0);
  }

  const ir::Kernel& kernel_;
  Find find_;
  std::vector<int64_t> point_, steps_;
  Scalar previous_ = {};
};

}  // namespace solar::exec::reference

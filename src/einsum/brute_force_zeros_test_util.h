#pragma once
// For brute force: which elements surely are zero, and what is made of inputs.

#include <set>

#include "einsum/brute_force_points_test_util.h"

namespace solar::einsum {

class BruteForceZeros : public BruteForcePoints {
 public:
  /// Whether a tensor is made without any input, in all runs.
  bool generated(ir::TensorId id) const { return !made_of_inputs_.contains(id); }

 protected:
  BruteForceZeros(const ir::Program& program, std::vector<exec::ControlPath> paths,
                  PortValues port_values)
      : BruteForcePoints(program, std::move(paths), std::move(port_values)),
        zeros_(unrolled_.values().size()) {
    for (const Instance& instance : unrolled_.instances()) {
      instance_ = &instance;
      compute_known();
      mark_zeros();
      mark_made_of_inputs();
    }
  }

  bool is_zero_element(ir::TensorId tensor, int64_t at) const {
    return zeros_[value(tensor)].contains(at);
  }

  bool surely_zero(const ir::Kernel& kernel, int32_t id, const Values& atoms) const {
    const Node& n = node(kernel, id);
    switch (n.op) {
      case Op::Constant:
        return constant_zero(kernel, id);
      case Op::Index: {
        bool data = false;
        each_data_read(kernel.atoms, kernel.linears[static_cast<size_t>(n.reference)],
                       [&](const ir::Atom&) { data = true; });
        return !data && integer(kernel, id, atoms) == 0;
      }
      case Op::Load: {
        const ir::Access& access = kernel.accesses[static_cast<size_t>(n.reference)];
        return is_zero_element(access.tensor, element(access.tensor, access.subscripts, atoms));
      }
      case Op::Mul:
        return surely_zero(kernel, n.a, atoms) || surely_zero(kernel, n.b, atoms);
      case Op::Neg:
      case Op::Abs:
      case Op::Sign:
      case Op::Expm1:
      case Op::Log1p:
      case Op::Sqrt:
      case Op::Sin:
      case Op::Tan:
      case Op::Tanh:
      case Op::Sinh:
      case Op::Asin:
      case Op::Atan:
      case Op::Erf:
      case Op::Floor:
      case Op::Ceil:
      case Op::Round:
      case Op::Trunc:
      case Op::Cast:
      case Op::Div:
        return surely_zero(kernel, n.a, atoms);
      case Op::Less:
      case Op::LessEqual:
      case Op::Greater:
      case Op::GreaterEqual:
      case Op::Equal:
      case Op::NotEqual:
      case Op::And:
      case Op::Or:
      case Op::Not:
        return truth(kernel, id, atoms) == false;
      case Op::Max:
      case Op::Min:
        return (constant_zero(kernel, n.b) && surely_zero(kernel, n.a, atoms)) ||
               (constant_zero(kernel, n.a) && surely_zero(kernel, n.b, atoms));
      case Op::Select: {
        const auto condition = truth(kernel, n.a, atoms);
        if (condition) return surely_zero(kernel, *condition ? n.b : n.c, atoms);
        return surely_zero(kernel, n.b, atoms) && surely_zero(kernel, n.c, atoms);
      }
      default:
        return false;
    }
  }

  // What `init` and `else` see of an element: the target's loops, others at 0.
  Values at_target(const ir::Kernel& kernel, const Values& at) const {
    Values loops(kernel.loops.size(), 0);
    for (size_t axis = 0; axis < at.size(); ++axis)
      loops[static_cast<size_t>(kernel.target_loops[axis])] = at[axis];
    return complete(kernel.atoms, loops);
  }

 private:
  std::set<int64_t>& zeros(ir::TensorId id) { return zeros_[value(id)]; }

  void mark_made_of_inputs() {
    if (inputs_.empty()) {
      for (const ir::TensorId port : program_.ports) {
        inputs_.insert(unrolled_.final_value(port));
        made_of_inputs_.insert(port);
      }
    }
    std::vector<size_t> read = instance_->parts;
    std::vector<size_t> made;
    if (instance_->statement != nullptr) {
      for (const ir::TensorId id : ir::inputs_of(*instance_->statement)) read.push_back(value(id));
      for (const ir::TensorId id : ir::outputs_of(*instance_->statement)) made.push_back(value(id));
    } else if (!instance_->parts.empty()) {
      made.push_back(instance_->stacked);
    }
    if (std::none_of(read.begin(), read.end(), [&](size_t v) { return inputs_.contains(v); }))
      return;
    for (const size_t one : made) {
      inputs_.insert(one);
      made_of_inputs_.insert(unrolled_.values()[one]);
    }
  }

  void mark_zeros() {
    if (instance_->statement == nullptr) {
      each_stacked([&](size_t part, int64_t from, int64_t to) {
        if (zeros_[part].contains(from)) zeros_[instance_->stacked].insert(to);
      });
      return;
    }
    const auto& body = instance_->statement->body;
    if (const auto* view = std::get_if<ir::View>(&body)) {
      each(program_.tensor(view->output).shape, [&](const Values& at) {
        const int64_t from = element(view->input, view->subscripts, complete(view->atoms, at));
        if (is_zero_element(view->input, from)) zeros(view->output).insert(flat(view->output, at));
      });
    } else if (const auto* concat = std::get_if<ir::Concat>(&body)) {
      each_part(*concat, [&](ir::TensorId input, int64_t from, int64_t to) {
        if (is_zero_element(input, from)) zeros(concat->output).insert(to);
      });
    } else if (const auto* scatter = std::get_if<ir::Scatter>(&body)) {
      mark_zeros(*scatter);
    } else if (const auto* kernel = std::get_if<ir::Kernel>(&body)) {
      mark_zeros(*kernel);
    }
  }

  void mark_zeros(const ir::Scatter& scatter) {
    const ir::TensorId output = scatter.nest.output;
    const bool sets = scatter.nest.reduction == ir::Reduction::None;
    if (!sets && scatter.nest.reduction != ir::Reduction::Sum) return;
    for (int64_t i = 0; i < ir::element_count(program_.tensor(output).shape); ++i) {
      if (!scatter.base || is_zero_element(*scatter.base, i)) zeros(output).insert(i);
    }
    each_point(scatter.nest, [&](const Values& atoms) {
      if ((sets && scatter.base) || !surely_zero(scatter.nest, scatter.nest.value, atoms))
        zeros(output).erase(element(output, scatter.subscripts, atoms));
    });
  }

  void mark_zeros(const ir::Kernel& kernel) {
    const bool sum = kernel.reduction == ir::Reduction::Sum;
    if (kernel.reduction != ir::Reduction::None && !sum) return;
    if (!sum && !kernel.guards.empty() && kernel.otherwise < 0) return;
    auto& zeros = this->zeros(kernel.output);
    each(program_.tensor(kernel.output).shape, [&](const Values& at) {
      const Values atoms = at_target(kernel, at);
      if ((kernel.init < 0 || surely_zero(kernel, kernel.init, atoms)) &&
          (kernel.otherwise < 0 || surely_zero(kernel, kernel.otherwise, atoms)))
        zeros.insert(flat(kernel.output, at));
    });
    each_point(kernel, [&](const Values& atoms) {
      if (!surely_zero(kernel, kernel.value, atoms)) zeros.erase(target(kernel, atoms));
    });
  }

  std::set<size_t> inputs_ = {};  // values made of inputs
  std::set<ir::TensorId> made_of_inputs_ = {};
  std::vector<std::set<int64_t>> zeros_;  // per value: elements that surely are zero
};

}  // namespace solar::einsum

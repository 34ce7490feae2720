#pragma once
// The same counts by going through every point of every run of every statement with sets of
// elements: slow, and written without anything of the lifter. For programs of a few thousand
// points; no ordered loops.

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/checked.h"
#include "einsum/unrolled_test_util.h"
#include "ir/core.h"

namespace solar::einsum {

/// The elements of integer ports, for programs that read them in subscripts.
using PortValues = std::map<ir::TensorId, std::vector<int64_t>>;

class BruteForce {
 public:
  explicit BruteForce(const ir::Program& program, std::vector<exec::ControlPath> paths = {},
                      PortValues port_values = {})
      : program_(program),
        unrolled_(program, std::move(paths)),
        port_values_(std::move(port_values)),
        zeros_(unrolled_.values().size()),
        needed_(unrolled_.values().size()),
        useful_points_(unrolled_.statements().size()) {
    for (const Instance& instance : unrolled_.instances()) {
      instance_ = &instance;
      mark_zeros();
      mark_made_of_inputs();
    }
    for (const ir::TensorId output : program.outputs) need_all(unrolled_.final_value(output));
    for (size_t i = unrolled_.instances().size(); i-- > 0;) {
      instance_ = &unrolled_.instances()[i];
      trace(static_cast<int64_t>(i));
    }
  }

  const Unrolled& unrolled() const { return unrolled_; }
  /// Whether a tensor is made without any input, in all runs.
  bool generated(ir::TensorId id) const { return !made_of_inputs_.contains(id); }
  /// Elements of a port that the outputs need, by row-major index.
  const std::set<int64_t>& needed(ir::TensorId port) const {
    return needed_[unrolled_.final_value(port)];
  }
  /// Points of a kernel, in all its runs, that contribute to needed elements and are not
  /// structurally zero.
  int64_t useful_points(size_t statement) const {
    return static_cast<int64_t>(useful_points_[statement].size());
  }
  /// How many of them differ in their run or in the loops marked in `used`.
  int64_t useful_points(size_t statement, const std::vector<bool>& used) const {
    std::set<std::vector<int64_t>> projected;
    for (const auto& point : useful_points_[statement]) {
      std::vector<int64_t> kept = {point.back()};
      for (size_t i = 0; i < used.size(); ++i) kept.push_back(used[i] ? point[i] : 0);
      projected.insert(std::move(kept));
    }
    return static_cast<int64_t>(projected.size());
  }

 private:
  using Values = std::vector<int64_t>;
  using Node = ir::ScalarNode;
  using Op = ir::ScalarOp;

  static int64_t evaluate(const ir::Linear& value, const Values& atoms) {
    int64_t sum = value.constant;
    for (const ir::Term& term : value.terms)
      sum += term.coefficient * atoms[static_cast<size_t>(term.atom)];
    return sum;
  }

  static bool holds(const ir::Guard& guard, const Values& atoms) {
    const int64_t value = evaluate(guard.value, atoms);
    if (guard.kind == ir::Guard::Kind::NonNegative) return value >= 0;
    return (value == 0) == (guard.kind == ir::Guard::Kind::Zero);
  }

  Values complete(const std::vector<ir::Atom>& table, Values atoms) const {
    for (size_t i = atoms.size(); i < table.size(); ++i) {
      const ir::Atom& atom = table[i];
      std::vector<int64_t> operands;
      for (const ir::Linear& operand : atom.operands) operands.push_back(evaluate(operand, atoms));
      switch (atom.kind) {
        case ir::Atom::Kind::FloorDiv:
          atoms.push_back(floor_div(operands[0], atom.divisor));
          break;
        case ir::Atom::Kind::Mod:
          atoms.push_back(floor_mod(operands[0], atom.divisor));
          break;
        case ir::Atom::Kind::Min:
          atoms.push_back(*std::min_element(operands.begin(), operands.end()));
          break;
        case ir::Atom::Kind::Max:
          atoms.push_back(*std::max_element(operands.begin(), operands.end()));
          break;
        case ir::Atom::Kind::Select: {
          bool all = true;
          for (const ir::Guard& guard : atom.conditions) all = all && holds(guard, atoms);
          atoms.push_back(operands[all ? 0 : 1]);
          break;
        }
        case ir::Atom::Kind::Step:
          atoms.push_back(instance_->steps[static_cast<size_t>(atom.step)]);
          break;
        case ir::Atom::Kind::DataRead:
          atoms.push_back(
              port_values_.at(atom.tensor).at(static_cast<size_t>(flat(atom.tensor, operands))));
          break;
        default:
          atoms.push_back(0);
      }
    }
    return atoms;
  }

  size_t value(ir::TensorId id) const { return instance_->values.at(id); }

  // Calls visit(indices) for every index of `extents`, row-major.
  template <class Visit>
  static void each(const std::vector<int64_t>& extents, Visit visit) {
    Values at(extents.size(), 0);
    for (;;) {
      visit(at);
      size_t axis = extents.size();
      while (axis > 0 && ++at[axis - 1] == extents[axis - 1]) at[--axis] = 0;
      if (axis == 0) return;
    }
  }

  // `ranges`: ragged loops keep to them.
  template <class Visit>
  void each_point(const ir::Kernel& kernel, Visit visit, bool ranges = true) const {
    std::vector<int64_t> extents;
    for (const ir::Loop& loop : kernel.loops) extents.push_back(loop.extent);
    each(extents, [&](const Values& loops) {
      const Values atoms = complete(kernel.atoms, loops);
      for (size_t i = 0; i < loops.size(); ++i) {
        const auto& ragged = kernel.loops[i].ragged;
        if (!ragged || !ranges) continue;
        if (loops[i] < evaluate(ragged->begin, atoms) || loops[i] >= evaluate(ragged->end, atoms))
          return;
      }
      for (const ir::Guard& guard : kernel.guards) {
        if (!holds(guard, atoms)) return;
      }
      visit(atoms);
    });
  }

  int64_t flat(ir::TensorId tensor, const std::vector<int64_t>& at) const {
    int64_t index = 0;
    const auto& shape = program_.tensor(tensor).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) index = index * shape[axis] + at[axis];
    return index;
  }

  int64_t element(ir::TensorId tensor, const std::vector<ir::Linear>& subscripts,
                  const Values& atoms) const {
    std::vector<int64_t> at;
    for (const ir::Linear& subscript : subscripts) at.push_back(evaluate(subscript, atoms));
    return flat(tensor, at);
  }

  int64_t target(const ir::Kernel& kernel, const Values& atoms) const {
    std::vector<int64_t> at;
    for (const int32_t loop : kernel.target_loops) at.push_back(atoms[static_cast<size_t>(loop)]);
    return flat(kernel.output, at);
  }

  bool is_zero_element(ir::TensorId tensor, int64_t at) const {
    return zeros_[value(tensor)].contains(at);
  }
  bool is_needed(ir::TensorId tensor, int64_t at) const {
    return needed_[value(tensor)].contains(at);
  }
  void need(ir::TensorId tensor, int64_t at) { needed_[value(tensor)].insert(at); }
  void need_all(size_t value) {
    const ir::TensorId tensor = unrolled_.values()[value];
    for (int64_t i = 0; i < ir::element_count(program_.tensor(tensor).shape); ++i)
      needed_[value].insert(i);
  }

  static const Node& node(const ir::Kernel& kernel, int32_t id) {
    return kernel.nodes[static_cast<size_t>(id)];
  }

  static bool constant_zero(const ir::Kernel& kernel, int32_t id) {
    const Node& n = node(kernel, id);
    return n.op == Op::Constant && n.constant == 0 && n.integer == 0;
  }

  std::optional<int64_t> integer(const ir::Kernel& kernel, int32_t id, const Values& atoms) const {
    const Node& n = node(kernel, id);
    if (n.op == Op::Index) return evaluate(kernel.linears[static_cast<size_t>(n.reference)], atoms);
    if (n.op == Op::Cast && ir::is_integer(n.type)) return integer(kernel, n.a, atoms);
    if (n.op == Op::Constant && ir::is_integer(n.type)) return n.integer;
    return std::nullopt;
  }

  // Of a bool node, if indices alone decide it.
  std::optional<bool> truth(const ir::Kernel& kernel, int32_t id, const Values& atoms) const {
    const Node& n = node(kernel, id);
    if (n.op == Op::And || n.op == Op::Or) {
      const auto a = truth(kernel, n.a, atoms);
      const auto b = truth(kernel, n.b, atoms);
      const bool decides = n.op == Op::Or;
      if ((a && *a == decides) || (b && *b == decides)) return decides;
      return a && b ? std::optional(!decides) : std::nullopt;
    }
    if (n.op == Op::Not) {
      const auto a = truth(kernel, n.a, atoms);
      return a ? std::optional(!*a) : std::nullopt;
    }
    if (n.op < Op::Less || n.op > Op::NotEqual) return std::nullopt;
    const auto a = integer(kernel, n.a, atoms);
    const auto b = integer(kernel, n.b, atoms);
    if (!a || !b) return std::nullopt;
    switch (n.op) {
      case Op::Less:
        return *a < *b;
      case Op::LessEqual:
        return *a <= *b;
      case Op::Greater:
        return *a > *b;
      case Op::GreaterEqual:
        return *a >= *b;
      case Op::Equal:
        return *a == *b;
      default:
        return *a != *b;
    }
  }

  bool surely_zero(const ir::Kernel& kernel, int32_t id, const Values& atoms) const {
    const Node& n = node(kernel, id);
    switch (n.op) {
      case Op::Constant:
        return constant_zero(kernel, id);
      case Op::Load: {
        const ir::Access& access = kernel.accesses[static_cast<size_t>(n.reference)];
        return is_zero_element(access.tensor, element(access.tensor, access.subscripts, atoms));
      }
      case Op::Mul:
        return surely_zero(kernel, n.a, atoms) || surely_zero(kernel, n.b, atoms);
      case Op::Neg:
      case Op::Cast:
      case Op::Div:
      case Op::Tanh:
        return surely_zero(kernel, n.a, atoms);
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

  std::set<int64_t>& zeros(ir::TensorId id) { return zeros_[value(id)]; }

  // Elements of a stack and of its parts.
  template <class Visit>
  void each_stacked(Visit visit) const {
    if (instance_->parts.empty()) return;
    const ir::TensorId result = unrolled_.values()[instance_->stacked];
    const auto count = ir::element_count(program_.tensor(result).shape) /
                       static_cast<int64_t>(instance_->parts.size());
    for (size_t part = 0; part < instance_->parts.size(); ++part) {
      for (int64_t i = 0; i < count; ++i)
        visit(instance_->parts[part], i, static_cast<int64_t>(part) * count + i);
    }
  }

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
    if (kernel.init >= 0 && !constant_zero(kernel, kernel.init)) return;
    if (!kernel.guards.empty() && (sum ? kernel.otherwise >= 0 : true)) {
      if (kernel.otherwise < 0 || !constant_zero(kernel, kernel.otherwise)) return;
    }
    auto& zeros = this->zeros(kernel.output);
    for (int64_t i = 0; i < ir::element_count(program_.tensor(kernel.output).shape); ++i)
      zeros.insert(i);
    each_point(kernel, [&](const Values& atoms) {
      if (!surely_zero(kernel, kernel.value, atoms)) zeros.erase(target(kernel, atoms));
    });
  }

  template <class Visit>
  void each_part(const ir::Concat& concat, Visit visit) const {
    int64_t offset = 0;
    for (const ir::TensorId input : concat.inputs) {
      each(program_.tensor(input).shape, [&](const Values& at) {
        Values to = at;
        to[static_cast<size_t>(concat.axis)] += offset;
        visit(input, flat(input, at), flat(concat.output, to));
      });
      offset += program_.tensor(input).shape[static_cast<size_t>(concat.axis)];
    }
  }

  void read(const ir::Kernel& kernel, int32_t id, const Values& atoms) {
    if (id < 0) return;
    const Node& n = node(kernel, id);
    if (n.op == Op::Load) {
      const ir::Access& access = kernel.accesses[static_cast<size_t>(n.reference)];
      need(access.tensor, element(access.tensor, access.subscripts, atoms));
      for (const ir::Linear& subscript : access.subscripts) {
        for (const ir::Term& term : subscript.terms) {
          const ir::Atom& atom = kernel.atoms[static_cast<size_t>(term.atom)];
          if (atom.kind == ir::Atom::Kind::DataRead)
            need(atom.tensor, element(atom.tensor, atom.operands, atoms));
        }
      }
    }
    read(kernel, n.a, atoms);
    const auto condition = n.op == Op::Select ? truth(kernel, n.a, atoms) : std::nullopt;
    if (!condition || *condition) read(kernel, n.b, atoms);
    if (!condition || !*condition) read(kernel, n.c, atoms);
  }

  void trace(int64_t run) {
    for (size_t i = 0; i < instance_->results.size(); ++i) {
      // What is made of no input is a constant, once the way is known.
      const auto& sources = instance_->sources[i];
      const bool constant = std::all_of(sources.begin(), sources.end(), [&](size_t source) {
        return generated(unrolled_.values()[source]);
      });
      if (needed_[instance_->results[i]].empty() || constant) continue;
      for (const size_t condition : instance_->conditions) need_all(condition);
    }
    if (instance_->statement == nullptr) {
      each_stacked([&](size_t part, int64_t from, int64_t to) {
        if (needed_[instance_->stacked].contains(to)) needed_[part].insert(from);
      });
      return;
    }
    const auto& body = instance_->statement->body;
    if (const auto* view = std::get_if<ir::View>(&body)) {
      each(program_.tensor(view->output).shape, [&](const Values& at) {
        if (!is_needed(view->output, flat(view->output, at))) return;
        const Values atoms = complete(view->atoms, at);
        need(view->input, element(view->input, view->subscripts, atoms));
        need_data(view->atoms, atoms);
      });
    } else if (const auto* concat = std::get_if<ir::Concat>(&body)) {
      each_part(*concat, [&](ir::TensorId input, int64_t from, int64_t to) {
        if (is_needed(concat->output, to)) need(input, from);
      });
    } else if (const auto* sort = std::get_if<ir::Sort>(&body)) {
      trace(*sort);
    } else if (const auto* compact = std::get_if<ir::Compact>(&body)) {
      if (!needed_[value(compact->output)].empty() || !needed_[value(compact->count)].empty())
        need_all(value(compact->input));
    } else if (const auto* scatter = std::get_if<ir::Scatter>(&body)) {
      trace(run, *scatter);
    } else if (const auto* kernel = std::get_if<ir::Kernel>(&body)) {
      trace(run, *kernel);
    }
  }

  // A needed element needs its line of the input.
  void trace(const ir::Sort& sort) {
    const auto axis = static_cast<size_t>(sort.axis);
    each(program_.tensor(sort.values).shape, [&](Values at) {
      const int64_t to = flat(sort.values, at);
      if (!is_needed(sort.values, to) && !is_needed(sort.positions, to)) return;
      for (at[axis] = 0; at[axis] < program_.tensor(sort.input).shape[axis]; ++at[axis])
        need(sort.input, flat(sort.input, at));
    });
  }

  void trace(int64_t run, const ir::Scatter& scatter) {
    const ir::Kernel& nest = scatter.nest;
    const bool sets = nest.reduction == ir::Reduction::None;
    const bool skips_zeros = nest.reduction == ir::Reduction::Sum || (sets && !scatter.base);
    std::set<int64_t> reached;
    each_point(nest, [&](const Values& atoms) {
      const int64_t at = element(nest.output, scatter.subscripts, atoms);
      reached.insert(at);
      if (!is_needed(nest.output, at)) return;
      if (skips_zeros && surely_zero(nest, nest.value, atoms)) return;
      note_point(run, atoms);
      read(nest, nest.value, atoms);
      need_data(nest.atoms, atoms);
    });
    if (!scatter.base) return;
    for (const int64_t at : needed_[value(nest.output)]) {
      if (!sets || !reached.contains(at)) need(*scatter.base, at);
    }
  }

  // The index tensors that the atoms read at one point. Programs here use all of their atoms.
  void need_data(const std::vector<ir::Atom>& table, const Values& atoms) {
    for (const ir::Atom& atom : table) {
      if (atom.kind != ir::Atom::Kind::DataRead) continue;
      need(atom.tensor, element(atom.tensor, atom.operands, atoms));
    }
  }

  void note_point(int64_t run, Values atoms) {
    atoms.push_back(run);
    useful_points_[unrolled_.number_of(instance_->statement)].push_back(std::move(atoms));
  }

  void trace(int64_t run, const ir::Kernel& kernel) {
    const bool skips_zeros =
        kernel.reduction == ir::Reduction::None || kernel.reduction == ir::Reduction::Sum;
    const auto needs_range = [&](const Values& atoms, const ir::Linear& bound) {
      for (const ir::Term& term : bound.terms) {
        const ir::Atom& atom = kernel.atoms[static_cast<size_t>(term.atom)];
        if (atom.kind == ir::Atom::Kind::DataRead)
          need(atom.tensor, element(atom.tensor, atom.operands, atoms));
      }
    };
    each_point(
        kernel,
        [&](const Values& atoms) {
          for (const ir::Loop& loop : kernel.loops) {
            if (!loop.ragged || !is_needed(kernel.output, target(kernel, atoms))) continue;
            needs_range(atoms, loop.ragged->begin);
            needs_range(atoms, loop.ragged->end);
          }
        },
        false);
    std::set<int64_t> reached;
    each_point(kernel, [&](const Values& atoms) {
      const int64_t at = target(kernel, atoms);
      reached.insert(at);
      if (!is_needed(kernel.output, at)) return;
      if (skips_zeros && surely_zero(kernel, kernel.value, atoms)) return;
      note_point(run, atoms);
      read(kernel, kernel.value, atoms);
    });
    if (kernel.init < 0 && kernel.otherwise < 0) return;
    // Other loops at 0: only target loops matter here.
    each(program_.tensor(kernel.output).shape, [&](const Values& at) {
      const int64_t to = flat(kernel.output, at);
      if (!is_needed(kernel.output, to)) return;
      Values loops(kernel.loops.size(), 0);
      for (size_t axis = 0; axis < at.size(); ++axis)
        loops[static_cast<size_t>(kernel.target_loops[axis])] = at[axis];
      const Values atoms = complete(kernel.atoms, loops);
      if (reached.contains(to) || kernel.otherwise < 0) read(kernel, kernel.init, atoms);
      if (!reached.contains(to)) read(kernel, kernel.otherwise, atoms);
    });
  }

  const ir::Program& program_;
  Unrolled unrolled_;
  PortValues port_values_;
  const Instance* instance_ = nullptr;
  std::set<size_t> inputs_ = {};  // values made of inputs
  std::set<ir::TensorId> made_of_inputs_ = {};
  std::vector<std::set<int64_t>> zeros_;  // per value: elements that surely are zero
  std::vector<std::set<int64_t>> needed_;
  // Per statement: values of all atoms, the loops first, and the run.
  std::vector<std::vector<Values>> useful_points_;
};

}  // namespace solar::einsum

#pragma once
// For brute force: what indices are at one point of one run of a statement.

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "einsum/unrolled_test_util.h"
#include "ir/core.h"

namespace solar::einsum {

/// The elements of integer ports, for programs that read them in subscripts.
using PortValues = std::map<ir::TensorId, std::vector<int64_t>>;

class BruteForcePoints {
 public:
  const Unrolled& unrolled() const { return unrolled_; }

 protected:
  using Values = std::vector<int64_t>;
  using Node = ir::ScalarNode;
  using Op = ir::ScalarOp;

  BruteForcePoints(const ir::Program& program, std::vector<exec::ControlPath> paths,
                   PortValues port_values)
      : program_(program), unrolled_(program, std::move(paths)), known_(unrolled_.values().size()) {
    for (auto& [port, elements] : port_values)
      known_[unrolled_.final_value(port)] = std::move(elements);
  }

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
          atoms.push_back(known_[value(atom.tensor)].value().at(
              static_cast<size_t>(flat(atom.tensor, operands))));
          break;
        default:
          atoms.push_back(0);
      }
    }
    return atoms;
  }

  // Calls visit(atom) for every data read below `value`.
  template <class Visit>
  static void each_data_read(const std::vector<ir::Atom>& table, const ir::Linear& value,
                             const Visit& visit) {
    for (const ir::Term& term : value.terms) {
      const ir::Atom& atom = table[static_cast<size_t>(term.atom)];
      if (atom.kind == ir::Atom::Kind::DataRead) visit(atom);
      for (const ir::Linear& operand : atom.operands) each_data_read(table, operand, visit);
      for (const ir::Guard& guard : atom.conditions) each_data_read(table, guard.value, visit);
    }
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
    std::vector<const ir::Guard*> guards;
    for (const ir::Guard& guard : kernel.guards) guards.push_back(&guard);
    each_point(kernel, guards, ranges, visit);
  }

  template <class Visit>
  void each_point(const ir::Kernel& kernel, const std::vector<const ir::Guard*>& guards,
                  bool ranges, Visit visit) const {
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
      for (const ir::Guard* guard : guards) {
        if (!holds(*guard, atoms)) return;
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
    if (!ir::is_integer(n.type) || n.op < Op::Neg || n.op > Op::Mul) return std::nullopt;
    const auto a = integer(kernel, n.a, atoms);
    if (n.op == Op::Neg) return a ? std::optional(-*a) : std::nullopt;
    const auto b = n.b >= 0 ? integer(kernel, n.b, atoms) : std::nullopt;
    if (!a || !b) return std::nullopt;
    if (n.op == Op::Add) return *a + *b;
    if (n.op == Op::Sub) return *a - *b;
    return n.op == Op::Mul ? std::optional(*a * *b) : std::nullopt;
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
    if (n.op == Op::Constant) return n.integer != 0;
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

  // A scalar of integers and conditions, where all that it reads is known.
  std::optional<int64_t> scalar(const ir::Kernel& kernel, int32_t id, const Values& atoms) const {
    if (id < 0) return 0;
    const Node& n = node(kernel, id);
    const auto a = scalar(kernel, n.a, atoms);
    const auto b = scalar(kernel, n.b, atoms);
    const auto c = scalar(kernel, n.c, atoms);
    if (!a || !b || !c) return std::nullopt;
    switch (n.op) {
      case Op::Constant:
        return n.integer;
      case Op::Index:
        return evaluate(kernel.linears[static_cast<size_t>(n.reference)], atoms);
      case Op::Load: {
        const ir::Access& access = kernel.accesses[static_cast<size_t>(n.reference)];
        const auto& elements = known_[value(access.tensor)];
        if (!elements) return std::nullopt;
        return elements->at(static_cast<size_t>(element(access.tensor, access.subscripts, atoms)));
      }
      case Op::Add:
        return *a + *b;
      case Op::FloorDiv:
        return *b == 0 ? std::nullopt : std::optional(floor_div(*a, *b));
      case Op::Less:
        return *a < *b;
      case Op::Greater:
        return *a > *b;
      case Op::Equal:
        return *a == *b;
      case Op::Not:
        return !*a;
      case Op::And:
        return *a && *b;
      case Op::Or:
        return *a || *b;
      case Op::Select:
        return *a ? *b : *c;
      default:
        return std::nullopt;
    }
  }

  // Indices that a kernel computes of known ones, one by one.
  void compute_known() {
    const auto* kernel = instance_->statement == nullptr
                             ? nullptr
                             : std::get_if<ir::Kernel>(&instance_->statement->body);
    if (kernel == nullptr || kernel->reduction != ir::Reduction::None || !kernel->guards.empty())
      return;
    std::vector<int64_t> all(
        static_cast<size_t>(ir::element_count(program_.tensor(kernel->output).shape)));
    bool complete = !ir::is_float(program_.tensor(kernel->output).type);
    if (complete) {
      each_point(*kernel, [&](const Values& atoms) {
        const auto one = complete ? scalar(*kernel, kernel->value, atoms) : std::nullopt;
        complete = complete && one;
        if (one) all[static_cast<size_t>(target(*kernel, atoms))] = *one;
      });
    }
    if (complete) known_[value(kernel->output)] = std::move(all);
  }

  // Elements of a concat and of its parts.
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

  const ir::Program& program_;
  Unrolled unrolled_;
  const Instance* instance_ = nullptr;
  std::vector<std::optional<std::vector<int64_t>>> known_;  // per value: its integers
};

}  // namespace solar::einsum

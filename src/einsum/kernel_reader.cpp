#include "einsum/kernel_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "einsum/special_values.h"

namespace solar::einsum {

namespace {

using ir::ScalarNode;
using ir::ScalarOp;

constexpr int kMaximumVisits = 100'000;
constexpr size_t kMaximumClauses = 16;
constexpr int64_t kMaximumTree = 4096;

std::vector<int64_t> extents_of(const ProgramIndex& index, const ir::Kernel& kernel,
                                const std::vector<int32_t>& steps) {
  std::vector<int64_t> extents;
  for (const ir::Loop& loop : kernel.loops) extents.push_back(loop.extent);
  for (const int64_t extent : index.extents(steps)) extents.push_back(extent);
  return extents;
}

// Functions of one value that are 0 at 0; a quotient with dividend 0.
bool keeps_zero(ScalarOp op) {
  switch (op) {
    case ScalarOp::Div:
    case ScalarOp::Neg:
    case ScalarOp::Abs:
    case ScalarOp::Sign:
    case ScalarOp::Sqrt:
    case ScalarOp::Sin:
    case ScalarOp::Tan:
    case ScalarOp::Tanh:
    case ScalarOp::Sinh:
    case ScalarOp::Asin:
    case ScalarOp::Atan:
    case ScalarOp::Erf:
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Round:
    case ScalarOp::Trunc:
    case ScalarOp::Expm1:
    case ScalarOp::Log1p:
    case ScalarOp::Cast:
      return true;
    default:
      return false;
  }
}

// a or b, each a conjunction of clauses: every clause of one with every clause of the other.
Conditions either(const Conditions& a, const Conditions& b) {
  if (a.all.empty() || b.all.empty())
    return {{}, (a.all.empty() && a.exact) || (b.all.empty() && b.exact)};
  Conditions result{{}, a.exact && b.exact};
  for (const Constraint& x : a.all) {
    for (const Constraint& y : b.all) {
      if (x.set || y.set || result.all.size() == kMaximumClauses) {
        result.exact = false;
        continue;
      }
      Constraint both = x;
      both.support |= y.support;
      both.any_of.insert(both.any_of.end(), y.any_of.begin(), y.any_of.end());
      result.all.push_back(std::move(both));
    }
  }
  return result;
}

Conditions both(Conditions a, const Conditions& b) {
  a.all.insert(a.all.end(), b.all.begin(), b.all.end());
  a.exact = a.exact && b.exact;
  return a;
}

}  // namespace

KernelReader::KernelReader(const ProgramIndex& index, const ir::Kernel& kernel,
                           const std::vector<int32_t>& loops, const SpecialRegions& specials,
                           std::span<const Linear> targets)
    : kernel_(&kernel),
      loops_(&loops),
      specials_(&specials),
      nest_(extents_of(index, kernel, loops)) {
  std::vector<Linear> own;
  std::vector<Linear> steps;
  for (int32_t loop = 0; loop < nest_.loop_count(); ++loop) {
    (own.size() < kernel.loops.size() ? own : steps).push_back(single(loop));
  }
  const std::vector<Linear> map =
      nest_.import(kernel.atoms, own, index.step_values(loops, steps), [&](Nest& nest, Atom atom) {
        atom.operands = index.with_steps(atom.tensor, std::move(atom.operands), steps);
        return index.fold_data_read(nest, std::move(atom));
      });
  for (const ir::Access& access : kernel.accesses) {
    std::vector<Linear> subscripts;
    for (const Linear& subscript : access.subscripts)
      subscripts.push_back(nest_.import(subscript, map));
    plain_.push_back(subscripts);
    subscripts = index.with_steps(access.tensor, std::move(subscripts), steps);
    folded_.push_back(index.fold(nest_, access.tensor, std::move(subscripts)));
  }
  for (const Linear& linear : kernel.linears) linears_.push_back(nest_.import(linear, map));
  for (const Guard& guard : kernel.guards) guards_.push_back(nest_.import(guard, map));
  for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
    const auto& ragged = kernel.loops[loop].ragged;
    if (!ragged) continue;
    const Linear variable = single(static_cast<int32_t>(loop));
    const Linear last = add(nest_.import(ragged->end, map), constant(-1));
    ragged_guards_.push_back(
        {Guard::Kind::NonNegative, subtract(variable, nest_.import(ragged->begin, map))});
    ragged_guards_.push_back({Guard::Kind::NonNegative, subtract(last, variable)});
  }
  for (const int32_t loop : kernel.target_loops) target_.push_back(single(loop));
  for (const Linear& target : targets) target_.push_back(nest_.import(target, map));
  for (const Linear& step : steps) target_.push_back(step);
  for (const Linear& subscript : target_) {
    for (const ir::Term& term : subscript.terms) {
      if (!nest_.reads_data(single(term.atom))) target_mask_ |= nest_.support(term.atom);
    }
  }
  // Shared subexpressions can make a tree of exponential size.
  std::vector<int64_t> sizes;
  for (const ScalarNode& node : kernel.nodes) {
    int64_t size = 1;
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0)
        size = std::min(kMaximumTree + 1, size + sizes[static_cast<size_t>(operand)]);
    }
    sizes.push_back(size);
    small_.push_back(size <= kMaximumTree);
  }
}

std::optional<Linear> KernelReader::as_linear(int32_t id) const {
  if (!small_[static_cast<size_t>(id)]) return std::nullopt;
  const ScalarNode& n = node(id);
  switch (n.op) {
    case ScalarOp::Index:
      if (nest_.reads_data(linear(n.reference))) return std::nullopt;
      return linear(n.reference);
    case ScalarOp::Constant:
      if (!ir::is_integer(n.type)) return std::nullopt;
      return constant(n.integer);
    case ScalarOp::Cast:
      if (!ir::is_integer(n.type) || !ir::is_integer(node(n.a).type)) return std::nullopt;
      return as_linear(n.a);
    case ScalarOp::Neg:
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul: {
      if (!ir::is_integer(n.type)) return std::nullopt;
      const auto a = as_linear(n.a);
      if (!a) return std::nullopt;
      if (n.op == ScalarOp::Neg) return scale(*a, -1);
      const auto b = as_linear(n.b);
      if (!b) return std::nullopt;
      if (n.op == ScalarOp::Add) return add(*a, *b);
      if (n.op == ScalarOp::Sub) return subtract(*a, *b);
      if (a->terms.empty()) return scale(*b, a->constant);
      if (b->terms.empty()) return scale(*a, b->constant);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

bool KernelReader::is_constant(int32_t id, double value) const {
  const ScalarNode& n = node(id);
  if (n.op == ScalarOp::Cast) return is_constant(n.a, value);
  if (n.op != ScalarOp::Constant) return false;
  if (ir::is_float(n.type)) return n.constant == value;
  return static_cast<double>(n.integer) == value;
}

std::optional<Linear> KernelReader::compare(const ScalarNode& n, bool positive,
                                            Guard::Kind& kind) const {
  const auto a = as_linear(n.a);
  const auto b = as_linear(n.b);
  if (!a || !b) return std::nullopt;
  ScalarOp op = n.op;
  if (!positive) {
    switch (op) {
      case ScalarOp::Less:
        op = ScalarOp::GreaterEqual;
        break;
      case ScalarOp::LessEqual:
        op = ScalarOp::Greater;
        break;
      case ScalarOp::Greater:
        op = ScalarOp::LessEqual;
        break;
      case ScalarOp::GreaterEqual:
        op = ScalarOp::Less;
        break;
      case ScalarOp::Equal:
        op = ScalarOp::NotEqual;
        break;
      default:
        op = ScalarOp::Equal;
        break;
    }
  }
  kind = Guard::Kind::NonNegative;
  switch (op) {
    case ScalarOp::Less:
      return add(subtract(*b, *a), constant(-1));
    case ScalarOp::LessEqual:
      return subtract(*b, *a);
    case ScalarOp::Greater:
      return add(subtract(*a, *b), constant(-1));
    case ScalarOp::GreaterEqual:
      return subtract(*a, *b);
    default:
      kind = op == ScalarOp::Equal ? Guard::Kind::Zero : Guard::Kind::NonZero;
      return subtract(*a, *b);
  }
}

Conditions KernelReader::conditions(int32_t id, bool positive) const {
  if (!small_[static_cast<size_t>(id)]) return {{}, false};
  const ScalarNode& n = node(id);
  switch (n.op) {
    case ScalarOp::Not:
      return conditions(n.a, !positive);
    case ScalarOp::And:
    case ScalarOp::Or: {
      const Conditions a = conditions(n.a, positive);
      const Conditions b = conditions(n.b, positive);
      return (n.op == ScalarOp::And) == positive ? both(a, b) : either(a, b);
    }
    case ScalarOp::Cast:
      if (node(n.a).type == ir::ElementType::Bool) return conditions(n.a, positive);
      return {{}, false};
    case ScalarOp::Constant: {
      const bool value = ir::is_float(n.type) ? n.constant != 0 : n.integer != 0;
      return value == positive ? Conditions{} : Conditions{{Constraint{}}, true};
    }
    case ScalarOp::Load:
      return load_conditions(positive ? Special::Zero : Special::NonZero, id);
    case ScalarOp::Less:
    case ScalarOp::LessEqual:
    case ScalarOp::Greater:
    case ScalarOp::GreaterEqual:
    case ScalarOp::Equal:
    case ScalarOp::NotEqual: {
      Guard guard;
      auto value = compare(n, positive, guard.kind);
      if (!value) {
        Conditions result{{}, false};
        if ((n.op != ScalarOp::Equal && n.op != ScalarOp::NotEqual) || !is_constant(n.b, 0))
          return result;
        if ((n.op == ScalarOp::Equal) == positive) return nonzero_conditions(n.a);
        if (node(n.a).op == ScalarOp::Load) return load_conditions(Special::Zero, n.a);
        zero_conditions(n.a, result.all);
        return result;
      }
      guard.value = std::move(*value);
      return {{guard_constraint(nest_, std::move(guard))}, true};
    }
    default:
      return {{}, false};
  }
}

void KernelReader::select_conditions(Special special, const ScalarNode& select,
                                     std::vector<Constraint>& all, bool or_lowest) const {
  const double value = special == Special::Zero ? 0 : -std::numeric_limits<double>::infinity();
  const auto append = [&](std::vector<Constraint> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  const auto surely = [&](int32_t branch) {
    return is_constant(branch, value) || (or_lowest && is_lowest(branch));
  };
  const auto other = [&](int32_t branch) {
    return or_lowest ? required_for_other_than_lowest(branch)
                     : required_for_other_than(special, branch);
  };
  if (surely(select.c)) {
    append(conditions(select.a, true).all);
    append(other(select.b));
  } else if (surely(select.b)) {
    append(conditions(select.a, false).all);
    append(other(select.c));
  }
}

bool KernelReader::is_lowest(int32_t id) const {
  const ScalarNode& n = node(id);
  if (n.op == ScalarOp::Cast) return is_lowest(n.a);
  if (n.op == ScalarOp::Load) return specials_->lowest[ir::index(folded(n.reference).base)];
  return ir::is_float(n.type) && is_constant(id, lowest_number(n.type));
}

std::vector<Constraint> KernelReader::required_for_other_than_lowest(int32_t node) const {
  std::vector<Constraint> all;
  minus_infinity_conditions(node, all, true);
  return all;
}

/// When the loaded element is not surely `special`.
Conditions KernelReader::load_conditions(Special special, int32_t load) const {
  const FoldedAccess& access = folded(node(load).reference);
  const Region& region = specials_->without(special, access.base);
  const bool known = specials_->known[ir::index(access.base)];
  if (region.is_full()) return {{}, known};
  for (const Linear& subscript : access.subscripts) {
    if (nest_.reads_data(subscript) && !region.empty()) return {{}, false};
  }
  return {memberships(nest_, access.subscripts, region), known};
}

/// When the value is not surely different from 0.
Conditions KernelReader::nonzero_conditions(int32_t id) const {
  if (!small_[static_cast<size_t>(id)]) return {{}, false};
  const ScalarNode& n = node(id);
  switch (n.op) {
    case ScalarOp::Constant:
      return is_constant(id, 0) ? Conditions{} : Conditions{{Constraint{}}, true};
    case ScalarOp::Load:
      return load_conditions(Special::NonZero, id);
    case ScalarOp::Cast:
      // Other casts may round to 0.
      if (node(n.a).type == ir::ElementType::Bool) return nonzero_conditions(n.a);
      return {{}, false};
    default:
      return n.type == ir::ElementType::Bool ? conditions(id, false) : Conditions{{}, false};
  }
}

void KernelReader::zero_conditions(int32_t id, std::vector<Constraint>& all) const {
  if (!small_[static_cast<size_t>(id)]) return;
  const ScalarNode& n = node(id);
  if (keeps_zero(n.op)) return zero_conditions(n.a, all);
  switch (n.op) {
    case ScalarOp::Constant:
      if (is_constant(id, 0)) all.push_back(Constraint{});
      return;
    case ScalarOp::Load: {
      const Conditions found = load_conditions(Special::Zero, id);
      all.insert(all.end(), found.all.begin(), found.all.end());
      return;
    }
    case ScalarOp::Mul:
      zero_conditions(n.a, all);
      zero_conditions(n.b, all);
      return;
    case ScalarOp::Exp:
    case ScalarOp::Sigmoid:
      return minus_infinity_conditions(n.a, all);
    case ScalarOp::Max:
    case ScalarOp::Min:
      if (is_constant(n.b, 0)) zero_conditions(n.a, all);
      if (is_constant(n.a, 0)) zero_conditions(n.b, all);
      return;
    case ScalarOp::Select:
      return select_conditions(Special::Zero, n, all);
    case ScalarOp::Less:
    case ScalarOp::LessEqual:
    case ScalarOp::Greater:
    case ScalarOp::GreaterEqual:
    case ScalarOp::Equal:
    case ScalarOp::NotEqual:
    case ScalarOp::Not:
    case ScalarOp::And:
    case ScalarOp::Or: {
      const Conditions found = conditions(id, true);
      all.insert(all.end(), found.all.begin(), found.all.end());
      return;
    }
    default:
      return;
  }
}

void KernelReader::minus_infinity_conditions(int32_t id, std::vector<Constraint>& all,
                                             bool or_lowest) const {
  if (!small_[static_cast<size_t>(id)]) return;
  const ScalarNode& n = node(id);
  const auto positive_constant = [&](int32_t operand) {
    const ScalarNode& c = node(operand);
    return c.op == ScalarOp::Constant && ir::is_float(c.type) && c.constant > 0 &&
           std::isfinite(c.constant);
  };
  switch (n.op) {
    case ScalarOp::Constant:
      if (is_constant(id, -std::numeric_limits<double>::infinity())) all.push_back(Constraint{});
      return;
    case ScalarOp::Load: {
      const Conditions found = load_conditions(Special::MinusInfinity, id);
      all.insert(all.end(), found.all.begin(), found.all.end());
      return;
    }
    case ScalarOp::Add:
      minus_infinity_conditions(n.a, all, or_lowest);
      minus_infinity_conditions(n.b, all, or_lowest);
      return;
    case ScalarOp::Sub:
    case ScalarOp::Cast:
      return minus_infinity_conditions(n.a, all, or_lowest);
    case ScalarOp::Mul:
      if (positive_constant(n.b)) minus_infinity_conditions(n.a, all);
      if (positive_constant(n.a)) minus_infinity_conditions(n.b, all);
      return;
    case ScalarOp::Div:
      if (positive_constant(n.b)) minus_infinity_conditions(n.a, all);
      return;
    case ScalarOp::Log:
      return zero_conditions(n.a, all);
    case ScalarOp::Select:
      return select_conditions(Special::MinusInfinity, n, all, or_lowest);
    default:
      return;
  }
}

std::vector<Constraint> KernelReader::required_for_other_than(Special special, int32_t node) const {
  std::vector<Constraint> all;
  switch (special) {
    case Special::Zero:
      zero_conditions(node, all);
      break;
    case Special::MinusInfinity:
      minus_infinity_conditions(node, all);
      break;
    case Special::NonZero:
      all = nonzero_conditions(node).all;
      break;
  }
  return all;
}

void data_uses(const Nest& nest, const Linear& value, const std::vector<Constraint>& when,
               std::vector<Use>& uses) {
  if (!nest.reads_data(value)) return;
  std::vector<bool> needed(nest.atoms().size(), false);
  nest.collect_derived(value, needed);
  for (size_t i = 0; i < needed.size(); ++i) {
    const Atom& atom = nest.atoms()[i];
    if (needed[i] && atom.kind == Atom::Kind::DataRead)
      uses.push_back({{atom.tensor, atom.operands}, when});
  }
}

struct KernelReader::Visit {
  Uses uses = {};
  std::vector<bool> visited = {};  // nodes met under no condition
  int conditional_visits = 0;
  int data_choices = 0;  // branches chosen by data that we are in
};

void KernelReader::visit(int32_t id, const std::vector<Constraint>& when, Visit& state) const {
  if (id < 0) return;
  if (when.empty() && state.data_choices == 0) {
    if (state.visited[static_cast<size_t>(id)]) return;
    state.visited[static_cast<size_t>(id)] = true;
  } else if (++state.conditional_visits > kMaximumVisits) {
    state.uses.left_out = true;
    return;
  }
  const ScalarNode& n = node(id);
  if (n.op == ScalarOp::Load) {
    const FoldedAccess& access = folded(n.reference);
    state.uses.all.push_back({access, when, n.reference, state.data_choices > 0});
    for (const Linear& subscript : access.subscripts)
      data_uses(nest_, subscript, when, state.uses.all);
  }
  if (n.op == ScalarOp::Index) data_uses(nest_, linear(n.reference), when, state.uses.all);
  visit(n.a, when, state);
  if (n.op != ScalarOp::Select) {
    visit(n.b, when, state);
    visit(n.c, when, state);
    return;
  }
  const auto branch = [&](int32_t operand, bool positive) {
    const Conditions found = conditions(n.a, positive);
    std::vector<Constraint> inside = when;
    inside.insert(inside.end(), found.all.begin(), found.all.end());
    if (!found.exact) ++state.data_choices;
    visit(operand, inside, state);
    if (!found.exact) --state.data_choices;
  };
  branch(n.b, true);
  branch(n.c, false);
}

Uses KernelReader::uses(int32_t node) const {
  Visit state;
  state.visited.assign(kernel_->nodes.size(), false);
  visit(node, {}, state);
  // A read that always happens makes the conditional ones of the same elements superfluous.
  Uses result{{}, state.uses.left_out};
  const auto& all = state.uses.all;
  for (const Use& use : all) {
    const bool known = std::any_of(result.all.begin(), result.all.end(), [&](const Use& other) {
      return other.access == use.access && other.when == use.when;
    });
    const bool always = std::any_of(all.begin(), all.end(), [&](const Use& other) {
      return other.when.empty() && !other.chosen && other.access == use.access &&
             (!use.when.empty() || use.chosen);
    });
    if (!known && !always) result.all.push_back(use);
  }
  return result;
}

}  // namespace solar::einsum

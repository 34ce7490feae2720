// Where a kernel's value is surely zero or minus infinity, and where its conditions hold.

#include <algorithm>
#include <cmath>
#include <limits>

#include "einsum/kernel_reader.h"
#include "einsum/special_values.h"

namespace solar::einsum {

namespace {

using ir::ScalarNode;
using ir::ScalarOp;

constexpr size_t kMaximumClauses = 16;

/// No point satisfies it.
bool never_holds(const Constraint& constraint) {
  return constraint.any_of.empty() && constraint.set == nullptr;
}

// a or b, each a conjunction of clauses: every clause of one with every clause of the other.
Conditions either(const Conditions& a, const Conditions& b) {
  if (std::any_of(a.all.begin(), a.all.end(), never_holds)) return b;
  if (std::any_of(b.all.begin(), b.all.end(), never_holds)) return a;
  if (a.all.empty() || b.all.empty())
    return {{}, (a.all.empty() && a.exact) || (b.all.empty() && b.exact)};
  Conditions result{{}, a.exact && b.exact};
  for (const Constraint& x : a.all) {
    for (const Constraint& y : b.all) {
      if ((x.set && y.set) || result.all.size() == kMaximumClauses) {
        result.exact = false;
        continue;
      }
      Constraint both = x;
      if (y.set) {
        both.index = y.index;
        both.set = y.set;
      }
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

// A select is something else than `special` only where the branch that it takes is: (condition and
// b is) or (not condition and c is), clause by clause.
void KernelReader::select_conditions(Special special, const ScalarNode& select,
                                     std::vector<Constraint>& all, bool or_lowest) const {
  const auto branch = [&](int32_t id) -> Conditions {
    if (!or_lowest) return {required_for_other_than(special, id), false};
    if (is_lowest(id)) return {{Constraint{}}, true};
    return {required_for_other_than_lowest(id), false};
  };
  const Conditions b = branch(select.b);
  const Conditions c = branch(select.c);
  const auto append = [&](const Conditions& more) {
    all.insert(all.end(), more.all.begin(), more.all.end());
  };
  if (b.all.empty() && c.all.empty()) return;
  if (!c.all.empty()) append(either(conditions(select.a, true), c));
  if (!b.all.empty()) append(either(conditions(select.a, false), b));
  append(either(b, c));
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
    case ScalarOp::Index:
      if (auto index = as_linear(id))
        all.push_back(guard_constraint(nest_, {Guard::Kind::NonZero, std::move(*index)}));
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

bool KernelReader::leaves_out_factors(const std::vector<bool>& depends) const {
  std::vector<bool> reads;  // nodes that depend
  const auto is = [&](int32_t id) { return id >= 0 && reads[static_cast<size_t>(id)]; };
  const auto may_be_zero = [&](int32_t id) {
    return !required_for_other_than(Special::Zero, id).empty();
  };
  for (const ScalarNode& n : kernel_->nodes) {
    reads.push_back(n.op == ScalarOp::Load ? depends[ir::index(folded(n.reference).base)]
                                           : is(n.a) || is(n.b) || is(n.c));
    if (n.op != ScalarOp::Mul && n.op != ScalarOp::Div) continue;
    if (is(n.b) && may_be_zero(n.a)) return true;
    if (n.op == ScalarOp::Mul && is(n.a) && may_be_zero(n.b)) return true;
  }
  return false;
}

bool KernelReader::compares_integers(int32_t id) const {
  if (!small_[static_cast<size_t>(id)]) return false;
  const ScalarNode& n = node(id);
  switch (n.op) {
    case ScalarOp::Not:
    case ScalarOp::Cast:
      return compares_integers(n.a);
    case ScalarOp::And:
    case ScalarOp::Or:
      return compares_integers(n.a) || compares_integers(n.b);
    case ScalarOp::Less:
    case ScalarOp::LessEqual:
    case ScalarOp::Greater:
    case ScalarOp::GreaterEqual:
    case ScalarOp::Equal:
    case ScalarOp::NotEqual:
      return ir::is_integer(node(n.a).type);
    default:
      return false;
  }
}

bool KernelReader::is_zero_by_data(int32_t id, const std::vector<bool>& known) const {
  if (!small_[static_cast<size_t>(id)]) return false;
  const ScalarNode& n = node(id);
  if (n.op == ScalarOp::Load) return known[ir::index(folded(n.reference).base)];
  if (n.op == ScalarOp::Mul) return is_zero_by_data(n.a, known) || is_zero_by_data(n.b, known);
  if (n.type == ir::ElementType::Bool && n.op != ScalarOp::Constant)
    return compares_integers(id) && !conditions(id, true).exact;
  if (keeps_zero(n.op)) return is_zero_by_data(n.a, known);
  if (n.op != ScalarOp::Select) return false;
  const auto is_zero = [&](int32_t branch) {
    const auto required = required_for_other_than(Special::Zero, branch);
    return std::any_of(required.begin(), required.end(), never_holds);
  };
  return (is_zero(n.b) || is_zero(n.c)) && compares_integers(n.a) && !conditions(n.a, true).exact;
}

}  // namespace solar::einsum

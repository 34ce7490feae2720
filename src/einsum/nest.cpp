#include "einsum/nest.h"

#include <algorithm>

#include "base/checked.h"

namespace solar::einsum {

namespace {

constexpr int64_t kFar = int64_t{1} << 62;

int64_t clamp_far(__int128 value) {
  if (value > kFar) return kFar;
  if (value < -kFar) return -kFar;
  return static_cast<int64_t>(value);
}

}  // namespace

Nest::Nest(std::vector<int64_t> extents) : extents_(std::move(extents)) {
  for (int32_t loop = 0; loop < loop_count(); ++loop) {
    atoms_.push_back(Atom{});
    Facts facts;
    facts.support = loop_bit(loop);
    facts.range = {0, extent(loop) - 1};
    facts_.push_back(std::move(facts));
  }
}

LoopMask Nest::support(const Linear& value) const {
  LoopMask mask = 0;
  for (const ir::Term& term : value.terms) mask |= support(term.atom);
  return mask;
}

LoopMask Nest::derived_support(const Linear& value) const {
  LoopMask mask = 0;
  for (const ir::Term& term : value.terms) {
    if (term.atom >= loop_count()) mask |= support(term.atom);
  }
  return mask;
}

Range Nest::range(const Linear& value) const {
  __int128 low = value.constant;
  __int128 high = value.constant;
  for (const ir::Term& term : value.terms) {
    const Range atom = facts_[static_cast<size_t>(term.atom)].range;
    const __int128 a = static_cast<__int128>(term.coefficient) * atom.low;
    const __int128 b = static_cast<__int128>(term.coefficient) * atom.high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  return {clamp_far(low), clamp_far(high)};
}

bool Nest::reads_data(const Linear& value) const {
  return std::any_of(value.terms.begin(), value.terms.end(), [&](const ir::Term& term) {
    return facts_[static_cast<size_t>(term.atom)].data;
  });
}

bool Nest::loops_only(const Linear& value) const {
  return std::all_of(value.terms.begin(), value.terms.end(),
                     [&](const ir::Term& term) { return term.atom < loop_count(); });
}

Nest::Facts Nest::facts_of(const Atom& atom) const {
  Facts facts;
  const auto include = [&](const Linear& value) {
    facts.support |= support(value);
    facts.data = facts.data || reads_data(value);
  };
  for (const Linear& operand : atom.operands) include(operand);
  for (const Guard& condition : atom.conditions) include(condition.value);
  std::vector<Range> ranges;
  for (const Linear& operand : atom.operands) ranges.push_back(range(operand));
  switch (atom.kind) {
    case Atom::Kind::FloorDiv:
      facts.range = {solar::floor_div(ranges[0].low, atom.divisor),
                     solar::floor_div(ranges[0].high, atom.divisor)};
      break;
    case Atom::Kind::Mod:
      facts.range = {0, atom.divisor - 1};
      break;
    case Atom::Kind::Min:
    case Atom::Kind::Max:
    case Atom::Kind::Select: {
      Range all = ranges[0];
      for (const Range& range : ranges) {
        if (atom.kind == Atom::Kind::Min) {
          all = {std::min(all.low, range.low), std::min(all.high, range.high)};
        } else if (atom.kind == Atom::Kind::Max) {
          all = {std::max(all.low, range.low), std::max(all.high, range.high)};
        } else {
          all = {std::min(all.low, range.low), std::max(all.high, range.high)};
        }
      }
      facts.range = all;
      break;
    }
    case Atom::Kind::DataRead:
    case Atom::Kind::Loop:
    case Atom::Kind::Step:
      facts.range = {-kFar, kFar};
      facts.data = true;
      break;
  }
  return facts;
}

Linear Nest::add_atom(Atom atom) {
  for (size_t i = extents_.size(); i < atoms_.size(); ++i) {
    if (atoms_[i] == atom) return single(static_cast<int32_t>(i));
  }
  Facts facts = facts_of(atom);
  if (facts.range.low == facts.range.high) return constant(facts.range.low);
  facts_.push_back(std::move(facts));
  atoms_.push_back(std::move(atom));
  return single(static_cast<int32_t>(atoms_.size() - 1));
}

std::optional<Nest::Split> Nest::split_multiples(const Linear& value, int64_t divisor) const {
  for (const ir::Term& term : value.terms) {
    const int64_t factor = term.coefficient;
    if (factor <= 1 || factor >= divisor || divisor % factor != 0) continue;
    Split split{factor, constant(solar::floor_div(value.constant, factor)),
                constant(floor_mod(value.constant, factor))};
    for (const ir::Term& other : value.terms) {
      const Linear atom = single(other.atom);
      if (other.coefficient % factor == 0) {
        split.multiples = add(split.multiples, scale(atom, other.coefficient / factor));
      } else {
        split.rest = add(split.rest, scale(atom, other.coefficient));
      }
    }
    const Range rest = range(split.rest);
    if (rest.low >= 0 && rest.high < factor) return split;
  }
  return std::nullopt;
}

Linear Nest::floor_div(const Linear& value, int64_t divisor) {
  if (divisor == 1) return value;
  Linear whole{{}, solar::floor_div(value.constant, divisor)};
  Linear rest{{}, floor_mod(value.constant, divisor)};
  for (const ir::Term& term : value.terms) {
    if (term.coefficient % divisor == 0) {
      whole = add(whole, scale(single(term.atom), term.coefficient / divisor));
    } else {
      rest = add(rest, scale(single(term.atom), term.coefficient));
    }
  }
  if (rest.terms.empty()) return whole;
  const Range reach = range(rest);
  const int64_t low = solar::floor_div(reach.low, divisor);
  if (low == solar::floor_div(reach.high, divisor)) return add(whole, constant(low));
  if (const auto split = split_multiples(rest, divisor)) {
    return add(whole, floor_div(split->multiples, divisor / split->factor));
  }
  if (const int32_t inner = sole_atom(rest); inner >= loop_count()) {
    const Atom& atom = this->atom(inner);
    if (atom.kind == Atom::Kind::FloorDiv) {
      if (const auto product = checked_mul(atom.divisor, divisor)) {
        return add(whole, floor_div(Linear(atom.operands[0]), *product));
      }
    }
    if (atom.kind == Atom::Kind::Mod && atom.divisor % divisor == 0) {
      const Linear operand = atom.operands[0];
      const int64_t outer = atom.divisor / divisor;
      return add(whole, mod(floor_div(operand, divisor), outer));
    }
  }
  return add(whole,
             add_atom({.kind = Atom::Kind::FloorDiv, .operands = {rest}, .divisor = divisor}));
}

Linear Nest::mod(const Linear& value, int64_t divisor) {
  if (divisor == 1) return {};
  Linear rest{{}, floor_mod(value.constant, divisor)};
  for (const ir::Term& term : value.terms) {
    if (term.coefficient % divisor == 0) continue;
    rest = add(rest, scale(single(term.atom), term.coefficient));
  }
  const Range reach = range(rest);
  const int64_t low = solar::floor_div(reach.low, divisor);
  if (low == solar::floor_div(reach.high, divisor)) {
    return add(rest, constant(wrapping_mul(-low, divisor)));
  }
  if (const auto split = split_multiples(rest, divisor)) {
    return add(scale(mod(split->multiples, divisor / split->factor), split->factor), split->rest);
  }
  if (const int32_t inner = sole_atom(rest); inner >= loop_count()) {
    const Atom& atom = this->atom(inner);
    if (atom.kind == Atom::Kind::Mod && atom.divisor % divisor == 0) {
      return mod(Linear(atom.operands[0]), divisor);
    }
  }
  return add_atom({.kind = Atom::Kind::Mod, .operands = {rest}, .divisor = divisor});
}

Linear Nest::join_divisions(Linear value) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Term& term : value.terms) {
      if (term.atom < loop_count() || atom(term.atom).kind != Atom::Kind::Mod) continue;
      const Atom& remainder = atom(term.atom);
      // The quotient of e by d is floor(e/d); of floor(g/a) by d it is floor(g/(a*d)).
      Linear dividend = remainder.operands[0];
      int64_t divisor = remainder.divisor;
      if (const int32_t inner = sole_atom(dividend);
          inner >= loop_count() && atom(inner).kind == Atom::Kind::FloorDiv) {
        divisor = wrapping_mul(divisor, atom(inner).divisor);
        dividend = atom(inner).operands[0];
      }
      const auto partner =
          std::find_if(value.terms.begin(), value.terms.end(), [&](const ir::Term& other) {
            if (other.atom < loop_count()) return false;
            const Atom& quotient = atom(other.atom);
            return quotient.kind == Atom::Kind::FloorDiv && quotient.divisor == divisor &&
                   quotient.operands[0] == dividend &&
                   other.coefficient == wrapping_mul(term.coefficient, remainder.divisor);
          });
      if (partner == value.terms.end()) continue;
      const Linear whole = scale(remainder.operands[0], term.coefficient);
      value = add(without(without(value, term.atom), partner->atom), whole);
      changed = true;
      break;
    }
  }
  return value;
}

Linear Nest::import(const Linear& value, const std::vector<Linear>& map) const {
  Linear result = constant(value.constant);
  for (const ir::Term& term : value.terms) {
    result = add(result, scale(map[static_cast<size_t>(term.atom)], term.coefficient));
  }
  return join_divisions(std::move(result));
}

Guard Nest::import(const Guard& guard, const std::vector<Linear>& map) const {
  return {guard.kind, import(guard.value, map)};
}

std::vector<Linear> Nest::import(const std::vector<Atom>& table, const std::vector<Linear>& first,
                                 const std::vector<Linear>& steps, const DataReader& data_reader) {
  std::vector<Linear> map = first;
  for (size_t i = first.size(); i < table.size(); ++i) {
    Atom atom = table[i];
    for (Linear& operand : atom.operands) operand = import(operand, map);
    for (Guard& condition : atom.conditions) condition = import(condition, map);
    switch (atom.kind) {
      case Atom::Kind::FloorDiv:
        map.push_back(floor_div(atom.operands[0], atom.divisor));
        break;
      case Atom::Kind::Mod:
        map.push_back(mod(atom.operands[0], atom.divisor));
        break;
      case Atom::Kind::DataRead:
        map.push_back(data_reader ? data_reader(*this, std::move(atom))
                                  : add_atom(std::move(atom)));
        break;
      case Atom::Kind::Step:
        map.push_back(steps[static_cast<size_t>(atom.step)]);
        break;
      default:
        map.push_back(add_atom(std::move(atom)));
    }
  }
  return map;
}

void Nest::set_values(int32_t atom, IndexValues values, std::vector<int64_t> shape) {
  facts_[static_cast<size_t>(atom)].values = std::move(values);
  facts_[static_cast<size_t>(atom)].shape = std::move(shape);
}

bool Nest::has_values_for(const Linear& value) const {
  std::vector<bool> needed(atoms_.size(), false);
  collect_derived(value, needed);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && atoms_[i].kind == Atom::Kind::DataRead && !facts_[i].values) return false;
  }
  return true;
}

int64_t Nest::evaluate(const Linear& value, const std::vector<int64_t>& values) {
  int64_t sum = value.constant;
  for (const ir::Term& term : value.terms) {
    sum = wrapping_add(sum, wrapping_mul(term.coefficient, values[static_cast<size_t>(term.atom)]));
  }
  return sum;
}

bool Nest::holds(const Guard& guard, const std::vector<int64_t>& values) {
  const int64_t value = evaluate(guard.value, values);
  switch (guard.kind) {
    case Guard::Kind::NonNegative:
      return value >= 0;
    case Guard::Kind::Zero:
      return value == 0;
    case Guard::Kind::NonZero:
      return value != 0;
  }
  return false;
}

int64_t Nest::evaluate_atom(int32_t id, const std::vector<int64_t>& values) const {
  const Atom& atom = this->atom(id);
  const auto operand = [&](size_t i) { return evaluate(atom.operands[i], values); };
  switch (atom.kind) {
    case Atom::Kind::Loop:
    case Atom::Kind::Step:  // import puts its value in its place
      return values[static_cast<size_t>(id)];
    case Atom::Kind::FloorDiv:
      return solar::floor_div(operand(0), atom.divisor);
    case Atom::Kind::Mod:
      return floor_mod(operand(0), atom.divisor);
    case Atom::Kind::Min:
    case Atom::Kind::Max: {
      int64_t best = operand(0);
      for (size_t i = 1; i < atom.operands.size(); ++i) {
        best =
            atom.kind == Atom::Kind::Min ? std::min(best, operand(i)) : std::max(best, operand(i));
      }
      return best;
    }
    case Atom::Kind::Select: {
      const bool all = std::all_of(atom.conditions.begin(), atom.conditions.end(),
                                   [&](const Guard& guard) { return holds(guard, values); });
      return operand(all ? 0 : 1);
    }
    case Atom::Kind::DataRead: {
      const Facts& facts = facts_[static_cast<size_t>(id)];
      if (!facts.values) return 0;
      int64_t index = 0;
      for (size_t axis = 0; axis < atom.operands.size(); ++axis) {
        index = wrapping_add(wrapping_mul(index, facts.shape[axis]), operand(axis));
      }
      const auto at = static_cast<size_t>(index);
      return index >= 0 && at < facts.values->size() ? (*facts.values)[at] : 0;
    }
  }
  return 0;
}

void Nest::collect_derived(const Linear& value, std::vector<bool>& needed) const {
  for (const ir::Term& term : value.terms) {
    const auto id = static_cast<size_t>(term.atom);
    if (term.atom < loop_count() || needed[id]) continue;
    needed[id] = true;
    for (const Linear& operand : atoms_[id].operands) collect_derived(operand, needed);
    for (const Guard& condition : atoms_[id].conditions) collect_derived(condition.value, needed);
  }
}

}  // namespace solar::einsum

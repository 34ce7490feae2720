#include "ir/verify/range.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"

namespace solar::ir {
namespace {

int64_t clamp_unbounded(std::optional<int64_t> value, bool positive) {
  if (!value) return positive ? kUnbounded : -kUnbounded;
  return std::clamp(*value, -kUnbounded, kUnbounded);
}

int64_t scaled(int64_t factor, int64_t value) {
  if (factor == 0 || value == 0) return 0;
  return clamp_unbounded(checked_mul(factor, value), (factor > 0) == (value > 0));
}

// An unknown bound stays unknown whatever is added to it.
int64_t sum_low(int64_t a, int64_t b) {
  return a <= -kUnbounded || b <= -kUnbounded ? -kUnbounded
                                              : std::clamp(a + b, -kUnbounded, kUnbounded);
}
int64_t sum_high(int64_t a, int64_t b) {
  return a >= kUnbounded || b >= kUnbounded ? kUnbounded
                                            : std::clamp(a + b, -kUnbounded, kUnbounded);
}
Interval divided(const Interval& inner, int64_t divisor) {
  return {inner.low <= -kUnbounded ? -kUnbounded : floor_div(inner.low, divisor),
          inner.high >= kUnbounded ? kUnbounded : floor_div(inner.high, divisor)};
}

/// Products of two small Linears' numbers cannot overflow.
bool small(const Linear& value) {
  const auto fits = [](int64_t x) { return x > -(int64_t{1} << 31) && x < (int64_t{1} << 31); };
  return fits(value.constant) && std::all_of(value.terms.begin(), value.terms.end(),
                                             [&](const Term& t) { return fits(t.coefficient); });
}

int64_t coefficient_of(const Linear& value, int32_t atom) {
  for (const Term& term : value.terms) {
    if (term.atom == atom) return term.coefficient;
  }
  return 0;
}

constexpr int64_t kSmallNest = 4096;

}  // namespace

Linear combine(const Linear& a, int64_t factor_a, const Linear& b, int64_t factor_b) {
  Linear result;
  result.constant = a.constant * factor_a + b.constant * factor_b;
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    Term term;
    if (j == b.terms.end() || (i != a.terms.end() && i->atom < j->atom)) {
      term = {i->atom, i->coefficient * factor_a};
      ++i;
    } else if (i == a.terms.end() || j->atom < i->atom) {
      term = {j->atom, j->coefficient * factor_b};
      ++j;
    } else {
      term = {i->atom, i->coefficient * factor_a + j->coefficient * factor_b};
      ++i;
      ++j;
    }
    if (term.coefficient != 0) result.terms.push_back(term);
  }
  return result;
}

RangeProver::RangeProver(const std::vector<Loop>& loops, const std::vector<Atom>& atoms,
                         const std::vector<Guard>& conditions, const std::vector<Step>& steps)
    : loops_(loops), atoms_(atoms), conditions_(conditions), steps_(steps) {
  for (size_t i = loops.size(); i < atoms.size(); ++i) {
    if (atoms[i].kind == Atom::Kind::Step) step_atoms_.push_back(static_cast<int32_t>(i));
  }
}

const std::string& RangeProver::variable_name(size_t variable) const {
  if (variable < loops_.size()) return loops_[variable].name;
  return step(atoms_[static_cast<size_t>(step_atoms_[variable - loops_.size()])]).name;
}

int64_t RangeProver::extent(size_t variable) const {
  if (variable < loops_.size()) return loops_[variable].extent;
  return step(atoms_[static_cast<size_t>(step_atoms_[variable - loops_.size()])]).extent;
}

Interval RangeProver::atom_range(int32_t id, int depth,
                                 const std::vector<Guard>& conditions) const {
  const Atom& atom = atoms_[static_cast<size_t>(id)];
  switch (atom.kind) {
    case Atom::Kind::Loop:
      return {0, loops_[static_cast<size_t>(id)].extent - 1};
    case Atom::Kind::FloorDiv: {
      const Interval inner = range(atom.operands[0], depth - 1, conditions);
      return divided(inner, atom.divisor);
    }
    case Atom::Kind::Mod: {
      const Interval inner = range(atom.operands[0], depth - 1, conditions);
      if (inner.low >= 0 && inner.high < atom.divisor) return inner;
      return {0, atom.divisor - 1};
    }
    case Atom::Kind::Min:
    case Atom::Kind::Max: {
      Interval result = range(atom.operands[0], depth - 1, conditions);
      for (size_t i = 1; i < atom.operands.size(); ++i) {
        const Interval next = range(atom.operands[i], depth - 1, conditions);
        if (atom.kind == Atom::Kind::Min) {
          result = {std::min(result.low, next.low), std::min(result.high, next.high)};
        } else {
          result = {std::max(result.low, next.low), std::max(result.high, next.high)};
        }
      }
      return result;
    }
    case Atom::Kind::Select: {
      std::vector<Guard> taken = conditions;
      taken.insert(taken.end(), atom.conditions.begin(), atom.conditions.end());
      const Interval a = range(atom.operands[0], depth - 1, taken);
      std::vector<Guard> otherwise = conditions;
      if (atom.conditions.size() == 1 && atom.conditions[0].kind == Guard::Kind::NonNegative) {
        // not (v >= 0) is -v - 1 >= 0
        Linear negated = combine(atom.conditions[0].value, -1, {}, 0);
        negated.constant -= 1;
        otherwise.push_back({Guard::Kind::NonNegative, negated});
      }
      const Interval b = range(atom.operands[1], depth - 1, otherwise);
      if (a.low > a.high) return b;
      if (b.low > b.high) return a;
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    case Atom::Kind::Step:
      return {0, step(atom).extent - 1};
    case Atom::Kind::DataRead:
      return {-kUnbounded, kUnbounded};
  }
  return {-kUnbounded, kUnbounded};
}

Interval RangeProver::plain_range(int32_t atom) const {
  while (plain_ranges_.size() <= static_cast<size_t>(atom)) {  // operands come before their atom
    plain_ranges_.push_back(atom_range(static_cast<int32_t>(plain_ranges_.size()), 0, {}));
  }
  return plain_ranges_[static_cast<size_t>(atom)];
}

Interval RangeProver::plain(const Linear& value, int depth,
                            const std::vector<Guard>& conditions) const {
  Interval total = {std::clamp(value.constant, -kUnbounded, kUnbounded),
                    std::clamp(value.constant, -kUnbounded, kUnbounded)};
  for (const Term& term : value.terms) {
    const Atom::Kind kind = atoms_[static_cast<size_t>(term.atom)].kind;
    const bool variable = kind == Atom::Kind::Loop || kind == Atom::Kind::Step;
    const Interval inner =
        depth > 0 || variable ? atom_range(term.atom, depth, conditions) : plain_range(term.atom);
    const int64_t a = scaled(term.coefficient, inner.low);
    const int64_t b = scaled(term.coefficient, inner.high);
    total = {sum_low(total.low, std::min(a, b)), sum_high(total.high, std::max(a, b))};
  }
  return total;
}

int64_t RangeProver::lower_by_guards(const Linear& value, int64_t low, int depth,
                                     const std::vector<Guard>& conditions) const {
  if (depth <= 1 || !small(value)) return low;
  const auto use =
      [&](const Linear& guard) {  // guard >= 0 holds: value >= value - k guard for k > 0
        if (!small(guard)) return;
        for (const Term& term : guard.terms) {
          const int64_t mine = coefficient_of(value, term.atom);
          if (mine == 0 || (mine > 0) != (term.coefficient > 0)) continue;
          const int64_t p = std::abs(mine);
          const int64_t q = std::abs(term.coefficient);
          const Linear rest = combine(value, q, guard, -p);
          const int64_t bound = range(rest, depth - 1, conditions).low;
          if (bound > -kUnbounded) low = std::max(low, -floor_div(-bound, q));
        }
      };
  for (const Guard& guard : conditions) {
    if (guard.kind == Guard::Kind::NonZero) continue;
    use(guard.value);
    if (guard.kind == Guard::Kind::Zero) use(combine(guard.value, -1, {}, 0));
  }
  return low;
}

Interval RangeProver::range(const Linear& value, int depth,
                            const std::vector<Guard>& conditions) const {
  Interval result = plain(value, depth, conditions);
  if (depth <= 1 || value.terms.empty() || conditions.empty()) return result;
  result.low = lower_by_guards(value, result.low, depth, conditions);
  const Linear negated = combine(value, -1, {}, 0);
  result.high = -lower_by_guards(negated, -result.high, depth, conditions);
  return result;
}

bool RangeProver::mark(int32_t id, std::vector<bool>& loops) const {
  const Atom& atom = atoms_[static_cast<size_t>(id)];
  if (atom.kind == Atom::Kind::Loop) {
    loops[static_cast<size_t>(id)] = true;
    return true;
  }
  if (atom.kind == Atom::Kind::Step) {
    const auto at = std::find(step_atoms_.begin(), step_atoms_.end(), id);
    loops[loops_.size() + static_cast<size_t>(at - step_atoms_.begin())] = true;
    return true;
  }
  if (atom.kind == Atom::Kind::DataRead) return false;
  for (const Linear& operand : atom.operands) {
    if (!mark(operand, loops)) return false;
  }
  for (const Guard& guard : atom.conditions) {
    if (!mark(guard.value, loops)) return false;
  }
  return true;
}

bool RangeProver::mark(const Linear& value, std::vector<bool>& loops) const {
  return std::all_of(value.terms.begin(), value.terms.end(),
                     [&](const Term& term) { return mark(term.atom, loops); });
}

std::optional<std::vector<bool>> RangeProver::loops_of(const Linear& value) const {
  std::vector<bool> loops(variables(), false);
  if (!mark(value, loops)) return std::nullopt;
  return loops;
}

std::optional<RangeProver::Exact> RangeProver::enumerate(const Linear& value, int64_t limit) const {
  auto involved = loops_of(value);
  if (!involved) return std::nullopt;
  // Guards that share a loop couple their loops; repeat until nothing is added. In a small nest all
  // guards count, so that one which never holds anywhere is seen.
  int64_t all_points = 1;
  for (size_t i = 0; i < variables(); ++i) {
    all_points = checked_mul(all_points, extent(i)).value_or(INT64_MAX);
  }
  std::vector<const Guard*> active;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Guard& guard : conditions_) {
      if (std::find(active.begin(), active.end(), &guard) != active.end()) continue;
      const auto of_guard = loops_of(guard);
      if (!of_guard) return std::nullopt;
      bool shares = all_points <= kSmallNest || guard.value.terms.empty();
      for (size_t i = 0; i < variables(); ++i)
        shares = shares || ((*of_guard)[i] && (*involved)[i]);
      if (!shares) continue;
      for (size_t i = 0; i < variables(); ++i) (*involved)[i] = (*involved)[i] || (*of_guard)[i];
      active.push_back(&guard);
      grown = true;
    }
  }
  int64_t points = 1;
  for (size_t i = 0; i < variables(); ++i) {
    if (!(*involved)[i]) continue;
    const auto product = checked_mul(points, extent(i));
    if (!product || *product > limit) return std::nullopt;
    points = *product;
  }
  Exact exact;
  exact.interval = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  std::vector<int64_t> point(variables(), 0);
  std::vector<int64_t> values;
  for (int64_t n = 0; n < points; ++n) {
    atom_values(atoms_, point, values);
    if (std::all_of(active.begin(), active.end(),
                    [&](const Guard* g) { return holds(*g, values); })) {
      const int64_t at = evaluate(value, values);
      if (at < exact.interval.low) {
        exact.interval.low = at;
        exact.low_point = point;
      }
      if (at > exact.interval.high) {
        exact.interval.high = at;
        exact.high_point = point;
      }
    }
    for (size_t i = variables(); i-- > 0;) {
      if (!(*involved)[i]) continue;
      if (++point[i] < extent(i)) break;
      point[i] = 0;
    }
  }
  return exact;
}

std::vector<int64_t> atom_values(const std::vector<Atom>& atoms,
                                 const std::vector<int64_t>& point) {
  std::vector<int64_t> values;
  atom_values(atoms, point, values);
  return values;
}

void atom_values(const std::vector<Atom>& atoms, const std::vector<int64_t>& point,
                 std::vector<int64_t>& values) {
  values.assign(atoms.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < atoms.size(); ++i) {
    const Atom& atom = atoms[i];
    switch (atom.kind) {
      case Atom::Kind::Loop:
      case Atom::Kind::Step:
        values[i] = point[next++];
        break;
      case Atom::Kind::FloorDiv:
        values[i] = floor_div(evaluate(atom.operands[0], values), atom.divisor);
        break;
      case Atom::Kind::Mod:
        values[i] = floor_mod(evaluate(atom.operands[0], values), atom.divisor);
        break;
      case Atom::Kind::Min:
      case Atom::Kind::Max: {
        values[i] = evaluate(atom.operands[0], values);
        for (size_t k = 1; k < atom.operands.size(); ++k) {
          const int64_t next = evaluate(atom.operands[k], values);
          values[i] =
              atom.kind == Atom::Kind::Min ? std::min(values[i], next) : std::max(values[i], next);
        }
        break;
      }
      case Atom::Kind::Select: {
        const bool taken = std::all_of(atom.conditions.begin(), atom.conditions.end(),
                                       [&](const Guard& g) { return holds(g, values); });
        values[i] = evaluate(atom.operands[taken ? 0 : 1], values);
        break;
      }
      case Atom::Kind::DataRead:
        break;
    }
  }
}

int64_t evaluate(const Linear& value, const std::vector<int64_t>& atoms) {
  int64_t result = value.constant;
  for (const Term& term : value.terms) {
    result += term.coefficient * atoms[static_cast<size_t>(term.atom)];
  }
  return result;
}

bool holds(const Guard& guard, const std::vector<int64_t>& atoms) {
  const int64_t value = evaluate(guard.value, atoms);
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

}  // namespace solar::ir

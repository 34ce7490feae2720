// Images of loop domains under subscripts.

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "einsum/domain.h"

namespace solar::einsum {

namespace {

constexpr int64_t kMaximumSteps = int64_t{1} << 24;

// Some loops and the set of their values: a group of the domain, or one free loop.
struct Unit {
  std::vector<int32_t> loops;
  SharedRunSet set;
  bool free = false;
};

// Axes whose subscripts depend on common units.
struct Component {
  std::vector<int32_t> axes;
  std::vector<size_t> units;
};

// {factor * a + b : a in set, b in base}; nullopt if that needs too many steps.
std::optional<RunSet> minkowski(const RunSet& base, const RunSet& set, int64_t factor) {
  if (factor == 0 || base.empty() || set.empty()) return base;
  const int64_t step = factor < 0 ? -factor : factor;
  const bool merges = base.runs().size() == 1 && step <= base.count();
  std::vector<Run> runs;
  const auto shift = [&](int64_t low, int64_t high) {
    for (const Run run : base.runs()) runs.push_back({run.begin + low, run.end + high});
  };
  int64_t steps = 0;
  for (const Run run : set.runs()) {
    if (merges || step == 1) {
      const int64_t a = factor * run.begin;
      const int64_t b = factor * (run.end - 1);
      shift(std::min(a, b), std::max(a, b));
      steps += static_cast<int64_t>(base.runs().size());
    } else {
      const auto shifts =
          checked_mul(run.end - run.begin, static_cast<int64_t>(base.runs().size()));
      if (!shifts || *shifts > kMaximumSteps - steps) return std::nullopt;
      steps += *shifts;
      for (int64_t value = run.begin; value < run.end; ++value)
        shift(factor * value, factor * value);
    }
    if (steps > kMaximumSteps) return std::nullopt;
  }
  return RunSet::from_runs(std::move(runs));
}

// The values of a derived atom over free loops, for the forms that have a closed form.
std::optional<RunSet> box_values(const Nest& nest, const Linear& value);

std::optional<RunSet> atom_values(const Nest& nest, int32_t id) {
  if (id < nest.loop_count()) return RunSet::interval(0, nest.extent(id));
  const Atom& atom = nest.atom(id);
  if (atom.kind != Atom::Kind::FloorDiv && atom.kind != Atom::Kind::Mod) return std::nullopt;
  const auto operand = box_values(nest, atom.operands[0]);
  if (!operand) return std::nullopt;
  std::vector<Run> runs;
  for (const Run run : operand->runs()) {
    const int64_t first = floor_div(run.begin, atom.divisor);
    const int64_t last = floor_div(run.end - 1, atom.divisor);
    if (atom.kind == Atom::Kind::FloorDiv) {
      runs.push_back({first, last + 1});
    } else if (last - first > 1 || run.end - run.begin >= atom.divisor) {
      return RunSet::interval(0, atom.divisor);
    } else {
      const int64_t begin = floor_mod(run.begin, atom.divisor);
      const int64_t end = floor_mod(run.end - 1, atom.divisor) + 1;
      if (first == last) {
        runs.push_back({begin, end});
      } else {
        runs.push_back({begin, atom.divisor});
        runs.push_back({0, end});
      }
    }
  }
  return RunSet::from_runs(std::move(runs));
}

std::optional<RunSet> box_values(const Nest& nest, const Linear& value) {
  std::vector<ir::Term> terms = value.terms;
  LoopMask seen = 0;
  for (const ir::Term& term : terms) {
    if (nest.support(term.atom) & seen) return std::nullopt;
    seen |= nest.support(term.atom);
  }
  std::sort(terms.begin(), terms.end(), [](const ir::Term& a, const ir::Term& b) {
    return std::abs(a.coefficient) < std::abs(b.coefficient);
  });
  RunSet sum = RunSet::interval(value.constant, value.constant + 1);
  for (const ir::Term& term : terms) {
    const auto values = atom_values(nest, term.atom);
    if (!values) return std::nullopt;
    auto next = minkowski(sum, *values, term.coefficient);
    if (!next) return std::nullopt;
    sum = std::move(*next);
  }
  return sum;
}

// Enumerates units point by point, the last one row by row.
class Walk {
 public:
  Walk(const Nest& nest, std::vector<const Unit*> units, const Linear& index, int64_t universe)
      : nest_(nest),
        units_(std::move(units)),
        index_(index),
        values_(nest.atoms().size(), 0),
        builder_(universe) {
    choose_inner();
    std::vector<bool> needed(nest.atoms().size(), false);
    nest.collect_derived(index, needed);
    const LoopMask inner = loop_bit(inner_loop_);
    for (size_t atom = 0; atom < needed.size(); ++atom) {
      if (!needed[atom]) continue;
      const auto id = static_cast<int32_t>(atom);
      (nest.support(id) & inner ? pointwise_atoms_ : row_atoms_).push_back(id);
    }
    factor_ = coefficient(index, inner_loop_);
  }

  Found run() {
    walk(0);
    const bool complete = !out_of_steps_ && !builder_.truncated();
    return {builder_.finish(), complete};
  }

 private:
  // Rows run along the last loop of the last unit: best where that loop is long and enters
  // linearly.
  void choose_inner() {
    const LoopMask derived = nest_.derived_support(index_);
    size_t best = 0;
    int64_t best_length = -1;
    for (size_t i = 0; i < units_.size(); ++i) {
      const int32_t loop = units_[i]->loops.back();
      const int64_t length = derived & loop_bit(loop) ? 0 : nest_.extent(loop);
      if (length > best_length) best = i;
      best_length = std::max(best_length, length);
    }
    std::swap(units_[best], units_.back());
    inner_loop_ = units_.back()->loops.back();
  }

  bool spend(int64_t steps) {
    steps_ += steps;
    out_of_steps_ = out_of_steps_ || steps_ > kMaximumSteps || builder_.truncated();
    return !out_of_steps_;
  }

  // Sets the loops of `unit`, except the last if `outer_only`, from a row-major index.
  void place(const Unit& unit, int64_t at, bool outer_only) {
    for (size_t i = unit.loops.size() - (outer_only ? 1 : 0); i-- > 0;) {
      const int64_t extent = nest_.extent(unit.loops[i]);
      values_[static_cast<size_t>(unit.loops[i])] = at % extent;
      at /= extent;
    }
  }

  void walk(size_t at) {
    const Unit& unit = *units_[at];
    const bool last = at + 1 == units_.size();
    const int64_t row = nest_.extent(inner_loop_);
    for (const Run run : unit.set->runs()) {
      for (int64_t value = run.begin; value < run.end;) {
        if (!spend(1)) return;
        if (last) {
          const int64_t begin = value % row;
          const int64_t end = std::min(row, begin + run.end - value);
          place(unit, value / row, true);
          emit(begin, end);
          value += end - begin;
        } else {
          place(unit, value, false);
          walk(at + 1);
          ++value;
        }
      }
    }
  }

  void emit(int64_t begin, int64_t end) {
    int64_t& inner = values_[static_cast<size_t>(inner_loop_)];
    inner = begin;
    for (const int32_t atom : row_atoms_) {
      values_[static_cast<size_t>(atom)] = nest_.evaluate_atom(atom, values_);
    }
    if (!pointwise_atoms_.empty()) {
      for (inner = begin; inner < end; ++inner) {
        if (!spend(1)) return;
        for (const int32_t atom : pointwise_atoms_) {
          values_[static_cast<size_t>(atom)] = nest_.evaluate_atom(atom, values_);
        }
        const int64_t index = Nest::evaluate(index_, values_);
        builder_.add(index, index + 1);
      }
      return;
    }
    const int64_t first = Nest::evaluate(index_, values_);
    const int64_t length = end - begin;
    if (factor_ == 0) {
      builder_.add(first, first + 1);
    } else if (factor_ == 1) {
      builder_.add(first, first + length);
    } else if (factor_ == -1) {
      builder_.add(first - length + 1, first + 1);
    } else {
      if (!spend(length)) return;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t index = first + i * factor_;
        builder_.add(index, index + 1);
      }
    }
  }

  const Nest& nest_;
  std::vector<const Unit*> units_;
  const Linear& index_;
  std::vector<int64_t> values_;
  RunSetBuilder builder_;
  int32_t inner_loop_ = 0;
  int64_t factor_ = 0;
  std::vector<int32_t> row_atoms_ = {};
  std::vector<int32_t> pointwise_atoms_ = {};
  int64_t steps_ = 0;
  bool out_of_steps_ = false;
};

std::vector<Unit> units_of(const Nest& nest, const Region& domain, LoopMask used) {
  std::vector<Unit> units;
  LoopMask grouped = 0;
  for (const RegionGroup& group : domain.groups()) {
    LoopMask mask = 0;
    for (const int32_t loop : group.axes) mask |= loop_bit(loop);
    grouped |= mask;
    if (mask & used) units.push_back({group.axes, group.set, false});
  }
  for (int32_t loop = 0; loop < nest.loop_count(); ++loop) {
    if ((used & loop_bit(loop)) == 0 || (grouped & loop_bit(loop)) != 0) continue;
    units.push_back({{loop}, nullptr, true});
  }
  return units;
}

std::vector<Component> components_of(const std::vector<LoopMask>& supports,
                                     const std::vector<Unit>& units) {
  std::vector<Component> components;
  for (size_t axis = 0; axis < supports.size(); ++axis) {
    if (supports[axis] == 0) continue;
    Component joined{{static_cast<int32_t>(axis)}, {}};
    for (size_t unit = 0; unit < units.size(); ++unit) {
      for (const int32_t loop : units[unit].loops) {
        if (!(supports[axis] & loop_bit(loop))) continue;
        joined.units.push_back(unit);
        break;
      }
    }
    std::erase_if(components, [&](const Component& other) {
      const bool touches = std::any_of(other.units.begin(), other.units.end(), [&](size_t unit) {
        return std::find(joined.units.begin(), joined.units.end(), unit) != joined.units.end();
      });
      if (!touches) return false;
      joined.axes.insert(joined.axes.end(), other.axes.begin(), other.axes.end());
      for (const size_t unit : other.units) {
        if (std::find(joined.units.begin(), joined.units.end(), unit) == joined.units.end()) {
          joined.units.push_back(unit);
        }
      }
      return true;
    });
    components.push_back(std::move(joined));
  }
  return components;
}

// The loops of a group are exactly the axes' subscripts, in order: the image is the set itself.
bool is_identity(const Nest& nest, const Unit& unit, const std::vector<int32_t>& axes,
                 const std::vector<Linear>& subscripts, const std::vector<int64_t>& shape) {
  if (unit.loops.size() != axes.size()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    if (sole_atom(subscripts[axis]) != unit.loops[i]) return false;
    if (shape[axis] != nest.extent(unit.loops[i])) return false;
  }
  return true;
}

}  // namespace

Region image(const Nest& nest, const Region& domain, const std::vector<Linear>& subscripts,
             const std::vector<int64_t>& shape, const std::vector<bool>& whole) {
  if (domain.empty()) return Region::none(shape);
  Region result = Region::full(shape);
  if (!domain.exact()) result.mark_inexact();
  std::vector<LoopMask> supports(shape.size(), 0);
  LoopMask used = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!whole.empty() && whole[axis]) continue;
    supports[axis] = nest.support(subscripts[axis]);
    used |= supports[axis];
    if (supports[axis] != 0) continue;
    const int64_t at = subscripts[axis].constant;
    result.restrict({static_cast<int32_t>(axis)}, RunSet::interval(at, at + 1));
  }
  std::vector<Unit> units = units_of(nest, domain, used);
  for (Component& component : components_of(supports, units)) {
    const auto axes = preferred_order(component.axes, shape);
    if (component.units.size() == 1 &&
        is_identity(nest, units[component.units[0]], axes, subscripts, shape)) {
      const Unit& unit = units[component.units[0]];
      if (!unit.free) result.restrict(axes, unit.set);
      continue;
    }
    const auto strides = strides_of(axes, shape);
    Linear index;
    for (size_t i = 0; i < axes.size(); ++i) {
      index = add(index, scale(subscripts[static_cast<size_t>(axes[i])], strides[i]));
    }
    index = nest.join_divisions(std::move(index));
    const bool box = std::all_of(component.units.begin(), component.units.end(),
                                 [&](size_t unit) { return units[unit].free; });
    if (box) {
      if (auto values = box_values(nest, index)) {
        const RunSet universe = RunSet::interval(0, extent_product(axes, shape));
        result.restrict(axes, intersect(*values, universe));
        continue;
      }
    }
    std::vector<const Unit*> walked;
    for (const size_t at : component.units) {
      Unit& unit = units[at];
      if (unit.free) {
        unit.set = std::make_shared<const RunSet>(RunSet::interval(0, nest.extent(unit.loops[0])));
      }
      walked.push_back(&unit);
    }
    Found found = Walk(nest, std::move(walked), index, extent_product(axes, shape)).run();
    if (!found.complete) result.mark_inexact();
    result.restrict(axes, std::move(found.set));
  }
  return result;
}

}  // namespace solar::einsum

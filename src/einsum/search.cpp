// Enumeration of constrained loop points: depth first, the last loop as intervals.

#include <algorithm>

#include "base/checked.h"
#include "einsum/domain.h"

namespace solar::einsum {

namespace {

constexpr int64_t kMaximumSteps = int64_t{1} << 24;

int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

class Search {
 public:
  Search(const Nest& nest, const std::vector<int32_t>& loops,
         const std::vector<Constraint>& constraints)
      : nest_(nest),
        loops_(loops),
        strides_(strides_of(loops, nest.extents())),
        values_(nest.atoms().size(), 0),
        levels_(loops.size()),
        builder_(extent_product(loops, nest.extents())) {
    place_atoms(constraints);
    place_constraints(constraints);
  }

  Found run() {
    descend(0, 0);
    const bool complete = !out_of_steps_ && !builder_.truncated();
    return {builder_.finish(), complete};
  }

 private:
  struct Level {
    std::vector<int32_t> atoms = {};                  // derived atoms that become known here
    std::vector<const Constraint*> constraints = {};  // constraints that can be tested here
  };
  struct LinearTest {  // a constraint on the last loop x: coefficient * x + rest
    const Constraint* constraint = nullptr;
    int64_t coefficient = 0;
    Linear rest = {};
  };

  size_t level_of(LoopMask support) const {
    size_t level = 0;
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (support & loop_bit(loops_[i])) level = i;
    }
    return level;
  }

  void place_atoms(const std::vector<Constraint>& constraints) {
    std::vector<bool> needed(nest_.atoms().size(), false);
    for (const Constraint& constraint : constraints) {
      for (const Guard& guard : constraint.any_of) nest_.collect_derived(guard.value, needed);
      nest_.collect_derived(constraint.index, needed);
    }
    for (size_t atom = 0; atom < needed.size(); ++atom) {
      if (!needed[atom]) continue;
      const auto id = static_cast<int32_t>(atom);
      levels_[level_of(nest_.support(id))].atoms.push_back(id);
    }
  }

  void place_constraints(const std::vector<Constraint>& constraints) {
    const size_t last = loops_.size() - 1;
    const int32_t inner = loops_[last];
    for (const Constraint& constraint : constraints) {
      const size_t level = level_of(constraint.support);
      const size_t alternatives = constraint.any_of.size() + (constraint.set ? 1 : 0);
      if (level == last && alternatives == 1) {
        const Linear& value = constraint.set ? constraint.index : constraint.any_of[0].value;
        const int64_t factor = coefficient(value, inner);
        const bool linear = factor != 0 && !(nest_.derived_support(value) & loop_bit(inner));
        if (linear && (!constraint.set || factor == 1 || factor == -1)) {
          linear_.push_back({&constraint, factor, without(value, inner)});
          continue;
        }
      }
      levels_[level].constraints.push_back(&constraint);
    }
  }

  bool test(const Constraint& constraint) const {
    if (constraint.set && constraint.set->contains(Nest::evaluate(constraint.index, values_)))
      return true;
    return std::any_of(constraint.any_of.begin(), constraint.any_of.end(),
                       [&](const Guard& guard) { return Nest::holds(guard, values_); });
  }

  bool enter(const Level& level) {
    for (const int32_t atom : level.atoms) {
      values_[static_cast<size_t>(atom)] = nest_.evaluate_atom(atom, values_);
    }
    return std::all_of(level.constraints.begin(), level.constraints.end(),
                       [&](const Constraint* constraint) { return test(*constraint); });
  }

  bool spend(int64_t steps) {
    steps_ += steps;
    out_of_steps_ = out_of_steps_ || steps_ > kMaximumSteps || builder_.truncated();
    return !out_of_steps_;
  }

  void descend(size_t level, int64_t offset) {
    if (level + 1 == loops_.size()) return sweep(offset);
    const auto loop = static_cast<size_t>(loops_[level]);
    for (int64_t value = 0; value < nest_.extents()[loop]; ++value) {
      if (!spend(1)) return;
      values_[loop] = value;
      if (enter(levels_[level])) descend(level + 1, wrapping_add(offset, value * strides_[level]));
    }
  }

  // The last loop: intervals by the linear tests, then the others point by point.
  void sweep(int64_t offset) {
    const int32_t inner = loops_.back();
    intervals_.assign(1, {0, nest_.extent(inner)});
    for (const LinearTest& test : linear_) {
      narrow(test);
      if (intervals_.empty()) return;
    }
    const Level& level = levels_.back();
    const bool pointwise = !level.constraints.empty();
    for (const Run interval : intervals_) {
      if (!pointwise) {
        builder_.add(offset + interval.begin, offset + interval.end);
        continue;
      }
      for (int64_t value = interval.begin; value < interval.end; ++value) {
        if (!spend(1)) return;
        values_[static_cast<size_t>(inner)] = value;
        if (enter(level)) builder_.add(offset + value, offset + value + 1);
      }
    }
  }

  void clip(int64_t begin, int64_t end) {
    std::vector<Run> kept;
    for (const Run run : intervals_) {
      const Run part{std::max(run.begin, begin), std::min(run.end, end)};
      if (part.begin < part.end) kept.push_back(part);
    }
    intervals_ = std::move(kept);
  }

  void narrow(const LinearTest& test) {
    const int64_t rest = Nest::evaluate(test.rest, values_);
    if (test.constraint->set) return narrow_to_set(*test.constraint->set, test.coefficient, rest);
    switch (test.constraint->any_of[0].kind) {
      case Guard::Kind::NonNegative:
        if (test.coefficient > 0) return clip(ceil_div(-rest, test.coefficient), INT64_MAX);
        return clip(INT64_MIN, floor_div(rest, -test.coefficient) + 1);
      case Guard::Kind::Zero: {
        if (floor_mod(rest, test.coefficient) != 0) return intervals_.clear();
        const int64_t at = floor_div(-rest, test.coefficient);
        return clip(at, at + 1);
      }
      case Guard::Kind::NonZero: {
        if (floor_mod(rest, test.coefficient) != 0) return;
        const int64_t at = floor_div(-rest, test.coefficient);
        std::vector<Run> kept;
        for (const Run run : intervals_) {
          if (run.begin < std::min(run.end, at)) kept.push_back({run.begin, std::min(run.end, at)});
          if (std::max(run.begin, at + 1) < run.end)
            kept.push_back({std::max(run.begin, at + 1), run.end});
        }
        intervals_ = std::move(kept);
      }
    }
  }

  // Keeps x with sign * x + rest in `set`.
  void narrow_to_set(const RunSet& set, int64_t sign, int64_t rest) {
    std::vector<Run> kept;
    for (const Run run : intervals_) {
      const int64_t low = sign > 0 ? rest + run.begin : rest - run.end + 1;
      const int64_t high = low + (run.end - run.begin);
      for (auto at = set.first_ending_after(low); at != set.runs().end() && at->begin < high;
           ++at) {
        const int64_t begin = std::max(at->begin, low);
        const int64_t end = std::min(at->end, high);
        kept.push_back(sign > 0 ? Run{begin - rest, end - rest}
                                : Run{rest - end + 1, rest - begin + 1});
      }
    }
    spend(static_cast<int64_t>(kept.size()));
    if (sign < 0) std::reverse(kept.begin(), kept.end());
    if (sign < 0 && intervals_.size() > 1) {
      std::sort(kept.begin(), kept.end(), [](Run a, Run b) { return a.begin < b.begin; });
    }
    intervals_ = std::move(kept);
  }

  const Nest& nest_;
  const std::vector<int32_t>& loops_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> values_;
  std::vector<Level> levels_;
  std::vector<LinearTest> linear_ = {};
  std::vector<Run> intervals_ = {};
  RunSetBuilder builder_;
  int64_t steps_ = 0;
  bool out_of_steps_ = false;
};

}  // namespace

Found search(const Nest& nest, const std::vector<int32_t>& loops,
             const std::vector<Constraint>& constraints) {
  return Search(nest, loops, constraints).run();
}

}  // namespace solar::einsum

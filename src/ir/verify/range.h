#pragma once
// Intervals of index expressions over a nest, using the guards that hold there. Private to ir/.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/core.h"

namespace solar::ir {

struct Interval {
  int64_t low = 0;
  int64_t high = 0;
};

/// Values beyond this are treated as unknown.
inline constexpr int64_t kUnbounded = int64_t{1} << 60;

/// What runs: the loops of a nest, then the variables of the repeats around it that its atoms name
/// (kind Step), in the atoms' order. Points and sets of variables are vectors in this order.
class RangeProver {
 public:
  /// `conditions` hold at every point considered. The references must outlive the prover.
  RangeProver(const std::vector<Loop>& loops, const std::vector<Atom>& atoms,
              const std::vector<Guard>& conditions, const std::vector<Step>& steps);

  /// An interval that contains every value; a superset (never too small).
  Interval range(const Linear& value) const { return range(value, kDepth, conditions_); }

  size_t variables() const { return loops_.size() + step_atoms_.size(); }
  const std::string& variable_name(size_t variable) const;
  int64_t extent(size_t variable) const;

  /// Exact bounds by enumeration of the variables involved, with points where they are reached;
  /// nothing if there are more than `limit` points, or data is read. Empty interval (low > high):
  /// no point satisfies the guards.
  struct Exact {
    Interval interval = {};
    std::vector<int64_t> low_point = {};
    std::vector<int64_t> high_point = {};
  };
  std::optional<Exact> enumerate(const Linear& value, int64_t limit) const;

  /// The variables that `value` depends on, through its atoms; nothing if it reads data.
  std::optional<std::vector<bool>> loops_of(const Linear& value) const;
  std::optional<std::vector<bool>> loops_of(const Guard& guard) const {
    return loops_of(guard.value);
  }

 private:
  static constexpr int kDepth = 3;
  Interval range(const Linear& value, int depth, const std::vector<Guard>& conditions) const;
  Interval plain(const Linear& value, int depth, const std::vector<Guard>& conditions) const;
  Interval atom_range(int32_t atom, int depth, const std::vector<Guard>& conditions) const;
  /// An interval without the guards' help, at any depth.
  Interval plain_range(int32_t atom) const;
  int64_t lower_by_guards(const Linear& value, int64_t low, int depth,
                          const std::vector<Guard>& conditions) const;
  const Step& step(const Atom& atom) const { return steps_[static_cast<size_t>(atom.step)]; }
  bool mark(int32_t atom, std::vector<bool>& loops) const;
  bool mark(const Linear& value, std::vector<bool>& loops) const;

  const std::vector<Loop>& loops_;
  const std::vector<Atom>& atoms_;
  const std::vector<Guard>& conditions_;
  const std::vector<Step>& steps_;
  std::vector<int32_t> step_atoms_;
  mutable std::vector<Interval> plain_ranges_;  // of the first atoms, as far as needed
};

/// The atoms' values at a point of the variables. Data reads count as 0.
std::vector<int64_t> atom_values(const std::vector<Atom>& atoms, const std::vector<int64_t>& point);
void atom_values(const std::vector<Atom>& atoms, const std::vector<int64_t>& point,
                 std::vector<int64_t>& values);
int64_t evaluate(const Linear& value, const std::vector<int64_t>& atoms);
bool holds(const Guard& guard, const std::vector<int64_t>& atoms);

/// factor_a * a + factor_b * b.
Linear combine(const Linear& a, int64_t factor_a, const Linear& b, int64_t factor_b);

}  // namespace solar::ir

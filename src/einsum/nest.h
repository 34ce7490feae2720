#pragma once
// The index space of one statement: loops and the derived index values (floor division, remainder,
// min, max, select, data reads) that its subscripts and guards use, in normal form.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "einsum/linear.h"
#include "ir/core.h"

namespace solar::einsum {

using ir::Atom;
using ir::Guard;

/// A set of loops, one bit each.
using LoopMask = uint64_t;
constexpr int32_t kMaximumLoops = 64;
inline LoopMask loop_bit(int32_t loop) { return LoopMask{1} << loop; }

/// Values lo..hi, clamped to +-2^62.
struct Range {
  int64_t low = 0;
  int64_t high = 0;
};

/// The integers of an index tensor, when the caller knows them.
using IndexValues = std::shared_ptr<const std::vector<int64_t>>;

class Nest {
 public:
  explicit Nest(std::vector<int64_t> extents);

  int32_t loop_count() const { return static_cast<int32_t>(extents_.size()); }
  const std::vector<int64_t>& extents() const { return extents_; }
  int64_t extent(int32_t loop) const { return extents_[static_cast<size_t>(loop)]; }
  const std::vector<Atom>& atoms() const { return atoms_; }
  const Atom& atom(int32_t id) const { return atoms_[static_cast<size_t>(id)]; }

  LoopMask support(int32_t atom) const { return facts_[static_cast<size_t>(atom)].support; }
  LoopMask support(const Linear& value) const;
  LoopMask support(const Guard& guard) const { return support(guard.value); }
  /// Loops that `value` uses inside derived atoms.
  LoopMask derived_support(const Linear& value) const;
  Range range(const Linear& value) const;
  bool reads_data(const Linear& value) const;
  bool loops_only(const Linear& value) const;

  /// Normal forms: constants folded, multiples of the divisor split off, nested divisions joined.
  Linear floor_div(const Linear& value, int64_t divisor);
  Linear mod(const Linear& value, int64_t divisor);
  /// d*c*floor(e/d) + c*(e mod d) = c*e, wherever it occurs.
  Linear join_divisions(Linear value) const;

  /// What to put in place of a data read whose operands are imported already.
  using DataReader = std::function<Linear(Nest&, Atom)>;
  /// Adds the derived atoms of a table whose first `first.size()` atoms stand for `first`; returns
  /// what each atom of the table is here. `steps`: per Program::steps, its value.
  std::vector<Linear> import(const std::vector<Atom>& table, const std::vector<Linear>& first,
                             const std::vector<Linear>& steps, const DataReader& data_reader = {});
  Linear import(const Linear& value, const std::vector<Linear>& map) const;
  Guard import(const Guard& guard, const std::vector<Linear>& map) const;

  /// The atom itself, added if it is new; atoms of one possible value are constants.
  Linear add_atom(Atom atom);

  /// Data reads whose values are known: element at the row-major index.
  void set_values(int32_t atom, IndexValues values, std::vector<int64_t> shape);
  bool has_values(int32_t atom) const {
    return facts_[static_cast<size_t>(atom)].values != nullptr;
  }
  bool has_values_for(const Linear& value) const;

  /// Computes the value of a derived atom from those before it.
  int64_t evaluate_atom(int32_t atom, const std::vector<int64_t>& values) const;
  static int64_t evaluate(const Linear& value, const std::vector<int64_t>& values);
  static bool holds(const Guard& guard, const std::vector<int64_t>& values);
  /// The derived atoms that `value` needs, added to `needed` in order of evaluation.
  void collect_derived(const Linear& value, std::vector<bool>& needed) const;

 private:
  struct Facts {
    LoopMask support = 0;
    Range range = {};
    bool data = false;
    IndexValues values = nullptr;
    std::vector<int64_t> shape = {};
  };

  /// value = factor * multiples + rest with 0 <= rest < factor, for a factor that divides
  /// `divisor`.
  struct Split {
    int64_t factor = 1;
    Linear multiples = {};
    Linear rest = {};
  };
  std::optional<Split> split_multiples(const Linear& value, int64_t divisor) const;
  Facts facts_of(const Atom& atom) const;

  std::vector<int64_t> extents_;
  std::vector<Atom> atoms_ = {};
  std::vector<Facts> facts_ = {};
};

}  // namespace solar::einsum

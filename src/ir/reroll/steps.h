#pragma once
// Whether statements that follow each other are steps of one loop, and how each leaf changes from
// step to step. Private to ir/.

#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/reroll/facts.h"
#include "ir/reroll/records.h"

namespace solar::ir {

/// Bounds of a slice that move by `by` every step.
struct MovingBounds {
  DimExpr start = {};
  std::optional<DimExpr> stop = {};
  DimExpr by = {};
  bool known = false;  // whether `by` was seen
};

/// How one leaf changes. Of a tensor from outside several may hold, until a step rules them out.
struct Change {
  bool same = false;
  bool carried = false;                   // it is `carry` of the step before
  Reference carry = {};                   // offset in the block, ordinal
  bool slice = false;                     // it is a slice that moves
  std::vector<MovingBounds> moving = {};  // of that slice, or of this leaf
};

class Steps {
 public:
  Steps(const ast::Program& program, const Records& records, Facts& facts, size_t begin,
        size_t period)
      : program_(program), records_(records), facts_(facts), begin_(begin), period_(period) {}

  /// Takes steps from `begin` on, at most `most`, while they are of one loop; how many.
  size_t take(size_t most);
  const std::vector<std::vector<Change>>& changes() const { return changes_; }

 private:
  bool start();
  bool start_leaf(const Leaf& leaf, Change& change);
  bool go_on(size_t step);
  bool same_live(size_t a, size_t b) const;
  bool go_on_leaf(size_t step, const Leaf& first, const Leaf& before, const Leaf& now,
                  Change& change, bool second);
  bool use(size_t step, const Leaf& first, const Leaf& before, const Leaf& now, Change& change,
           bool second);
  const ast::Slice* slice_of(const Reference& from) const;
  bool start_slice(const Reference& from, std::vector<MovingBounds>& moving);
  bool moves_on(const Reference& before, const Reference& now, std::vector<MovingBounds>& moving);
  std::optional<MovingBounds> bounds(const SliceBounds& bounds);
  bool moves_on(MovingBounds& moving, const SliceBounds& before, const SliceBounds& now);
  size_t at(size_t step) const { return begin_ + step * period_; }

  const ast::Program& program_;
  const Records& records_;
  Facts& facts_;
  size_t begin_;
  size_t period_;
  std::vector<std::vector<Change>> changes_;  // by offset, by leaf
};

}  // namespace solar::ir

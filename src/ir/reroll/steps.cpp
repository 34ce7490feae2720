#include "ir/reroll/steps.h"

namespace solar::ir {

size_t Steps::take(size_t most) {
  if (most == 0 || !start()) return 0;
  size_t count = 1;
  while (count < most && go_on(count)) ++count;
  return count;
}

bool Steps::start() {
  for (size_t offset = 0; offset < period_; ++offset) {
    const Record& record = records_[begin_ + offset];
    std::vector<Change>& changes = changes_.emplace_back(record.leaves.size());
    for (size_t i = 0; i < changes.size(); ++i) {
      if (!start_leaf(record.leaves[i], changes[i])) return false;
    }
  }
  return true;
}

bool Steps::start_leaf(const Leaf& leaf, Change& change) {
  change.same = true;
  if (leaf.kind == Leaf::Kind::Bounds) {
    const auto first = bounds(leaf.bounds);
    if (!first) return false;
    change.moving.push_back(*first);
  } else if (leaf.kind == Leaf::Kind::Use && leaf.from.statement < static_cast<int32_t>(begin_)) {
    change.carried = true;
    change.slice = start_slice(leaf.from, change.moving);
  }
  return true;
}

bool Steps::go_on(size_t step) {
  // All leaves are looked at before any change is kept: a step that does not follow ends the loop.
  std::vector<std::vector<Change>> next = changes_;
  for (size_t offset = 0; offset < period_; ++offset) {
    if (!same_live(begin_ + offset, at(step) + offset)) return false;
    const std::vector<Leaf>& first = records_[begin_ + offset].leaves;
    const std::vector<Leaf>& before = records_[at(step - 1) + offset].leaves;
    const std::vector<Leaf>& now = records_[at(step) + offset].leaves;
    for (size_t i = 0; i < now.size(); ++i) {
      if (!go_on_leaf(step, first[i], before[i], now[i], next[offset][i], step == 1)) return false;
    }
  }
  changes_ = std::move(next);
  return true;
}

/// A step of which less is needed, as the last may be, is no step: the loop's count would be more.
bool Steps::same_live(size_t a, size_t b) const {
  const std::vector<int32_t>& first = records_[a].defines;
  const std::vector<int32_t>& now = records_[b].defines;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] >= 0 && records_.is_live(first[i]) != records_.is_live(now[i])) return false;
  }
  return true;
}

bool Steps::go_on_leaf(size_t step, const Leaf& first, const Leaf& before, const Leaf& now,
                       Change& change, bool second) {
  switch (now.kind) {
    case Leaf::Kind::Use:
      return use(step, first, before, now, change, second);
    case Leaf::Kind::Bounds:
      return moves_on(change.moving[0], before.bounds, now.bounds);
    case Leaf::Kind::Dim:
    case Leaf::Kind::Module:
      return now.name == first.name;
  }
  return false;
}

bool Steps::use(size_t step, const Leaf& first, const Leaf& before, const Leaf& now, Change& change,
                bool second) {
  const auto own = static_cast<int32_t>(at(step));
  const auto previous = static_cast<int32_t>(at(step - 1));
  if (first.from.statement >= static_cast<int32_t>(begin_)) {  // of the step itself
    return now.from.statement >= own &&
           now.from.statement - own == first.from.statement - static_cast<int32_t>(begin_) &&
           now.from.ordinal == first.from.ordinal;
  }
  if (now.from.statement >= own) return false;
  change.same = change.same && now.name == first.name;
  if (change.carried) {
    const Reference carry = {now.from.statement - previous, now.from.ordinal};
    change.carried = carry.statement >= 0 && (second || carry == change.carry);
    change.carry = carry;
  }
  change.slice = change.slice && moves_on(before.from, now.from, change.moving);
  return change.same || change.carried || change.slice;
}

/// A slice that is a statement of the program, before the block.
const ast::Slice* Steps::slice_of(const Reference& from) const {
  if (from.statement < 0 || from.statement >= static_cast<int32_t>(begin_)) return nullptr;
  return std::get_if<ast::Slice>(
      &program_.block.statements[static_cast<size_t>(from.statement)].body);
}

bool Steps::start_slice(const Reference& from, std::vector<MovingBounds>& moving) {
  if (slice_of(from) == nullptr) return false;
  for (const Leaf& leaf : records_[static_cast<size_t>(from.statement)].leaves) {
    if (leaf.kind != Leaf::Kind::Bounds) continue;
    const auto first = bounds(leaf.bounds);
    if (!first) return false;
    moving.push_back(*first);
  }
  return true;
}

bool Steps::moves_on(const Reference& before, const Reference& now,
                     std::vector<MovingBounds>& moving) {
  if (slice_of(before) == nullptr || slice_of(now) == nullptr) return false;
  const Record& a = records_[static_cast<size_t>(before.statement)];
  const Record& b = records_[static_cast<size_t>(now.statement)];
  if (a.symbol != b.symbol) return false;
  size_t place = 0;
  for (size_t i = 0; i < a.leaves.size(); ++i) {
    if (a.leaves[i].kind == Leaf::Kind::Bounds) {
      if (!moves_on(moving[place++], a.leaves[i].bounds, b.leaves[i].bounds)) return false;
    } else if (a.leaves[i].name != b.leaves[i].name) {
      return false;
    }
  }
  return true;
}

std::optional<MovingBounds> Steps::bounds(const SliceBounds& bounds) {
  MovingBounds moving;
  const ast::Expr& place = *bounds.start;
  const bool named = place.kind == ast::ExprKind::Name && records_.is_place(place.text);
  const auto start = named ? facts_.number(place.text) : facts_.value(place);
  if (!start) return std::nullopt;
  moving.start = *start;
  if (bounds.stop) {
    moving.stop = facts_.value(*bounds.stop);
    if (!moving.stop) return std::nullopt;
  }
  return moving;
}

/// An extent does not depend on the step: both bounds move by the same, and the axis' end stays.
bool Steps::moves_on(MovingBounds& moving, const SliceBounds& before, const SliceBounds& now) {
  const auto a = bounds(before);
  const auto b = bounds(now);
  if (!a || !b || a->stop.has_value() != b->stop.has_value()) return false;
  DimTable& table = facts_.table();
  const DimExpr by = table.subtract(b->start, a->start);
  if (moving.known && !(by == moving.by)) return false;
  if (b->stop && !(table.subtract(*b->stop, *a->stop) == by)) return false;
  if (!b->stop && !now.index && !(by == DimExpr{})) return false;
  moving.by = by;
  moving.known = true;
  return true;
}

}  // namespace solar::ir

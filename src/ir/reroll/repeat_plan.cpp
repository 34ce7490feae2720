#include "ir/reroll/repeat_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/reroll/rewrite.h"
#include "ir/reroll/steps.h"

namespace solar::ir {
namespace {

constexpr size_t kMinSteps = 3;  // fewer do not show what a step hands on to the next but one

class RepeatPlanner {
 public:
  RepeatPlanner(const ast::Program& program, Records& records, Facts& facts, const Steps& steps,
                size_t begin, size_t period, size_t count)
      : program_(program),
        records_(records),
        facts_(facts),
        steps_(steps),
        begin_(begin),
        period_(period),
        count_(count) {}

  std::optional<RepeatPlan> run() {
    plan_.begin = begin_;
    plan_.end = begin_ + count_ * period_;
    step_ = records_.fresh("t");
    for (size_t offset = 0; offset < period_; ++offset) {
      const std::vector<Change>& changes = steps_.changes()[offset];
      std::vector<Replacement> leaves(changes.size());
      for (size_t i = 0; i < changes.size(); ++i) {
        if (!replace(offset, i, changes[i], leaves[i])) return std::nullopt;
      }
      body_.push_back(
          rewritten(program_.block.statements[begin_ + offset], leaves, records_.dims()));
    }
    if (!find_results()) return std::nullopt;
    write();
    return std::move(plan_);
  }

 private:
  struct Carry {
    Reference next = {};
    int32_t initial = -1;
    std::string inside = {};
    std::string result = {};
  };

  const Leaf& leaf(size_t step, size_t offset, size_t i) const {
    return records_[begin_ + step * period_ + offset].leaves[i];
  }

  bool replace(size_t offset, size_t i, const Change& change, Replacement& place) {
    const Leaf& first = leaf(0, offset, i);
    if (first.kind == Leaf::Kind::Bounds) {
      move(change.moving[0], place);
      note_axis(first, change.moving[0]);
      return true;
    }
    if (first.kind != Leaf::Kind::Use || change.same) return true;
    if (first.from.statement >= static_cast<int32_t>(begin_)) return true;
    if (change.carried) return carry(first.name, change.carry, place);
    place.text = slice(offset, i, change.moving);
    return true;
  }

  void move(const MovingBounds& moving, Replacement& place) {
    if (moving.by == DimExpr{}) return;
    DimTable& table = facts_.table();
    const DimExpr distance = table.multiply(table.variable(step_), moving.by);
    place.start = dim_text(table.text(table.add(moving.start, distance)));
    if (moving.stop) place.stop = dim_text(table.text(table.add(*moving.stop, distance)));
  }

  /// A loop over all places of an axis has the axis' extent as its number of steps.
  void note_axis(const Leaf& bounds, const MovingBounds& moving) {
    if (!plan_extent_.empty() || bounds.name < 0 || !bounds.bounds.index) return;
    if (!moving.start.is_constant() || !moving.by.is_constant()) return;
    const auto last = static_cast<int64_t>(count_) - 1;
    const bool up = moving.start.constant() == 0 && moving.by.constant() == 1;
    const bool down = moving.start.constant() == last && moving.by.constant() == -1;
    const TensorFacts* tensor = facts_.tensor(records_.text(bounds.name));
    if (tensor == nullptr || (!up && !down)) return;
    const auto rank = static_cast<int32_t>(tensor->shape.size());
    const int32_t axis = bounds.bounds.axis < 0 ? bounds.bounds.axis + rank : bounds.bounds.axis;
    if (axis < 0 || axis >= rank) return;
    const auto at = static_cast<size_t>(axis);
    if (tensor->shape[at] == last + 1) plan_extent_ = tensor->extents[at];
  }

  bool carry(int32_t initial, const Reference& next, Replacement& place) {
    for (const Carry& known : carries_) {
      if (known.initial == initial && known.next == next) {
        place.text = known.inside;
        return true;
      }
    }
    // What the first step reads once would be counted as two tensors.
    const bool shared = std::any_of(carries_.begin(), carries_.end(),
                                    [&](const Carry& known) { return known.initial == initial; });
    if (shared) return false;
    const std::string& name = name_of(0, next);
    const TensorFacts* start = facts_.tensor(records_.text(initial));
    const TensorFacts* value = facts_.tensor(name);
    if (start == nullptr || value == nullptr || start->type != value->type ||
        start->shape != value->shape) {
      return false;
    }
    carries_.push_back({next, initial, records_.fresh(name + "_before"), {}});
    place.text = carries_.back().inside;
    return true;
  }

  /// The name of a slice that the body makes itself.
  std::string slice(size_t offset, size_t i, const std::vector<MovingBounds>& moving) {
    for (size_t step = 0; step < count_; ++step)
      plan_.slices.push_back(records_.text(leaf(step, offset, i).name));
    const Leaf& first = leaf(0, offset, i);
    const auto [known, fresh] = slices_.try_emplace({first.name, leaf(1, offset, i).name}, "");
    if (!fresh) return known->second;
    const auto at = static_cast<size_t>(first.from.statement);
    std::vector<Replacement> leaves(records_[at].leaves.size());
    size_t place = 0;
    for (size_t k = 0; k < leaves.size(); ++k) {
      const Leaf& one = records_[at].leaves[k];
      if (one.kind != Leaf::Kind::Bounds) continue;
      move(moving[place], leaves[k]);
      note_axis(one, moving[place++]);
    }
    ast::Statement statement = rewritten(program_.block.statements[at], leaves, records_.dims());
    statement.comments.clear();
    known->second = records_.fresh(records_.text(first.name) + "_step");
    std::get<ast::Slice>(statement.body).output.text = known->second;
    heads_.push_back(std::move(statement));
    return known->second;
  }

  const std::string& name_of(size_t step, const Reference& reference) const {
    const auto offset = static_cast<size_t>(reference.statement);
    const Record& record = records_[begin_ + step * period_ + offset];
    return records_.text(record.defines[static_cast<size_t>(reference.ordinal)]);
  }

  bool used_outside(const std::string& name) const {
    const std::vector<int32_t>& users = records_.users(records_.id(name));
    return !users.empty() && users.back() >= static_cast<int32_t>(plan_.end);
  }

  bool find_results() {
    for (size_t offset = 0; offset < period_; ++offset) {
      const Record& record = records_[begin_ + offset];
      for (size_t ordinal = 0; ordinal < record.defines.size(); ++ordinal) {
        if (record.defines[ordinal] < 0) continue;
        const Reference value = {static_cast<int32_t>(offset), static_cast<int32_t>(ordinal)};
        if (!find_result(value)) return false;
      }
    }
    for (Carry& carry : carries_) {
      if (carry.result.empty()) carry.result = records_.fresh(name_of(0, carry.next) + "_last");
    }
    return !carries_.empty() || !plan_.stacked.empty();
  }

  bool find_result(const Reference& value) {
    StackedSteps stacked;
    bool any = false;
    for (size_t step = 0; step < count_; ++step) {
      stacked.elements.push_back(name_of(step, value));
      if (step + 1 < count_) any = any || used_outside(stacked.elements.back());
    }
    const bool last = used_outside(stacked.elements.back());
    const auto carry = std::find_if(carries_.begin(), carries_.end(),
                                    [&](const Carry& one) { return one.next == value; });
    if (last && carry != carries_.end()) carry->result = stacked.elements.back();
    if (!any && (!last || carry != carries_.end())) return true;
    const TensorFacts* tensor = facts_.tensor(stacked.elements.front());
    if (tensor == nullptr) return false;
    stacked.rank = tensor->shape.size();
    stacked.name = records_.fresh(stacked.elements.front() + "_steps");
    plan_.stacked.push_back(std::move(stacked));
    return true;
  }

  void write() {
    ast::Repeat& repeat = plan_.repeat;
    repeat.step.text = step_;
    repeat.extent = dim_text(plan_extent_.empty() ? fmt::format("{}", count_) : plan_extent_);
    ast::Next next;
    for (const Carry& carry : carries_) {
      repeat.results.push_back({carry.result});
      repeat.carried.push_back({{carry.inside}, dim_text(records_.text(carry.initial))});
      next.values.push_back({name_of(0, carry.next)});
    }
    for (const StackedSteps& stacked : plan_.stacked) {
      repeat.stacked.push_back({stacked.name});
      next.stacked.push_back({stacked.elements.front()});
    }
    repeat.block.statements = std::move(heads_);
    for (ast::Statement& statement : body_) repeat.block.statements.push_back(std::move(statement));
    ast::Statement end;
    end.body = std::move(next);
    repeat.block.statements.push_back(std::move(end));
    plan_.interface = repeat.results.size() + repeat.stacked.size();
  }

  const ast::Program& program_;
  Records& records_;
  Facts& facts_;
  const Steps& steps_;
  size_t begin_, period_, count_;
  std::string step_;
  std::string plan_extent_;
  std::vector<Carry> carries_;
  std::map<std::pair<int32_t, int32_t>, std::string> slices_;
  std::vector<ast::Statement> heads_;  // the slices
  std::vector<ast::Statement> body_;
  RepeatPlan plan_;
};

}  // namespace

std::vector<RepeatPlan> plan_repeats(const ast::Program& program, Records& records, Facts& facts,
                                     const TandemRun& run, size_t phase) {
  std::vector<RepeatPlan> plans;
  size_t at = run.begin + phase;
  while (at + kMinSteps * run.period <= run.end) {
    Steps steps(program, records, facts, at, run.period);
    const size_t count = steps.take((run.end - at) / run.period);
    std::optional<RepeatPlan> plan;
    if (count >= kMinSteps)
      plan = RepeatPlanner(program, records, facts, steps, at, run.period, count).run();
    if (plan) {
      at = plan->end;
      plans.push_back(std::move(*plan));
    } else {
      at += run.period;
    }
  }
  return plans;
}

}  // namespace solar::ir

#include <algorithm>
#include <optional>

#include "ir/reroll/choose.h"
#include "ir/reroll/room.h"

namespace solar::ir {
namespace {

class RepeatChooser {
 public:
  explicit RepeatChooser(const Choice& choice)
      : choice_(choice), room_(choice.records.all().size()) {}

  std::vector<RepeatPlan> run() {
    for (const TandemRun& run : choice_.runs) {
      if (run.copies() < 3 || !room_.is_free(run.begin, run.end)) continue;
      for (RepeatPlan& plan : best_cut(run)) {
        room_.take(plan.begin, plan.end);
        chosen_.push_back(std::move(plan));
      }
    }
    std::sort(chosen_.begin(), chosen_.end(),
              [](const RepeatPlan& a, const RepeatPlan& b) { return a.begin < b.begin; });
    return std::move(chosen_);
  }

 private:
  /// The cut that saves most; of several the one that hands least from step to step.
  std::vector<RepeatPlan> best_cut(const TandemRun& run) {
    std::optional<size_t> best;
    size_t best_saving = 0;
    size_t best_interface = 0;
    const size_t rest = (run.end - run.begin) % run.period;
    for (size_t phase = 0; phase <= std::min(rest, kPhases - 1); ++phase) {
      if (!room_.spend(run.end - run.begin)) break;
      const size_t names = choice_.records.fresh_names();
      size_t saved = 0;
      size_t interface = 0;
      for (const RepeatPlan& plan : cut(run, phase)) {
        saved += saving(plan);
        interface += plan.interface;
      }
      choice_.records.forget_fresh(names);
      if (saved < best_saving || (saved == best_saving && interface >= best_interface)) continue;
      best = phase;
      best_saving = saved;
      best_interface = interface;
    }
    return best ? cut(run, *best) : std::vector<RepeatPlan>();
  }

  std::vector<RepeatPlan> cut(const TandemRun& run, size_t phase) const {
    std::vector<RepeatPlan> plans =
        plan_repeats(choice_.program, choice_.records, choice_.facts, run, phase);
    std::erase_if(
        plans, [&](const RepeatPlan& one) { return !computes(one) || saving(one) < kMinSaving; });
    return plans;
  }

  /// A loop that only moves values is none of the source.
  static bool computes(const RepeatPlan& plan) {
    const std::vector<ast::Statement>& body = plan.repeat.block.statements;
    return std::any_of(body.begin(), body.end(), [](const ast::Statement& statement) {
      return !std::holds_alternative<ast::Slice>(statement.body) &&
             !std::holds_alternative<ast::View>(statement.body) &&
             !std::holds_alternative<ast::Next>(statement.body);
    });
  }

  /// Statements that the loop saves: values that are used one by one are sliced one by one.
  size_t saving(const RepeatPlan& plan) const {
    const size_t before = plan.end - plan.begin;
    size_t after = plan.repeat.block.statements.size();
    for (const StackedSteps& stacked : plan.stacked) after += used_alone(plan, stacked);
    return before > after ? before - after : 0;
  }

  size_t used_alone(const RepeatPlan& plan, const StackedSteps& stacked) const {
    const Records& records = choice_.records;
    const auto is_alone = [&](int32_t user) {
      const auto at = static_cast<size_t>(user);
      if (at >= plan.begin && at < plan.end) return false;
      return at >= records.all().size() || !takes_most(records[at], stacked);
    };
    size_t alone = 0;
    for (const std::string& element : stacked.elements) {
      const std::vector<int32_t>& users = records.users(records.id(element));
      alone += std::any_of(users.begin(), users.end(), is_alone) ? 1 : 0;
    }
    return alone;
  }

  static bool takes_most(const Record& record, const StackedSteps& stacked) {
    const auto uses = std::count_if(record.leaves.begin(), record.leaves.end(),
                                    [](const Leaf& leaf) { return leaf.kind == Leaf::Kind::Use; });
    return 2 * static_cast<size_t>(uses) > stacked.elements.size();
  }

  const Choice& choice_;
  Room room_;
  std::vector<RepeatPlan> chosen_;
};

}  // namespace

std::vector<RepeatPlan> choose_repeats(const Choice& choice) { return RepeatChooser(choice).run(); }

}  // namespace solar::ir

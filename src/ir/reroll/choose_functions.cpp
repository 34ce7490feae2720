#include <algorithm>
#include <unordered_map>

#include "ir/reroll/choose.h"
#include "ir/reroll/module_paths.h"
#include "ir/reroll/room.h"

namespace solar::ir {
namespace {

constexpr size_t kMinFunction = 3;   // statements of a function whose calls follow each other
constexpr size_t kMinScattered = 6;  // of one whose calls do not

class FunctionChooser {
 public:
  explicit FunctionChooser(const Choice& choice)
      : choice_(choice), records_(choice.records), room_(records_.all().size()) {}

  std::vector<PlannedFunction> run() {
    for (const TandemRun& run : choice_.runs) {
      if (run.period < kMinFunction || !room_.is_free(run.begin, run.end)) continue;
      if (auto best = best_cut(run)) keep(std::move(*best));
    }
    if (chosen_.empty()) scattered();
    std::sort(chosen_.begin(), chosen_.end(),
              [](const auto& a, const auto& b) { return a.copies.begins < b.copies.begins; });
    return std::move(chosen_);
  }

 private:
  static size_t saving(const Copies& copies) {
    const size_t calls = copies.begins.size();
    if (calls < 2) return 0;
    const size_t before = (calls - 1) * copies.period;
    return before > calls ? before - calls : 0;
  }

  void keep(PlannedFunction function) {
    const Copies& copies = function.copies;
    for (const size_t begin : copies.begins) room_.take(begin, begin + copies.period);
    chosen_.push_back(std::move(function));
  }

  std::optional<PlannedFunction> plan(Copies copies) {
    if (saving(copies) < kMinSaving || !room_.spend(copies.begins.size() * copies.period)) {
      return std::nullopt;
    }
    auto plan = plan_function(choice_.program, records_, choice_.facts, copies);
    if (!plan) return std::nullopt;
    return PlannedFunction{std::move(copies), std::move(*plan)};
  }

  // --- calls that follow each other ----------------------------------------------------------

  /// The cut with most copies; of several the one with the fewest parameters and results.
  std::optional<PlannedFunction> best_cut(const TandemRun& run) {
    std::optional<PlannedFunction> best;
    size_t tried = 0;
    for (size_t phase = 0; phase < run.period && tried < kPhases; ++phase) {
      Copies copies = cut(run, phase);
      if (best && saving(copies) < saving(best->copies)) break;
      if (saving(copies) < kMinSaving || !may_be_modules(copies)) continue;
      ++tried;
      auto found = plan(std::move(copies));
      if (found && (!best || found->plan.interface < best->plan.interface)) best = std::move(found);
    }
    if (!best) return best;
    auto more = plan(with_others(best->copies));
    return more && more->copies.begins.size() > best->copies.begins.size() ? more : best;
  }

  static Copies cut(const TandemRun& run, size_t phase) {
    Copies copies;
    copies.period = run.period;
    for (size_t at = run.begin + phase; at + run.period <= run.end; at += run.period)
      copies.begins.push_back(at);
    return copies;
  }

  /// Whether the first and the last operator of a copy may belong to the same module.
  bool may_be_modules(const Copies& copies) const {
    ModulePaths paths;
    std::vector<std::string> first;
    std::vector<std::string> last;
    for (const size_t begin : copies.begins) {
      first.push_back(module_of(begin, copies.period, false));
      last.push_back(module_of(begin, copies.period, true));
    }
    return paths.add(first) && paths.add(last);
  }

  std::string module_of(size_t begin, size_t period, bool last) const {
    for (size_t i = 0; i < period; ++i) {
      for (const Leaf& leaf : records_[begin + (last ? period - 1 - i : i)].leaves) {
        if (leaf.kind == Leaf::Kind::Module && leaf.name >= 0) return records_.text(leaf.name);
      }
    }
    return "";
  }

  /// The copies with those that stand elsewhere.
  Copies with_others(const Copies& copies) {
    Copies all = copies;
    const size_t first = copies.begins.front();
    const size_t last = copies.begins.back() + copies.period;
    for (size_t at = 0; at + copies.period <= records_.all().size();) {
      if (at < last && at + copies.period > first) {
        at = last;
      } else if (same(first, at, copies.period) && room_.is_free(at, at + copies.period)) {
        all.begins.push_back(at);
        at += copies.period;
      } else {
        ++at;
      }
    }
    std::sort(all.begins.begin(), all.begins.end());
    return all;
  }

  bool same(size_t a, size_t b, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      if (!alike(a + i, b + i)) return false;
    }
    return true;
  }

  bool alike(size_t a, size_t b) const {
    return records_[a].symbol >= 0 && records_[a].symbol == records_[b].symbol;
  }

  // --- calls here and there ------------------------------------------------------------------

  /// From the widest windows that occur twice to the narrowest that are worth a function.
  void scattered() {
    std::vector<std::vector<int32_t>> names(1);
    int32_t next = 0;
    for (const Record& record : records_.all()) next = std::max(next, record.symbol + 1);
    for (const Record& record : records_.all())
      names[0].push_back(record.symbol >= 0 ? record.symbol : next++);
    for (size_t width = 1; 4 * width <= records_.all().size(); width *= 2) {
      if (!widen(width, names)) break;
    }
    for (size_t level = names.size(); level-- > 2;) look(size_t{1} << level, names[level]);
  }

  /// Names of the windows of twice the width, from those of two halves. False if none of them
  /// occurs twice.
  static bool widen(size_t width, std::vector<std::vector<int32_t>>& names) {
    const std::vector<int32_t>& half = names.back();
    std::unordered_map<int64_t, int32_t> pairs;
    std::vector<int32_t> wider(half.size() - width);
    for (size_t i = 0; i < wider.size(); ++i) {
      const int64_t pair = (int64_t{half[i]} << 32) | half[i + width];
      wider[i] = pairs.try_emplace(pair, static_cast<int32_t>(pairs.size())).first->second;
    }
    const bool twice = pairs.size() < wider.size();
    names.push_back(std::move(wider));
    return twice;
  }

  void look(size_t width, const std::vector<int32_t>& names) {
    std::unordered_map<int32_t, std::vector<size_t>> places;
    for (size_t i = 0; i < names.size(); ++i) places[names[i]].push_back(i);
    for (size_t i = 0; i < names.size(); ++i) {
      const std::vector<size_t>& all = places[names[i]];
      if (all.size() < 2 || all.front() != i) continue;
      Copies copies;
      copies.period = width;
      for (const size_t at : all) {
        const bool clear = copies.begins.empty() || at >= copies.begins.back() + width;
        if (clear && room_.is_free(at, at + width)) copies.begins.push_back(at);
      }
      if (copies.begins.size() < 2) continue;
      if (!room_.spend(copies.begins.size() * width)) return;
      extend(copies);
      copies = longest_of_modules(copies);
      if (copies.period < kMinScattered) continue;
      if (auto found = plan(std::move(copies))) keep(std::move(*found));
    }
  }

  /// To the right, then to the left, while all copies are alike and apart.
  void extend(Copies& copies) const {
    const auto apart = [&](size_t period) {
      for (size_t i = 0; i < copies.begins.size(); ++i) {
        const size_t end = copies.begins[i] + period;
        const size_t limit =
            i + 1 < copies.begins.size() ? copies.begins[i + 1] : records_.all().size();
        if (end > limit) return false;
      }
      return true;
    };
    const auto all_alike = [&](size_t offset, bool before) {
      return std::all_of(copies.begins.begin(), copies.begins.end(), [&](size_t begin) {
        if (before && begin == 0) return false;
        const size_t at = before ? begin - 1 : begin + offset;
        const size_t first = before ? copies.begins[0] - 1 : copies.begins[0] + offset;
        return alike(first, at) && room_.is_free(at, at + 1);
      });
    };
    while (apart(copies.period + 1) && all_alike(copies.period, false)) ++copies.period;
    while (all_alike(0, true)) {
      for (size_t& begin : copies.begins) --begin;
      ++copies.period;
      if (apart(copies.period)) continue;
      for (size_t& begin : copies.begins) ++begin;
      --copies.period;
      break;
    }
  }

  /// The longest part in which the modules differ in one place.
  Copies longest_of_modules(const Copies& copies) const {
    Copies longest{{}, 0};
    size_t start = 0;
    ModulePaths paths;
    for (size_t offset = 0; offset <= copies.period; ++offset) {
      if (offset < copies.period && add_modules(copies, offset, paths)) continue;
      if (offset - start > longest.period) {
        longest = {copies.begins, offset - start};
        for (size_t& begin : longest.begins) begin += start;
      }
      if (offset == copies.period) break;
      start = offset;
      paths = {};
      if (!add_modules(copies, offset, paths)) {
        start = offset + 1;
        paths = {};
      }
    }
    return longest;
  }

  bool add_modules(const Copies& copies, size_t offset, ModulePaths& paths) const {
    const std::vector<Leaf>& leaves = records_[copies.begins[0] + offset].leaves;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (leaves[i].kind != Leaf::Kind::Module) continue;
      std::vector<std::string> column;
      for (const size_t begin : copies.begins) {
        const int32_t name = records_[begin + offset].leaves[i].name;
        column.push_back(name < 0 ? "" : records_.text(name));
      }
      if (!paths.add(column)) return false;
    }
    return true;
  }

  const Choice& choice_;
  const Records& records_;
  Room room_;
  std::vector<PlannedFunction> chosen_;
};

}  // namespace

std::vector<PlannedFunction> choose_functions(const Choice& choice) {
  return FunctionChooser(choice).run();
}

}  // namespace solar::ir

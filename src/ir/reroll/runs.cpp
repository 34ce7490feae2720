#include "ir/reroll/runs.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace solar::ir {
namespace {

constexpr int64_t kStepsPerSymbol = 64;

/// A window of `width` symbols that occurred `distance` before, with width/2 < distance < 2*width,
/// is looked at: a run of shortest period P has such windows of the width between P and 2*P.
class RunFinder {
 public:
  explicit RunFinder(const std::vector<int32_t>& symbols)
      : symbols_(symbols), budget_(kStepsPerSymbol * static_cast<int64_t>(symbols.size())) {}

  TandemRuns run() {
    names_ = symbols_;
    // A symbol that equals nothing gets a name of its own.
    int32_t next = 1 + (symbols_.empty() ? 0 : *std::max_element(symbols_.begin(), symbols_.end()));
    for (int32_t& name : names_) {
      if (name < 0) name = next++;
    }
    for (size_t width = 1; width <= symbols_.size(); width *= 2) {
      look(width);
      if (!widen(width)) break;
    }
    return std::move(found_);
  }

 private:
  void look(size_t width) {
    std::unordered_map<int32_t, size_t> last;
    std::unordered_map<size_t, size_t> done;  // distance -> where its last run ends
    for (size_t i = 0; i + width <= symbols_.size(); ++i) {
      const auto [at, fresh] = last.try_emplace(names_[i], i);
      ++found_.steps;
      if (fresh) continue;
      const size_t distance = i - std::exchange(at->second, i);
      if (2 * distance <= width || distance >= 2 * width) continue;
      size_t& end = done[distance];
      if (i + width <= end) continue;
      end = extend(i - distance, distance);
      if (found_.steps > budget_) return;
    }
  }

  /// The maximal run around two equal symbols; returns its end.
  size_t extend(size_t at, size_t distance) {
    size_t begin = at;
    size_t end = at;
    while (begin > 0 && same(begin - 1, distance)) --begin;
    while (end + distance < symbols_.size() && same(end, distance)) ++end;
    end += distance;
    if (end - begin >= 2 * distance && known_.insert({distance, begin}).second) {
      found_.runs.push_back({begin, end, distance});
    }
    return end;
  }

  bool same(size_t at, size_t distance) {
    ++found_.steps;
    return symbols_[at] >= 0 && symbols_[at] == symbols_[at + distance];
  }

  /// Names of the windows of twice the width, from those of two halves. False if none of them
  /// occurs twice.
  bool widen(size_t width) {
    if (2 * width > symbols_.size()) return false;
    std::unordered_map<int64_t, int32_t> pairs;
    std::vector<int32_t> wider(symbols_.size() - 2 * width + 1);
    for (size_t i = 0; i < wider.size(); ++i) {
      const int64_t pair = (int64_t{names_[i]} << 32) | names_[i + width];
      wider[i] = pairs.try_emplace(pair, static_cast<int32_t>(pairs.size())).first->second;
    }
    names_ = std::move(wider);
    return pairs.size() < names_.size();
  }

  const std::vector<int32_t>& symbols_;
  int64_t budget_;
  std::vector<int32_t> names_ = {};
  std::set<std::pair<size_t, size_t>> known_ = {};
  TandemRuns found_ = {};
};

}  // namespace

TandemRuns tandem_runs(const std::vector<int32_t>& symbols) { return RunFinder(symbols).run(); }

}  // namespace solar::ir

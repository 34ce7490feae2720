#include "bound/splits.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "bound/chains.h"
#include "bound/sweep.h"

namespace solar::bound {
namespace {

bool holds_dim(const std::vector<int32_t>& all, int32_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// What the loops of one group mean to the tensors in their order.
class GroupFactors {
 public:
  // `whole`: of each tensor of the order, the axes it holds as ranges.
  GroupFactors(const Einsum& einsum, const CostModel& model, const Order& order,
               const std::vector<int32_t>& group, std::vector<uint32_t> whole)
      : einsum_(einsum), group_(group), whole_(std::move(whole)) {
    for (size_t i = 0; i < order.tensors.size(); ++i) {
      ranks_.emplace_back();
      for (const Rank& rank : model.ranks(static_cast<size_t>(order.tensors[i]), whole_[i]))
        if (holds_dim(group, rank.dims[0])) ranks_.back().push_back(rank);
      has_window_.push_back(std::any_of(ranks_.back().begin(), ranks_.back().end(),
                                        [](const Rank& rank) { return rank.is_window(); }));
    }
  }

  Option plain(std::vector<GapLoop> loops) const {
    std::stable_sort(loops.begin(), loops.end(),
                     [](const GapLoop& a, const GapLoop& b) { return a.gap < b.gap; });
    Option option{.loops = std::move(loops), .whole = whole_};
    for (size_t i = 0; i < ranks_.size(); ++i) {
      int32_t last = -1;
      for (const GapLoop& loop : option.loops)
        if (loop.gap <= static_cast<int32_t>(i)) last = loop.gap;
      option.last.push_back(last);
    }
    if (group_.size() == 1) {
      count_alone(option);
    } else {
      for (size_t i = 0; i < ranks_.size(); ++i) {
        const Sweep sweep = above(i, option.loops);
        int64_t held = 1;
        for (const Rank& rank : ranks_[i]) {
          std::vector<int64_t> lengths;
          for (int32_t dim : rank.dims) lengths.push_back(sweep.longest(dim));
          held = saturating_mul(held, image(rank, lengths));
        }
        option.held.push_back(held);
        option.entered.push_back(entering(i, sweep, sweep.loops()));
      }
    }
    option.kept = option.entered;
    return option;
  }

  // The variants of an option that put the group's loops innermost in their gaps, in every order of
  // its dims, where windows gain by it.
  void add_keeping(const Option& option, std::vector<Option>& all) const {
    std::vector<int32_t> turn = group_;
    std::sort(turn.begin(), turn.end());
    do {
      Option variant = option;
      const auto place = [&](int32_t dim) { return std::find(turn.begin(), turn.end(), dim); };
      std::stable_sort(variant.loops.begin(), variant.loops.end(),
                       [&](const GapLoop& a, const GapLoop& b) {
                         return a.gap != b.gap ? a.gap < b.gap : place(a.dim) < place(b.dim);
                       });
      for (size_t j = 0; j < variant.loops.size(); ++j) {
        if (variant.loops[j].gap == variant.gap) continue;
        variant.gap = variant.loops[j].gap;
        bool gains = false;
        for (size_t i = 0; i < ranks_.size(); ++i) {
          if (!has_window_[i]) continue;
          const Sweep sweep = above(i, variant.loops);
          variant.kept[i] = entering(i, sweep, std::min(j, sweep.loops()));
          gains = gains || variant.kept[i] < variant.entered[i];
        }
        if (gains) all.push_back(variant);
      }
    } while (std::next_permutation(turn.begin(), turn.end()));
  }

 private:
  bool has(size_t i, int32_t dim) const {
    return std::any_of(ranks_[i].begin(), ranks_[i].end(),
                       [&](const Rank& rank) { return holds_dim(rank.dims, dim); });
  }

  // The case of one dim, without a sweep.
  void count_alone(Option& option) const {
    const int64_t extent = einsum_.dims[static_cast<size_t>(group_[0])].extent;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      size_t above = 0;
      while (above < option.loops.size() && option.loops[above].gap <= static_cast<int32_t>(i))
        ++above;
      const bool has = !ranks_[i].empty();
      option.held.push_back(!has ? 1 : above == 0 ? extent : option.loops[above - 1].tile);
      option.entered.push_back(has ? extent : trips(option.loops, 0, above, extent));
    }
  }

  static int64_t trips(const std::vector<GapLoop>& loops, size_t from, size_t to, int64_t length) {
    if (length == 0) return 0;
    if (from == to) return 1;
    const int64_t tile = loops[from].tile;
    if (length <= tile) return trips(loops, from + 1, to, length);
    return length / tile * trips(loops, from + 1, to, tile) +
           trips(loops, from + 1, to, length % tile);
  }

  Sweep above(size_t i, const std::vector<GapLoop>& loops) const {
    std::vector<Step> steps;
    for (const GapLoop& loop : loops)
      if (loop.gap <= static_cast<int32_t>(i))
        steps.push_back({.index = loop.dim, .tile = loop.tile});
    return Sweep(einsum_, steps);
  }

  int64_t entering(size_t i, const Sweep& sweep, size_t from) const {
    std::vector<int32_t> lacking;
    lacking.reserve(group_.size());
    for (int32_t dim : group_)
      if (!has(i, dim)) lacking.push_back(dim);
    return static_cast<int64_t>(total_entering(ranks_[i], lacking, sweep, from).elements);
  }

  const Einsum& einsum_;
  const std::vector<int32_t>& group_;
  std::vector<std::vector<Rank>> ranks_ = {};
  std::vector<uint32_t> whole_;
  std::vector<bool> has_window_ = {};
};

// The choices of axes to hold as ranges, by position in the order.
std::vector<std::vector<uint32_t>> range_choices(const Einsum& einsum, const CostModel& model,
                                                 const Order& order,
                                                 const std::vector<int32_t>& group) {
  std::vector<std::vector<uint32_t>> all = {std::vector<uint32_t>(order.tensors.size(), 0)};
  for (size_t i = 0; i < order.tensors.size(); ++i) {
    for (const Rank& rank : model.ranks(static_cast<size_t>(order.tensors[i]))) {
      if (!holds_dim(group, rank.dims[0]) || rank.axis < 0 || rank.axis >= 32 ||
          !whole_range(rank, einsum))
        continue;
      const size_t count = all.size();
      for (size_t c = 0; c < count; ++c) {
        all.push_back(all[c]);
        all.back()[i] |= uint32_t{1} << rank.axis;
      }
    }
  }
  return all;
}

bool nowhere_more(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), std::less_equal<>());
}

// Whether `a` does in any company at least as well as `b`.
bool option_beats(const Option& a, const Option& b) {
  if (a.keeps() && a.gap < b.gap) return false;
  if (a.keeps() && !b.keeps()) return false;
  return nowhere_more(a.held, b.held) && nowhere_more(a.kept, b.kept) &&
         nowhere_more(a.entered, b.entered) &&
         std::equal(a.last.begin(), a.last.end(), b.last.begin(), std::less_equal<>());
}

}  // namespace

std::vector<std::vector<int32_t>> dim_groups(const Einsum& einsum, const CostModel& model) {
  std::vector<std::vector<int32_t>> groups;
  for (size_t d = 0; d < einsum.dims.size(); ++d) groups.push_back({static_cast<int32_t>(d)});
  for (size_t t = 0; t < einsum.tensors.size(); ++t) {
    for (const Rank& rank : model.ranks(t)) {
      std::vector<int32_t> joined;
      std::erase_if(groups, [&](const std::vector<int32_t>& group) {
        const bool meets = std::any_of(group.begin(), group.end(),
                                       [&](int32_t d) { return holds_dim(rank.dims, d); });
        if (meets) joined.insert(joined.end(), group.begin(), group.end());
        return meets;
      });
      groups.push_back(std::move(joined));
    }
  }
  return groups;
}

int64_t count_options(const Einsum& einsum, const CostModel& model, const Order& order,
                      const std::vector<int32_t>& group, const SplitRules& rules) {
  int64_t count = 1;
  for (int32_t dim : group)
    count = saturating_mul(
        count, static_cast<int64_t>(
                   chains(einsum, order, dim, presence(model, order, dim), rules).size()));
  return count;
}

std::vector<Option> options(const Einsum& einsum, const CostModel& model, const Order& order,
                            const std::vector<int32_t>& group, const SplitRules& rules) {
  std::vector<std::vector<std::vector<GapLoop>>> choices;
  for (int32_t dim : group)
    choices.push_back(chains(einsum, order, dim, presence(model, order, dim), rules));
  std::vector<Option> all;
  for (auto& whole : range_choices(einsum, model, order, group)) {
    const GroupFactors factors(einsum, model, order, group, whole);
    std::vector<size_t> at(choices.size(), 0);
    for (bool more = true; more;) {
      std::vector<GapLoop> loops;
      for (size_t i = 0; i < at.size(); ++i)
        loops.insert(loops.end(), choices[i][at[i]].begin(), choices[i][at[i]].end());
      all.push_back(factors.plain(std::move(loops)));
      if (group.size() > 1) factors.add_keeping(Option(all.back()), all);
      size_t i = 0;
      while (i < at.size() && ++at[i] == choices[i].size()) at[i++] = 0;
      more = i < at.size();
    }
  }
  if (group.size() == 1 || rules.thorough) return all;  // of one dim: none beats another
  // After this order an option can be beaten only by earlier ones, ties apart.
  const auto weight = [](const Option& option) {
    return std::pair(
        std::accumulate(option.held.begin(), option.held.end(), int64_t{0}, saturating_add),
        std::accumulate(option.kept.begin(), option.kept.end(), int64_t{0}, saturating_add));
  };
  std::vector<std::pair<std::pair<int64_t, int64_t>, size_t>> by_weight;
  for (size_t i = 0; i < all.size(); ++i) by_weight.emplace_back(weight(all[i]), i);
  std::sort(by_weight.begin(), by_weight.end());
  std::vector<Option> best;
  for (const auto& [key, i] : by_weight) {
    if (std::any_of(best.begin(), best.end(),
                    [&](const Option& other) { return option_beats(other, all[i]); }))
      continue;
    best.push_back(std::move(all[i]));
  }
  return best;
}

}  // namespace solar::bound

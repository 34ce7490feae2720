#include "bound/curve.h"

#include <algorithm>

#include "base/checked.h"
#include "bound/merge.h"
#include "bound/orders.h"
#include "bound/skyline.h"
#include "bound/splits.h"

namespace solar::bound {
namespace {

// Which option each group takes, in one order.
struct Choice {
  uint32_t order = 0;
  std::vector<uint32_t> options = {};
};

// The loops of each gap. Ordered dims come first, and what is to be innermost last.
std::vector<std::vector<Step>> gaps_of(const Einsum& einsum, size_t tensors, const std::vector<const Option*>& chosen) {
  std::vector<std::vector<Step>> gaps(tensors + 1);
  const auto add = [&](bool ordered, bool innermost) {
    for (const Option* option : chosen)
      for (const GapLoop& loop : option->loops)
        if (einsum.dims[static_cast<size_t>(loop.dim)].ordered == ordered &&
            option->keeps() == innermost)
          gaps[static_cast<size_t>(loop.gap)].push_back({.index = loop.dim, .tile = loop.tile});
  };
  add(true, false);
  add(false, false);
  add(false, true);
  return gaps;
}

Mapping mapping_of(const Order& order, const std::vector<std::vector<Step>>& gaps,
                   const std::vector<const Option*>& chosen) {
  Mapping mapping;
  for (size_t i = 0; i < gaps.size(); ++i) {
    mapping.steps.insert(mapping.steps.end(), gaps[i].begin(), gaps[i].end());
    if (i == order.tensors.size()) break;
    Step store{.kind = Step::Kind::Store, .index = order.tensors[i]};
    for (const Option* option : chosen) store.whole |= option->whole[i];
    mapping.steps.push_back(store);
  }
  return mapping;
}

// All ways of one order, by the product of their factors.
class OrderSearch {
 public:
  OrderSearch(const Einsum& einsum, const CostModel& model, const Order& order, std::vector<std::vector<Option>> groups)
      : einsum_(einsum), model_(model), order_(order), groups_(std::move(groups)), count_(order.tensors.size()) {
    const size_t levels = groups_.size() + 1;
    held_.assign(levels, std::vector<int64_t>(count_, 1));
    entered_ = held_;
    last_.assign(levels, std::vector<int32_t>(count_, -1));
    least_held_ = held_;
    least_entered_ = held_;
    for (size_t g = groups_.size(); g-- > 0;) {
      for (size_t i = 0; i < count_; ++i) {
        int64_t held = INT64_MAX, entered = INT64_MAX;
        for (const Option& option : groups_[g]) {
          held = std::min(held, option.held[i]);
          entered = std::min(entered, option.kept[i]);
        }
        least_held_[g][i] = saturating_mul(least_held_[g + 1][i], held);
        least_entered_[g][i] = saturating_mul(least_entered_[g + 1][i], entered);
      }
    }
    choice_.options.resize(groups_.size());
  }

  void run(uint32_t index, Skyline<Choice>& skyline) {
    choice_.order = index;
    descend(0, nullptr, skyline);
  }

  // Each way with every order of its loops, costed exactly.
  void run_thoroughly(Skyline<Mapping>& skyline) {
    std::vector<const Option*> chosen(groups_.size());
    enumerate(0, chosen, skyline);
  }

  const Order& order() const { return order_; }
  const std::vector<std::vector<Option>>& groups() const { return groups_; }

 private:
  void descend(size_t g, const Option* keeping, Skyline<Choice>& skyline) {
    if (g == groups_.size()) return finish(keeping, skyline);
    for (size_t o = 0; o < groups_[g].size(); ++o) {
      const Option& option = groups_[g][o];
      if (option.keeps() && keeping != nullptr) continue;
      int64_t capacity = 0, traffic = 0;
      for (size_t i = 0; i < count_; ++i) {
        held_[g + 1][i] = saturating_mul(held_[g][i], option.held[i]);
        entered_[g + 1][i] = saturating_mul(entered_[g][i], option.entered[i]);
        last_[g + 1][i] = option.keeps() ? last_[g][i] : std::max(last_[g][i], option.last[i]);
        if (g + 1 == groups_.size()) continue;
        const auto t = static_cast<size_t>(order_.tensors[i]);
        const Option* kept = option.keeps() ? &option : keeping;
        int64_t entered = entered_[g + 1][i];
        if (kept != nullptr && kept->kept[i] != kept->entered[i]) entered = entered / kept->entered[i] * kept->kept[i];
        capacity = saturating_add(capacity, model_.capacity_of(t, saturating_mul(held_[g + 1][i], least_held_[g + 1][i])));
        traffic = saturating_add(traffic, model_.traffic_of(t, saturating_mul(entered, least_entered_[g + 1][i])));
      }
      choice_.options[g] = static_cast<uint32_t>(o);
      if (g + 1 < groups_.size() && skyline.beats(capacity, traffic)) continue;
      descend(g + 1, option.keeps() ? &option : keeping, skyline);
    }
  }

  void finish(const Option* keeping, Skyline<Choice>& skyline) {
    const auto& held = held_.back();
    const auto& all = entered_.back();
    int64_t capacity = 0, traffic = 0;
    for (size_t i = 0; i < count_; ++i) {
      const auto t = static_cast<size_t>(order_.tensors[i]);
      int64_t entered = all[i];
      if (keeping != nullptr && keeping->kept[i] != keeping->entered[i] && last_.back()[i] <= keeping->gap)
        entered = entered / keeping->entered[i] * keeping->kept[i];
      capacity = saturating_add(capacity, model_.capacity_of(t, held[i]));
      traffic = saturating_add(traffic, model_.traffic_of(t, entered));
    }
    if (!skyline.beats(capacity, traffic)) skyline.add(capacity, traffic, choice_);
  }

  void enumerate(size_t g, std::vector<const Option*>& chosen, Skyline<Mapping>& skyline) {
    if (g < groups_.size()) {
      for (const Option& option : groups_[g]) {
        if (option.keeps()) continue;
        chosen[g] = &option;
        enumerate(g + 1, chosen, skyline);
      }
      return;
    }
    auto gaps = gaps_of(einsum_, count_, chosen);
    permute(0, gaps, chosen, skyline);
  }

  void permute(size_t gap, std::vector<std::vector<Step>>& gaps, const std::vector<const Option*>& chosen,
               Skyline<Mapping>& skyline) {
    if (gap == gaps.size()) {
      Mapping mapping = mapping_of(order_, gaps, chosen);
      const Cost cost = model_.cost(mapping);
      if (!skyline.beats(cost.capacity, cost.traffic)) skyline.add(cost.capacity, cost.traffic, std::move(mapping));
      return;
    }
    const auto free = std::find_if(gaps[gap].begin(), gaps[gap].end(), [&](const Step& step) {
      return !einsum_.dims[static_cast<size_t>(step.index)].ordered;
    });
    const auto by_dim = [](const Step& a, const Step& b) { return a.index < b.index; };
    std::sort(free, gaps[gap].end(), by_dim);
    do permute(gap + 1, gaps, chosen, skyline);
    while (std::next_permutation(free, gaps[gap].end(), by_dim));
  }

  const Einsum& einsum_;
  const CostModel& model_;
  const Order& order_;
  std::vector<std::vector<Option>> groups_;
  size_t count_;
  // By the number of groups decided.
  std::vector<std::vector<int64_t>> held_ = {}, entered_ = {};
  std::vector<std::vector<int32_t>> last_ = {};
  // What the groups from there on multiply by at least.
  std::vector<std::vector<int64_t>> least_held_ = {}, least_entered_ = {};
  Choice choice_ = {};
};

constexpr int64_t kThoroughPoints = 20'000;

struct Problem {
  Einsum einsum;
  CostModel model;
  std::vector<std::vector<int32_t>> groups;
  std::vector<Order> orders;
};

int64_t count_ways(const Problem& problem, const SplitRules& rules) {
  int64_t sum = 0;
  for (const Order& order : problem.orders) {
    int64_t ways = 1;
    for (const auto& group : problem.groups)
      ways = saturating_mul(ways, count_options(problem.einsum, problem.model, order, group, rules));
    sum = saturating_add(sum, ways);
  }
  return sum;
}

int64_t box_points(const Einsum& einsum) {
  int64_t points = 1;
  for (const Dim& dim : einsum.dims) points = saturating_mul(points, dim.extent);
  return points;
}

OrderSearch search_of(const Problem& problem, const Order& order, const SplitRules& rules) {
  std::vector<std::vector<Option>> groups;
  for (const auto& group : problem.groups)
    groups.push_back(options(problem.einsum, problem.model, order, group, rules));
  // The group with the most options innermost.
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return OrderSearch(problem.einsum, problem.model, order, std::move(groups));
}

Curve curve_of(const Skyline<Mapping>& skyline) {
  Curve curve;
  for (const auto& entry : skyline.entries())
    curve.push_back({.capacity = entry.capacity, .traffic = entry.traffic, .mapping = entry.what});
  return curve;
}

}  // namespace

Curve traffic_curve(const Einsum& given, const SearchEffort& effort) {
  const Einsum einsum = merge_dims(given);
  const CostModel model(einsum);
  Problem problem{.einsum = einsum, .model = model, .groups = dim_groups(einsum, model), .orders = orders(einsum, model)};
  Skyline<Mapping> exact;
  const SplitRules every{.thorough = true};
  if (box_points(einsum) <= kThoroughPoints && count_ways(problem, every) <= effort.thorough) {
    for (const Order& order : problem.orders) search_of(problem, order, every).run_thoroughly(exact);
    return curve_of(exact);
  }
  std::vector<OrderSearch> searches;
  Skyline<Choice> skyline;
  const auto search = [&](const SplitRules& rules) {
    for (const Order& order : problem.orders) {
      searches.push_back(search_of(problem, order, rules));
      searches.back().run(static_cast<uint32_t>(searches.size() - 1), skyline);
    }
  };
  SplitRules rules;
  for (int64_t limit = 256; count_ways(problem, rules) > effort.ways && limit >= 2; limit = limit * 3 / 4) rules.limit = limit;
  search(rules);
  const bool windows = std::any_of(problem.groups.begin(), problem.groups.end(), [](const auto& g) { return g.size() > 1; });
  const SplitRules wide{.windows = SplitRules::Windows::Wide};
  if (windows && count_ways(problem, wide) <= effort.ways) search(wide);
  // What ragged tiles and overlaps save beyond the product is found out now.
  for (const auto& entry : skyline.entries()) {
    const OrderSearch& found = searches[entry.what.order];
    std::vector<const Option*> chosen;
    for (size_t g = 0; g < entry.what.options.size(); ++g) chosen.push_back(&found.groups()[g][entry.what.options[g]]);
    Mapping mapping = mapping_of(found.order(), gaps_of(einsum, einsum.tensors.size(), chosen), chosen);
    const Cost cost = model.cost(mapping);
    exact.add(cost.capacity, cost.traffic, std::move(mapping));
  }
  return curve_of(exact);
}

}  // namespace solar::bound

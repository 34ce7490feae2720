#include "bound/order_search.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "bound/chains.h"

namespace solar::bound {
namespace {

int64_t quick_bytes(int64_t elements, Width width) {
  int64_t all = 0;
  if (__builtin_mul_overflow(elements, width.bytes_per_32, &all) || all > INT64_MAX - 31)
    return bytes_of(elements, width);
  return static_cast<int64_t>((static_cast<uint64_t>(all) + 31) / 32);
}

// What enters where an option's windows keep what the next box shares.
int64_t with_keeping(int64_t entered, const Option& keeping, size_t i) {
  if (keeping.kept[i] == keeping.entered[i]) return entered;
  return entered / keeping.entered[i] * keeping.kept[i];
}

// Whether options of these groups may be exchanged.
bool are_twins(const std::vector<Option>& a, const std::vector<Option>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Option& x, const Option& y) {
    return x.held == y.held && x.entered == y.entered && x.kept == y.kept && x.last == y.last &&
           x.gap == y.gap;
  });
}

}  // namespace

int64_t OrderSearch::Weights::capacity(int64_t held) const {
  return quick_bytes(std::min(held, distinct), on_chip);
}

int64_t OrderSearch::Weights::traffic(int64_t entered) const {
  if (untouched > 0) entered -= entered / (distinct + untouched) * untouched;
  if (!is_output) return quick_bytes(entered, dram);
  const int64_t again = std::max<int64_t>(0, entered - distinct);
  return saturating_add(quick_bytes(distinct, dram),
                        quick_bytes(saturating_mul(2, again), partial));
}

OrderSearch::OrderSearch(const Einsum& einsum, const CostModel& model, const Order& order,
                         std::vector<std::vector<Option>> groups)
    : einsum_(&einsum), model_(&model), order_(order), groups_(std::move(groups)) {
  // The group with the most options innermost; in each, alike options beside each other.
  std::stable_sort(groups_.begin(), groups_.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const size_t count = order_.tensors.size();
  for (int32_t t : order_.tensors) {
    const Tensor& tensor = einsum.tensors[static_cast<size_t>(t)];
    const auto at = static_cast<size_t>(t);
    weights_.push_back({.distinct = model.distinct(at),
                        .untouched = model.untouched(at),
                        .on_chip = tensor.on_chip,
                        .dram = tensor.dram,
                        .partial = tensor.partial,
                        .is_output = tensor.is_output});
  }
  states_.assign(groups_.size() + 1, {.held = std::vector<int64_t>(count, 1),
                                      .entered = std::vector<int64_t>(count, 1),
                                      .last = std::vector<int32_t>(count, -1)});
  least_held_.assign(groups_.size() + 1, std::vector<int64_t>(count, 1));
  least_kept_ = least_held_;
  branches_.resize(groups_.size());
  factors_.resize(groups_.size());
  for (size_t g = groups_.size(); g-- > 0;) {
    const auto weight = [](const Option& option) {
      return std::accumulate(option.held.begin(), option.held.end(), int64_t{0}, saturating_add);
    };
    std::stable_sort(groups_[g].begin(), groups_[g].end(),
                     [&](const Option& a, const Option& b) { return weight(a) < weight(b); });
    factors_[g].resize(4 * count * groups_[g].size());
    const uint32_t whole = grow(g, 0, static_cast<uint32_t>(groups_[g].size()));
    for (size_t i = 0; i < count; ++i) {
      least_held_[g][i] = saturating_mul(least_held_[g + 1][i], held_of(g, whole)[i]);
      least_kept_[g][i] = saturating_mul(least_kept_[g + 1][i], kept_of(g, whole)[i]);
    }
  }
  choice_.options.resize(groups_.size());
  for (size_t g = 0; g < groups_.size(); ++g)
    twin_.push_back(g > 0 && are_twins(groups_[g - 1], groups_[g]));
  for (size_t d = 0; d < einsum.dims.size(); ++d) {
    const Presence where = presence(model, order_, static_cast<int32_t>(d));
    everywhere_.push_back(!where.in_window &&
                          std::find(where.has.begin(), where.has.end(), false) == where.has.end());
  }
}

uint32_t OrderSearch::grow(size_t group, uint32_t from, uint32_t to) {
  Branch branch{.from = from, .to = to};
  const bool single = to - from == 1;
  if (!single) {
    branch.left = grow(group, from, from + (to - from) / 2);
    branch.right = grow(group, from + (to - from) / 2, to);
    branch.all_keep =
        branches_[group][branch.left].all_keep && branches_[group][branch.right].all_keep;
  } else {
    branch.all_keep = groups_[group][from].keeps();
  }
  const size_t at = branches_[group].size();
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Option& option = groups_[group][from];
    held_of(group, at)[i] =
        single ? option.held[i]
               : std::min(held_of(group, branch.left)[i], held_of(group, branch.right)[i]);
    kept_of(group, at)[i] =
        single ? option.kept[i]
               : std::min(kept_of(group, branch.left)[i], kept_of(group, branch.right)[i]);
  }
  branches_[group].push_back(branch);
  return static_cast<uint32_t>(at);
}

void OrderSearch::run(uint32_t index, std::vector<Choice>& choices, Skyline<uint32_t>& skyline) {
  choice_.search = index;
  choices_ = &choices;
  if (groups_.empty()) return finish(skyline);
  visit(0, static_cast<uint32_t>(branches_[0].size() - 1), skyline);
}

void OrderSearch::visit(size_t group, uint32_t at, Skyline<uint32_t>& skyline) {
  const Branch& branch = branches_[group][at];
  const State& state = states_[group];
  if (state.keeping != nullptr && branch.all_keep) return;  // only one group can stand innermost
  if (twin_[group] && branch.to <= choice_.options[group - 1]) return;
  const int64_t* least_held = held_of(group, at);
  const int64_t* least_kept = kept_of(group, at);
  int64_t capacity = 0, traffic = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    int64_t entered = state.entered[i];
    if (state.keeping != nullptr) entered = with_keeping(entered, *state.keeping, i);
    const int64_t held = saturating_mul(state.held[i], least_held[i]);
    entered = saturating_mul(entered, least_kept[i]);
    capacity = saturating_add(
        capacity, weights_[i].capacity(saturating_mul(held, least_held_[group + 1][i])));
    traffic = saturating_add(
        traffic, weights_[i].traffic(saturating_mul(entered, least_kept_[group + 1][i])));
  }
  if (skyline.beats(capacity, traffic)) return;
  if (branch.to - branch.from == 1) return take(group, branch.from, skyline);
  visit(group, branch.left, skyline);
  visit(group, branch.right, skyline);
}

void OrderSearch::take(size_t group, uint32_t at, Skyline<uint32_t>& skyline) {
  const Option& option = groups_[group][at];
  const State& state = states_[group];
  State& next = states_[group + 1];
  for (size_t i = 0; i < weights_.size(); ++i) {
    next.held[i] = saturating_mul(state.held[i], option.held[i]);
    next.entered[i] = saturating_mul(state.entered[i], option.entered[i]);
    next.last[i] = option.keeps() ? state.last[i] : std::max(state.last[i], option.last[i]);
  }
  next.keeping = option.keeps() ? &option : state.keeping;
  choice_.options[group] = at;
  if (group + 1 == groups_.size()) return finish(skyline);
  visit(group + 1, static_cast<uint32_t>(branches_[group + 1].size() - 1), skyline);
}

void OrderSearch::finish(Skyline<uint32_t>& skyline) {
  const State& state = states_.back();
  int64_t capacity = 0, traffic = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    int64_t entered = state.entered[i];
    if (state.keeping != nullptr && state.last[i] <= state.keeping->gap)
      entered = with_keeping(entered, *state.keeping, i);
    capacity = saturating_add(capacity, weights_[i].capacity(state.held[i]));
    traffic = saturating_add(traffic, weights_[i].traffic(entered));
  }
  if (skyline.beats(capacity, traffic)) return;
  skyline.add(capacity, traffic, static_cast<uint32_t>(choices_->size()));
  choices_->push_back(choice_);
}

void OrderSearch::run_thoroughly(Skyline<Mapping>& skyline) const {
  std::vector<const Option*> chosen(groups_.size());
  enumerate(0, chosen, skyline);
}

void OrderSearch::enumerate(size_t group, std::vector<const Option*>& chosen,
                            Skyline<Mapping>& skyline) const {
  if (group == groups_.size()) {
    Gaps gaps = gaps_of(chosen);
    return permute(0, gaps, chosen, skyline);
  }
  for (const Option& option : groups_[group]) {
    if (option.keeps()) continue;  // its loops in another order, which come up anyway
    chosen[group] = &option;
    enumerate(group + 1, chosen, skyline);
  }
}

void OrderSearch::permute(size_t gap, Gaps& gaps, const std::vector<const Option*>& chosen,
                          Skyline<Mapping>& skyline) const {
  if (gap == gaps.size()) {
    Mapping mapping = mapping_of(gaps, chosen);
    const Cost cost = model_->cost(mapping);
    if (!skyline.beats(cost.capacity, cost.traffic))
      skyline.add(cost.capacity, cost.traffic, std::move(mapping));
    return;
  }
  const auto free = std::find_if(gaps[gap].begin(), gaps[gap].end(), [&](const Step& step) {
    return !einsum_->dims[static_cast<size_t>(step.index)].ordered &&
           !everywhere_[static_cast<size_t>(step.index)];
  });
  const auto by_dim = [](const Step& a, const Step& b) { return a.index < b.index; };
  std::sort(free, gaps[gap].end(), by_dim);
  do permute(gap + 1, gaps, chosen, skyline);
  while (std::next_permutation(free, gaps[gap].end(), by_dim));
}

Mapping OrderSearch::mapping(const Choice& choice) const {
  std::vector<const Option*> chosen;
  for (size_t g = 0; g < groups_.size(); ++g) chosen.push_back(&groups_[g][choice.options[g]]);
  return mapping_of(gaps_of(chosen), chosen);
}

// The loops of each gap. Ordered dims come first, then those that change every box, and a group
// that keeps last.
OrderSearch::Gaps OrderSearch::gaps_of(const std::vector<const Option*>& chosen) const {
  Gaps gaps(order_.tensors.size() + 1);
  const auto add = [&](auto wanted) {
    for (const Option* option : chosen)
      for (const GapLoop& loop : option->loops)
        if (wanted(*option, static_cast<size_t>(loop.dim)))
          gaps[static_cast<size_t>(loop.gap)].push_back({.index = loop.dim, .tile = loop.tile});
  };
  const auto ordered = [&](size_t dim) { return einsum_->dims[dim].ordered; };
  const auto free = [&](size_t dim) { return !ordered(dim) && !everywhere_[dim]; };
  add([&](const Option&, size_t dim) { return ordered(dim); });
  add([&](const Option&, size_t dim) { return !ordered(dim) && everywhere_[dim]; });
  add([&](const Option& option, size_t dim) { return free(dim) && !option.keeps(); });
  add([&](const Option& option, size_t dim) { return free(dim) && option.keeps(); });
  return gaps;
}

Mapping OrderSearch::mapping_of(const Gaps& gaps, const std::vector<const Option*>& chosen) const {
  Mapping mapping;
  for (size_t i = 0; i < gaps.size(); ++i) {
    mapping.steps.insert(mapping.steps.end(), gaps[i].begin(), gaps[i].end());
    if (i == order_.tensors.size()) break;
    Step store{.kind = Step::Kind::Store, .index = order_.tensors[i]};
    for (const Option* option : chosen) store.whole |= option->whole[i];
    mapping.steps.push_back(store);
  }
  return mapping;
}

}  // namespace solar::bound

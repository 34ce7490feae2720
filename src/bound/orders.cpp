#include "bound/orders.h"

#include <algorithm>
#include <numeric>

namespace solar::bound {
namespace {

constexpr size_t kMostPermuted = 5;

std::vector<bool> dims_of_tensor(const Einsum& einsum, const CostModel& model, size_t tensor) {
  std::vector<bool> has(einsum.dims.size(), false);
  for (const Rank& rank : model.ranks(tensor))
    for (int32_t dim : rank.dims) has[static_cast<size_t>(dim)] = true;
  return has;
}

// Swapping two such tensors changes no cost.
bool cost_alike(const Einsum& einsum, const CostModel& model, size_t a, size_t b) {
  const Tensor& x = einsum.tensors[a];
  const Tensor& y = einsum.tensors[b];
  if (x.is_output != y.is_output || x.dram != y.dram || x.on_chip != y.on_chip ||
      x.partial != y.partial)
    return false;
  if (x.footprint != y.footprint) return false;
  const auto windowless = [&](size_t t) {
    return std::none_of(model.ranks(t).begin(), model.ranks(t).end(),
                        [](const Rank& r) { return r.is_window(); });
  };
  return windowless(a) && windowless(b) &&
         dims_of_tensor(einsum, model, a) == dims_of_tensor(einsum, model, b);
}

// Blocks of tensors that stay together.
std::vector<std::vector<int32_t>> tensor_blocks(const Einsum& einsum, const CostModel& model) {
  std::vector<std::vector<int32_t>> all;
  const bool single = einsum.tensors.size() <= kMostPermuted;
  for (size_t t = 0; t < einsum.tensors.size(); ++t) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const std::vector<int32_t>& block) {
      return !single && dims_of_tensor(einsum, model, static_cast<size_t>(block[0])) ==
                            dims_of_tensor(einsum, model, t);
    });
    if (same == all.end())
      all.push_back({static_cast<int32_t>(t)});
    else
      same->push_back(static_cast<int32_t>(t));
  }
  return all;
}

}  // namespace

std::vector<Order> orders(const Einsum& einsum, const CostModel& model) {
  const auto together = tensor_blocks(einsum, model);
  std::vector<size_t> sequence(together.size());
  std::iota(sequence.begin(), sequence.end(), size_t{0});
  const bool any_ordered =
      std::any_of(einsum.dims.begin(), einsum.dims.end(), [](const Dim& d) { return d.ordered; });
  const auto last_gap = any_ordered ? static_cast<int32_t>(einsum.tensors.size()) : 0;
  std::vector<Order> all;
  const auto add = [&] {
    Order order;
    for (size_t b : sequence)
      order.tensors.insert(order.tensors.end(), together[b].begin(), together[b].end());
    for (size_t i = 0; i < order.tensors.size(); ++i)
      for (size_t j = i + 1; j < order.tensors.size(); ++j)
        if (order.tensors[i] > order.tensors[j] &&
            cost_alike(einsum, model, static_cast<size_t>(order.tensors[i]),
                       static_cast<size_t>(order.tensors[j])))
          return;
    for (; order.first_gap <= last_gap; ++order.first_gap) all.push_back(order);
  };
  if (together.size() <= kMostPermuted) {
    do add();
    while (std::next_permutation(sequence.begin(), sequence.end()));
    return all;
  }
  // Each block outermost in turn, the others by size either way.
  const auto size = [&](size_t b) { return model.distinct(static_cast<size_t>(together[b][0])); };
  for (size_t first = 0; first < together.size(); ++first) {
    std::iota(sequence.begin(), sequence.end(), size_t{0});
    std::swap(sequence[0], sequence[first]);
    std::stable_sort(sequence.begin() + 1, sequence.end(),
                     [&](size_t a, size_t b) { return size(a) < size(b); });
    add();
    std::reverse(sequence.begin() + 1, sequence.end());
    add();
  }
  return all;
}

}  // namespace solar::bound

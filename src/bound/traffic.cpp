#include "bound/traffic.h"

#include <algorithm>

#include "base/checked.h"
#include "bound/live.h"
#include "bound/sweep.h"

namespace solar::bound {
namespace {

using Wide = __int128;
constexpr Wide kTooMuch = Wide{1} << 120;

int64_t narrowed(Wide value) { return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value); }

// `distinct` elements of the tensor move; `untouched` ones of the whole box stay outside.
TensorTraffic sweep_tensor(const Einsum& einsum, const std::vector<Rank>& ranks,
                           const std::vector<Step>& loops, int64_t distinct, int64_t untouched) {
  const Sweep sweep(einsum, loops);
  std::vector<bool> relevant(einsum.dims.size(), false);
  int64_t held = 1;
  for (const Rank& rank : ranks) {
    std::vector<int64_t> lengths;
    for (int32_t dim : rank.dims) {
      relevant[static_cast<size_t>(dim)] = true;
      lengths.push_back(sweep.longest(dim));
    }
    held = saturating_mul(held, image(rank, lengths));
  }
  std::vector<int32_t> others;  // dims that the tensor does not have and a loop splits
  for (size_t j = 0; j < sweep.loops(); ++j) {
    const int32_t dim = sweep.dim_of(j);
    if (!relevant[static_cast<size_t>(dim)] &&
        std::find(others.begin(), others.end(), dim) == others.end())
      others.push_back(dim);
  }
  const Entering entering = total_entering(ranks, others, sweep, 0);
  Wide entered = entering.elements - entering.each * untouched;
  if (!einsum.guards.empty()) {
    // A guard may be over dims that no loop splits: they count once.
    if (const auto live = total_live(einsum, ranks, others, sweep))
      entered = std::min(entered, *live);
    entered = std::max(entered, Wide{distinct});
  }
  return {.held = std::min(held, distinct), .entered = narrowed(entered)};
}

}  // namespace

int64_t held_bytes(const Tensor& tensor, int64_t elements) {
  return bytes_of(elements, tensor.on_chip);
}

int64_t moved_bytes(const Tensor& tensor, int64_t entered, int64_t distinct) {
  if (!tensor.is_output) return bytes_of(entered, tensor.dram);
  const int64_t again = std::max<int64_t>(0, entered - distinct);
  return saturating_add(bytes_of(distinct, tensor.dram),
                        bytes_of(saturating_mul(2, again), tensor.partial));
}

CostModel::CostModel(const Einsum& einsum) : einsum_(&einsum) {
  for (const Tensor& tensor : einsum.tensors) {
    ranks_.push_back(ranks_of(tensor));
    const int64_t all = box_image(einsum, tensor);
    const bool cut = !einsum.guards.empty() && tensor.footprint < all;
    distinct_.push_back(cut ? tensor.footprint : all);
    untouched_.push_back(cut ? all - tensor.footprint : 0);
  }
}

std::vector<Rank> CostModel::ranks(size_t tensor, uint32_t whole) const {
  std::vector<Rank> result = ranks_[tensor];
  for (Rank& rank : result)
    if (rank.axis >= 0 && rank.axis < 32 && (whole >> rank.axis & 1) != 0)
      rank = whole_range(rank, *einsum_).value_or(rank);
  return result;
}

int64_t CostModel::compulsory() const {
  int64_t sum = 0;
  for (size_t i = 0; i < einsum_->tensors.size(); ++i)
    sum = saturating_add(sum, moved_bytes(einsum_->tensors[i], distinct_[i], distinct_[i]));
  return sum;
}

Cost CostModel::cost(const Mapping& mapping) const {
  Cost result;
  result.tensors.resize(einsum_->tensors.size());
  Wide points = 1;
  for (const Dim& dim : einsum_->dims) points = std::min(kTooMuch, points * dim.extent);
  if (points > INT64_MAX) return {.capacity = INT64_MAX, .traffic = INT64_MAX};
  std::vector<Step> loops;
  for (const Step& step : mapping.steps) {
    if (step.kind == Step::Kind::Loop) {
      loops.push_back(step);
      continue;
    }
    const auto t = static_cast<size_t>(step.index);
    const Tensor& tensor = einsum_->tensors[t];
    const std::vector<Rank> ranks = step.whole == 0 ? ranks_[t] : this->ranks(t, step.whole);
    const TensorTraffic moves = sweep_tensor(*einsum_, ranks, loops, distinct_[t], untouched_[t]);
    result.tensors[t] = moves;
    result.capacity = saturating_add(result.capacity, held_bytes(tensor, moves.held));
    result.traffic =
        saturating_add(result.traffic, moved_bytes(tensor, moves.entered, distinct_[t]));
  }
  return result;
}

Cost cost(const Einsum& einsum, const Mapping& mapping) { return CostModel(einsum).cost(mapping); }

}  // namespace solar::bound

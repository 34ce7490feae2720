#pragma once
// How the dims of one group may be split above an order of storage nodes, and what each way means
// to the tensors. Dims form a group where a window ties them together.

#include <cstdint>
#include <vector>

#include "bound/mapping.h"
#include "bound/traffic.h"

namespace solar::bound {

/// A tile loop just above the tensor at position `gap` of the order.
struct GapLoop {
  int32_t gap = 0;
  int32_t dim = 0;
  int64_t tile = 1;
};

/// The order of the storage nodes, and from which gap on there may be loops.
struct Order {
  std::vector<int32_t> tensors = {};
  int32_t first_gap = 0;
};

struct SplitRules {
  /// Where a dim of a window may be split a second time: to single steps only, or to any tile and
  /// also in gaps where no lemma rules it out.
  enum class Windows : uint8_t { Narrow, Wide } windows = Windows::Narrow;
  /// Every integer tile: for small einsums.
  bool thorough = false;
  /// Tiles to try at one place, about evenly spaced in ratio.
  int64_t limit = INT64_MAX;
};

/// One way to split a group. By position in the order: factors of the elements held and entered.
struct Option {
  std::vector<GapLoop> loops = {};
  std::vector<int64_t> held = {};
  std::vector<int64_t> entered = {};
  std::vector<uint32_t> whole = {};  // axes of the tensor to hold as ranges, as in Step
  std::vector<int32_t> last = {};    // the last gap with a loop above that tensor; -1 for none
  /// Where no other group has a loop after gap `gap`, -1 for nowhere, and the group's own loops
  /// stand innermost in their gaps, windows keep what the next box shares: only `kept` enters.
  int32_t gap = -1;
  std::vector<int64_t> kept = {};
  bool keeps() const { return gap >= 0; }
};

/// The groups of an einsum's dims.
std::vector<std::vector<int32_t>> dim_groups(const Einsum& einsum, const CostModel& model);

/// How many ways there are before beaten ones are left out.
int64_t count_options(const Einsum& einsum, const CostModel& model, const Order& order,
                      const std::vector<int32_t>& group, const SplitRules& rules);

/// Every way that is not in all respects worse than another.
std::vector<Option> options(const Einsum& einsum, const CostModel& model, const Order& order,
                            const std::vector<int32_t>& group, const SplitRules& rules);

}  // namespace solar::bound

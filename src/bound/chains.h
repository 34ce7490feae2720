#pragma once
// The tiles of one dim from the outermost gap inwards that are worth a try.

#include <vector>

#include "bound/splits.h"

namespace solar::bound {

/// Which ranks of which tensors have the dim, by position in an order.
struct Presence {
  std::vector<bool> has = {};
  std::vector<bool> window = {};  // those with a window, be it of other dims
  bool in_window = false;         // the dim itself is in one
};
Presence presence(const CostModel& model, const Order& order, int32_t dim);

/// Lists of loops, each list tiles of one dim, only those that take more than one step. By the
/// lemmas of the theory: a dim is split where a run of tensors that have it starts, and below a
/// window of it; to single steps where all tensors from there on have it; and of the tiles with
/// equal trip counts the smallest is enough.
std::vector<std::vector<GapLoop>> chains(const Einsum& einsum, const Order& order, int32_t dim,
                                         const Presence& where, const SplitRules& rules);

}  // namespace solar::bound

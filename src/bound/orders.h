#pragma once
// The orders of storage nodes that a search goes through.

#include <vector>

#include "bound/splits.h"

namespace solar::bound {

/// All orders, once where tensors are alike in everything that costs; with up to five tensors. Of
/// more, those that keep tensors with the same dims together, and of very many a selection.
std::vector<Order> orders(const Einsum& einsum, const CostModel& model);

}  // namespace solar::bound

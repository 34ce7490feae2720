#pragma once
// Bytes of tensors in memory, with block-scaled storage.

#include <optional>

#include "base/units.h"
#include "einsum/storage_policy.h"
#include "ir/core.h"

namespace solar::einsum {

/// Bytes of so many elements of `tensor`, rounded up. All of a block-scaled tensor has a scale for
/// every block along its last axis, also for one that is not full; a part of it is counted at the
/// average, which may be too small. `half_zero`: 2:4 sparsity keeps half of the elements, with two
/// bits for the place of each. nullopt: does not fit 64 bits.
std::optional<Bytes> bytes_of(const ir::Tensor& tensor, int64_t elements,
                              const StoragePolicy& policy = {}, bool half_zero = false);

}  // namespace solar::einsum

#pragma once
// Nodes of a lifted program as the einsums of this stage.

#include <optional>

#include "bound/einsum.h"
#include "einsum/graph.h"
#include "einsum/storage_policy.h"
#include "ir/core.h"

namespace solar::bound {

/// Bytes of a tensor's elements in DRAM. nullopt: no such ratio (a storage format whose blocks are
/// no divisor of 32).
std::optional<Width> width_of(const ir::Tensor& tensor, const einsum::StoragePolicy& storage);

/// The node's nest with its tensors; `array` is the tensor's id. nullopt: the node has no form, or
/// a tensor no width. A sum's partial results are as wide as the type it adds up in; what a bound
/// may take for granted is the narrower of that and the stored type.
std::optional<Einsum> einsum_of(const einsum::Node& node, const ir::Program& program,
                                const einsum::StoragePolicy& storage);

}  // namespace solar::bound

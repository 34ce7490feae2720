#pragma once
// The products of a lifted graph, as the bound of whole graphs takes them.

#include "bound/graph_bound.h"
#include "einsum/graph.h"
#include "einsum/storage_policy.h"
#include "ir/core.h"

namespace solar::bound {

/// Nodes with forms (LiftOptions::forms) that are products of two tensors. What cannot be said of a
/// tensor leaves its products out: the bound is of the others. `compulsory`: bytes of the whole.
GraphProblem problem_of(const einsum::Graph& graph, const ir::Program& program,
                        const einsum::StoragePolicy& storage, int64_t compulsory);

}  // namespace solar::bound

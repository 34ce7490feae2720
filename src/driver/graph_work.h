#pragma once
// The work that a graph's bounds are of.

#include <vector>

#include "base/result.h"
#include "einsum/graph.h"
#include "roofline/roofline.h"

namespace solar::driver {

/// Of every operator, with the proved minimum of data-dependent reads. Failure: CountOverflow.
Result<std::vector<roofline::Work>> operator_work(const einsum::Graph& graph);

/// Of the whole: its MACs and the compulsory traffic.
Result<roofline::Work> graph_work(const einsum::Graph& graph);

}  // namespace solar::driver

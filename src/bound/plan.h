#pragma once
// Fused groups of a graph's nodes for a given capacity, and the traffic that running them one after
// the other moves. Attained, not proved least.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bound/curve.h"
#include "bound/plan_graph.h"

namespace solar::bound {

/// A loop around a sliced group: per unit the dim that it runs over, in tiles of so many points.
struct GroupLoop {
  std::vector<int32_t> dims = {};
  int64_t tile = 1;
};

/// A run of units that share their tiles: what passes between them stays on chip.
struct Group {
  int32_t first = 0;
  int32_t last = 0;                   // one past
  std::string strategy = {};          // alone, epilogue, resident, sliced
  std::string schedule = {};          // its loops and what stands in them, one line
  int64_t capacity = 0;               // bytes of its buffers
  int64_t traffic = 0;                // bytes
  std::vector<GroupLoop> loops = {};  // of a sliced one, outermost first
  bool holds = true;  // arrays that no loop slices stay; else they come anew for each slice
};

struct Plan {
  std::vector<Group> groups = {};
  int64_t traffic = 0;
};

/// The curve of an einsum; the planner asks for each structure once.
using CurveSource = std::function<const Curve&(const Einsum&)>;

/// The groups of least traffic among runs of up to 16 units in the graph's order. nullopt: some
/// node has no plan in this capacity (PlanGraph::obstacles says of which kinds none is made).
std::optional<Plan> plan(const PlanGraph& graph, int64_t capacity, const CurveSource& curves);

}  // namespace solar::bound

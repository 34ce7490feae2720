#pragma once
// A graph as the planner of fused groups takes it: einsums in an order in which they can run, and
// the arrays between them.

#include <cstdint>
#include <string>
#include <vector>

#include "bound/einsum.h"
#include "einsum/graph.h"
#include "einsum/storage_policy.h"
#include "ir/core.h"

namespace solar::bound {

struct PlanArray {
  std::string name = {};
  int64_t bytes = 0;  // of the elements that are read or written at all
  Width width = {};
  bool stored = false;                // has to be in DRAM at the end
  int32_t writer = -1;                // unit; -1: in DRAM at the start
  bool generated = false;             // no input decides it: made where it is needed
  std::vector<int32_t> readers = {};  // units, in order
  bool is_read_outside(int32_t first, int32_t last) const;
};

/// One node. `Tensor::array` is a place in PlanGraph::arrays.
struct PlanUnit {
  einsum::NodeId node = {};
  Einsum einsum = {};
};

struct PlanGraph {
  std::vector<PlanArray> arrays = {};
  std::vector<PlanUnit> units = {};
  std::vector<std::string> obstacles = {};  // nodes that have no form: then there is no plan
};

/// Bytes that the units [first, last) leave in DRAM for others, or as results.
int64_t bytes_left_by(const PlanGraph& graph, int32_t first, int32_t last);

/// Bytes that the units move at least: each array from outside read once, and what they leave.
int64_t least_bytes(const PlanGraph& graph, int32_t first, int32_t last);

/// `a`, `a, b, c`, `20 nodes from a to z`.
std::string names_of(const PlanGraph& graph, int32_t first, int32_t last);

PlanGraph plan_graph_of(const einsum::Graph& graph, const ir::Program& program,
                        const einsum::StoragePolicy& storage);

}  // namespace solar::bound

#pragma once
// What was found of a program, as the report says it.

#include <string>
#include <vector>

#include "arch/machine.h"
#include "driver/pipeline.h"
#include "einsum/graph.h"
#include "report/report.h"
#include "roofline/roofline.h"

namespace solar::driver {

/// The source, its validation and its dims, as far as they are known.
void fill_program(report::Report& report, const Loaded& loaded);

/// Totals and nodes, with what is to be said of them.
void fill_counts(report::Report& report, const Loaded& loaded, const einsum::Graph& graph);

/// The two bounds on one machine.
void fill_bounds(report::Report& report, const roofline::Bounds& bounds,
                 const arch::Machine& machine, const roofline::Policy& policy,
                 const einsum::Graph& graph);

/// One bound; its assumptions are the rates' and the graph's.
report::Bound bound_of(const std::string& mode, const roofline::Bound& bound,
                       const arch::Machine& machine, const roofline::Policy& policy,
                       const einsum::Graph& graph);

/// What the graph's counts take for granted, in every mode.
void add_assumptions(std::vector<std::string>& assumptions, const einsum::Graph& graph);

std::vector<report::Edge> edges_of(const einsum::Graph& graph, const ir::Program& program);

/// What fusing each edge saves on the machine, of the times in `unfused`.
std::vector<report::EdgeSaving> edge_savings(const einsum::Graph& graph,
                                             const std::vector<roofline::Time>& operators,
                                             BytesPerSecond bandwidth);

void add_warnings(std::vector<std::string>& warnings, const Loaded& loaded,
                  const einsum::Graph& graph);

}  // namespace solar::driver

#pragma once
// The algebraic mode: the floors of the cheapest program found with the same meaning.

#include <atomic>
#include <vector>

#include "arch/machine.h"
#include "driver/pipeline.h"

namespace solar::driver {

/// A row after each `fused` one: that of the program after the rewrites that help there, never
/// above it. Fills the rewrites, what was not done, and how the program is degenerate.
void add_algebraic(report::Report& report, const Loaded& loaded, const einsum::Graph& graph,
                   const std::vector<arch::Machine>& machines, const AnalyzeOptions& options,
                   const std::atomic<bool>* cancel = nullptr);

}  // namespace solar::driver

#pragma once
// The cache-aware mode: what no execution on a chip of that capacity avoids, and a plan that
// reaches the other end of the interval.

#include <atomic>
#include <vector>

#include "driver/pipeline.h"

namespace solar::driver {

/// Adds a row after each architecture's others. `graph` was lifted with forms.
void add_cache_aware(report::Report& report, const Loaded& loaded, const einsum::Graph& graph,
                     const std::vector<arch::Machine>& machines, const AnalyzeOptions& options,
                     const std::atomic<bool>* cancel);

}  // namespace solar::driver

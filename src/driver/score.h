#pragma once
// Is a measured time possible, and how good is it?

#include <optional>

#include "driver/liveness.h"
#include "driver/pipeline.h"
#include "report/score.h"

namespace solar::driver {

struct ScoreOptions {
  double measured_s = 0;
  std::optional<double> baseline_s = {};
};

/// `analyze.archs` names one architecture.
Result<report::Score> score(const AnalyzeOptions& analyze, const ScoreOptions& options,
                            const Environment& environment);

/// The same of what is loaded and counted already.
Result<report::Score> score(const Loaded& loaded, const einsum::Graph& graph,
                            const arch::Machine& machine, const AnalyzeOptions& analyze,
                            const Liveness& live, const ScoreOptions& options,
                            const std::atomic<bool>* cancel = nullptr);

}  // namespace solar::driver

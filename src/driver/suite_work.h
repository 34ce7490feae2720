#pragma once
// What a lane does: one analysis after the other, with workers that stay warm.

#include <string>
#include <vector>

#include "driver/pipeline.h"
#include "driver/suite_folder.h"
#include "driver/suite_lane.h"
#include "driver/suite_problems.h"

namespace solar::driver {

/// Analyses problems with `analyze` and answers with their result lines; whole reports are written
/// into the folder. The arguments must outlive the lanes.
MakeWork analyzing(const std::vector<Problem>& problems, const AnalyzeOptions& analyze,
                   const Environment& environment, const SuiteFolder& folder);

}  // namespace solar::driver

#pragma once
// What came of all problems of a run.

#include <vector>

#include "report/suite.h"

namespace solar::driver {

report::SuiteSummary summarize(const std::string& run,
                               const std::vector<report::SuiteResult>& results);

}  // namespace solar::driver

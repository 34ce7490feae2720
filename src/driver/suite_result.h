#pragma once
// The result line of one problem.

#include <string>

#include "driver/pipeline.h"
#include "driver/suite_schedule.h"
#include "report/suite.h"

namespace solar::driver {

report::SuiteResult result_of(const std::string& problem, const Attempt& attempt);

/// Of a problem whose lane was lost. `limits` are those it had.
report::SuiteResult result_of(const std::string& problem, const Loss& loss,
                              const ScheduleOptions& limits);

}  // namespace solar::driver

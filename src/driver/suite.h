#pragma once
// `solar suite`: many problems, each analysed by itself in one of a few processes that stay warm,
// the results in a folder that outlives any kill (suite_folder.h).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/pipeline.h"
#include "report/suite.h"

namespace solar::driver {

struct SuiteOptions {
  std::vector<std::string> sources = {};  // folders and files
  AnalyzeOptions analyze = {};            // of every problem; its source is not used
  std::string run = "solar-suite";        // the folder of the results
  bool resume = false;
  int jobs = 0;                           // lanes; 0: one per processor
  std::optional<double> memory_gib = {};  // of one run; absent: default_memory_gib
  double problem_seconds = 1800;          // of one problem, after which its lane is killed
  std::string version = {};               // of the program; a run is of one version
  /// Before the first problem of a run that goes on.
  std::function<void(int64_t done, int64_t problems)> resumed = {};
  /// After each problem, in this process.
  std::function<void(const report::SuiteResult&, const report::SuiteProgress&)> progress = {};
};

/// GiB that one run may take by default: 10, less where so many lanes would not fit the machine.
double default_memory_gib(int jobs);

/// Usage errors before any work. Must be called from a process without other threads. Ends as
/// Interrupted when it is cancelled; what is done stays done.
Result<report::SuiteSummary> suite(const SuiteOptions& options, const Environment& environment);

}  // namespace solar::driver

#pragma once
// What a run over many problems found, as pure data: filled by driver/, rendered by suite_text.h
// and suite_json.h. Field names are those of the files (schemas solar.result/1 and
// solar.summary/1).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace solar::report {

struct SuiteDiagnostic {
  std::string kind;
  std::string message;
  std::string at = {};  // file:line
  friend bool operator==(const SuiteDiagnostic&, const SuiteDiagnostic&) = default;
};

struct SuiteBound {
  std::string arch;
  std::string mode;
  double time_s = 0;
  std::string limiter = {};
  int64_t traffic_bytes = 0;
};

/// A way in which a problem does less than it seems to.
struct SuiteDegenerate {
  std::string kind;  // as in report::Degenerate
  std::string what;
  friend bool operator==(const SuiteDegenerate&, const SuiteDegenerate&) = default;
};

/// The line of one problem.
struct SuiteResult {
  std::string problem;
  /// passed, failed, skipped: of the validation. error: the source or a stage failed. limit: beyond
  /// the time or memory it may take. crashed: a process of it ended.
  std::string status = "error";
  std::string method = {};                        // of the validation, where there was one
  std::string reason = {};                        // why the validation was skipped
  std::vector<SuiteDiagnostic> diagnostics = {};  // errors
  std::optional<int64_t> statements = {};         // of the IR; absent: not traced
  std::optional<int64_t> nodes = {};              // source operators; absent: not counted
  std::optional<int64_t> macs = {};
  std::optional<int64_t> macs_useful = {};
  std::vector<SuiteBound> bounds = {};
  double wall_s = 0;
  double cpu_s = 0;            // of the lane and its workers
  int64_t peak_rss_bytes = 0;  // of the largest of these processes
  std::optional<Timings> timings_s = {};
  std::vector<SuiteDegenerate> degenerate = {};
  std::vector<std::string> warnings = {};
};

/// How far a run is after one more problem.
struct SuiteProgress {
  int64_t done = 0;
  int64_t problems = 0;
  double seconds_left = 0;
};

/// The results of the problems of one folder.
struct SuiteFolder {
  std::string folder;  // the first part of the problems' names; empty: those beside the folders
  int64_t problems = 0;
  int64_t traced = 0;
  int64_t counted = 0;
  int64_t bounded = 0;
  std::map<std::string, int64_t> passed = {};  // by method
  std::map<std::string, int64_t> others = {};  // by status
  double median_cpu_s = 0;
  double total_cpu_s = 0;
  double median_wall_s = 0;
  double total_wall_s = 0;
  int64_t peak_rss_bytes = 0;
  std::string peak_problem = {};
};

/// The problems that came to the same end.
struct SuiteClass {
  std::string status;
  std::string kind;  // of the first error; of a skipped validation: the reason
  std::vector<std::string> problems = {};
};

/// The problems that are degenerate in one way.
struct SuiteDegenerates {
  std::string kind;
  std::vector<std::string> problems = {};
};

struct SuiteSummary {
  std::string run;  // the folder
  int64_t problems = 0;
  std::vector<SuiteFolder> folders = {};
  SuiteFolder total = {};
  std::vector<SuiteClass> classes = {};  // of all that did not pass, the most frequent first
  int64_t degenerate_problems = 0;
  std::vector<SuiteDegenerates> degenerate = {};  // by kind; a problem may be in several
};

}  // namespace solar::report

#pragma once
// The folder of a run: its lock, its options, its results. Whatever kills a run leaves whole lines:
// a line is one write that is on disk before the next problem counts as done, and a torn last line
// is dropped by the next run.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/suite.h"

namespace solar::driver {

class SuiteFolder {
 public:
  /// Makes the folder, or goes on in it (`resume`). Usage errors: a run that is there without
  /// `resume`, one made with other `options` (a flat object), one that another process is at work
  /// in, a folder that is not a run.
  static Result<SuiteFolder> open(const std::string& path, const nlohmann::ordered_json& options,
                                  bool resume);

  SuiteFolder(SuiteFolder&& other) noexcept { swap(other); }
  SuiteFolder& operator=(SuiteFolder&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SuiteFolder();

  const std::string& path() const { return path_; }
  /// What was there, and what was added since, in the order of the file.
  const std::vector<report::SuiteResult>& results() const { return results_; }

  /// Adds the line of a result (with its break), which is on disk when this returns. A line that
  /// cannot be written leaves nothing of itself.
  Result<Done> add(const report::SuiteResult& result);

  /// Where the whole report of a problem goes; its folder is made.
  std::string report_path(const std::string& problem) const;

 private:
  SuiteFolder() = default;
  void swap(SuiteFolder& other) noexcept;
  Result<Done> make(bool resume);
  Result<Done> lock();
  Result<Done> check_options(const nlohmann::ordered_json& options);
  Result<Done> read_results();

  std::string path_ = {};
  int lock_ = -1;
  int file_ = -1;  // results.jsonl, at its end
  int64_t size_ = 0;
  std::vector<report::SuiteResult> results_ = {};
};

/// What a run left in its folder, whether it was finished or not.
struct RunFolder {
  std::vector<std::string> archs = {};  // as they were named
  std::string precision = "as-written";
  bool strict = false;
  std::vector<report::SuiteResult> results = {};
};

/// Changes nothing, and does not wait for a run that is at work there. Usage error: not a run's
/// folder.
Result<RunFolder> read_run(const std::string& path);

}  // namespace solar::driver

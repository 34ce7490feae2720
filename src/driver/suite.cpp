#include "driver/suite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "arch/library.h"
#include "base/file.h"
#include "driver/suite_folder.h"
#include "driver/suite_problems.h"
#include "driver/suite_result.h"
#include "driver/suite_schedule.h"
#include "driver/suite_summary.h"
#include "driver/suite_work.h"
#include "report/suite_json.h"

namespace solar::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostGib = 10;
constexpr double kLeastGib = 1;
constexpr double kRoomGib = 2;  // what a run may take beyond what was predicted
constexpr double kShareOfMachine = 0.8;

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Of the machine, or of the container that this is in.
double memory_gib() {
  const double pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  double bytes = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  double limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) {
    bytes = std::min(bytes, limit);
  }
  return bytes / 0x1p30;
}

/// What a run must have in common with the one that it goes on with.
nlohmann::ordered_json options_json(const SuiteOptions& options) {
  const AnalyzeOptions& analyze = options.analyze;
  std::vector<std::string> sources;
  for (const std::string& source : options.sources) {
    std::error_code ignored;  // they were found
    sources.push_back(std::filesystem::canonical(source, ignored).string());
  }
  nlohmann::ordered_json json = {{"version", options.version},
                                 {"sources", sources},
                                 {"arch", analyze.archs},
                                 {"precision", roofline::name(analyze.policy.precision)},
                                 {"strict", analyze.policy.strict},
                                 {"storage", einsum::name(analyze.storage)},
                                 {"sparsity", analyze.sparse_weights ? "2:4" : "none"},
                                 {"cache", analyze.policy.warm_cache ? "warm" : "cold"},
                                 {"validate", analyze.validate},
                                 {"algebra", analyze.algebra},
                                 {"params", analyze.frozen ? "frozen" : "runtime"},
                                 {"timeout_s", analyze.validation.limits.wall_seconds},
                                 {"problem_timeout_s", options.problem_seconds},
                                 {"memory_limit_gib", nullptr}};
  if (options.memory_gib) json["memory_limit_gib"] = *options.memory_gib;
  return json;
}

/// The results of a run as they come in.
class Run {
 public:
  Run(const SuiteOptions& options, const std::vector<Problem>& problems, SuiteFolder& folder)
      : options_(options), problems_(problems), folder_(folder) {
    std::set<std::string> done;
    for (const report::SuiteResult& result : folder.results()) done.insert(result.problem);
    for (size_t i = 0; i < problems.size(); ++i) {
      if (!done.contains(problems[i].name)) left_.push_back(i);
    }
  }

  const std::vector<size_t>& left() const { return left_; }
  size_t done() const { return problems_.size() - left_.size() + done_now_; }

  Result<Done> answered(const std::string& line) {
    const auto result = report::parse_line(line);
    if (!result) {
      return Diagnostic{
          .kind = DiagnosticKind::WorkerFailed,
          .message = fmt::format("a process of the suite answered `{}`", line.substr(0, 60))};
    }
    return add(*result);
  }

  Result<Done> add(const report::SuiteResult& result) {
    SOLAR_TRY([[maybe_unused]] const Done added, folder_.add(result));
    ++done_now_;
    if (!options_.progress) return Done{};
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    report::SuiteProgress progress;
    progress.done = static_cast<int64_t>(done());
    progress.problems = static_cast<int64_t>(problems_.size());
    progress.seconds_left =
        seconds / static_cast<double>(done_now_) * static_cast<double>(left_.size() - done_now_);
    options_.progress(result, progress);
    return Done{};
  }

 private:
  const SuiteOptions& options_;
  const std::vector<Problem>& problems_;
  SuiteFolder& folder_;
  std::vector<size_t> left_ = {};  // at the start
  size_t done_now_ = 0;
  Clock::time_point start_ = Clock::now();
};

Diagnostics interrupted(Diagnostics errors, size_t done, size_t problems) {
  for (Diagnostic& error : errors) {
    if (error.kind != DiagnosticKind::Interrupted) continue;
    error.message = fmt::format("interrupted; {} of {} problems are done and kept", done, problems);
    error.hint = "the same command with --resume goes on";
  }
  return errors;
}

}  // namespace

double default_memory_gib(int jobs) {
  const int lanes = jobs > 0 ? jobs : processors();
  return std::clamp(kShareOfMachine * memory_gib() / lanes - kRoomGib, kLeastGib, kMostGib);
}

Result<report::SuiteSummary> suite(const SuiteOptions& given, const Environment& environment) {
  SuiteOptions options = given;
  SOLAR_TRY([[maybe_unused]] const Done found, environment.check_root());
  if (!options.analyze.archs.empty()) {
    SOLAR_TRY([[maybe_unused]] const std::vector<arch::Machine> machines,
              arch::load_all(options.analyze.archs, environment.arch_library()));
  }
  SOLAR_TRY(const std::vector<Problem> problems, find_problems(options.sources));
  SOLAR_TRY(SuiteFolder folder,
            SuiteFolder::open(options.run, options_json(options), options.resume));

  ScheduleOptions schedule;
  schedule.lanes = options.jobs > 0 ? options.jobs : processors();
  schedule.problem_seconds = options.problem_seconds;
  schedule.cancel = environment.cancel;
  const double gib = options.memory_gib.value_or(default_memory_gib(schedule.lanes));
  validate::Options& validation = options.analyze.validation;
  validation.full_bytes = static_cast<int64_t>(gib * 0x1p30);
  validation.limits.memory_bytes = static_cast<int64_t>((gib + kRoomGib) * 0x1p30);
  validation.limits.threads = std::max(1, processors() / schedule.lanes);
  schedule.memory_bytes = validation.limits.memory_bytes;

  Run run(options, problems, folder);
  if (options.resumed && run.done() > 0) {
    options.resumed(static_cast<int64_t>(run.done()), static_cast<int64_t>(problems.size()));
  }
  const auto lost = [&](size_t problem, const Loss& loss) {
    return run.add(result_of(problems[problem].name, loss, schedule));
  };
  const auto done =
      run_lanes(run.left(), analyzing(problems, options.analyze, environment, folder), schedule,
                {[&](size_t, const std::string& line) { return run.answered(line); }, lost});
  if (!done) return interrupted(done.error(), run.done(), problems.size());
  const report::SuiteSummary summary = summarize(options.run, folder.results());
  SOLAR_TRY([[maybe_unused]] const Done written,
            write_file(options.run + "/summary.json", report::render_json(summary)));
  return summary;
}

}  // namespace solar::driver

#include "driver/suite_work.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/file.h"
#include "driver/suite_result.h"
#include "report/json.h"
#include "report/suite_json.h"

namespace solar::driver {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

struct Use {
  double cpu_seconds = 0;
  int64_t peak_rss = 0;
};

Use use_of_process() {
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  return {seconds_of(use.ru_utime) + seconds_of(use.ru_stime),
          static_cast<int64_t>(use.ru_maxrss) * 1024};
}

/// From now on the peak is that of what follows. Where the system does not offer that, it stays
/// that of the whole process.
void forget_peak() {
  const int fd = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t n = ::write(fd, "5", 1);
  ::close(fd);
}

class Analyses {
 public:
  Analyses(const std::vector<Problem>& problems, const AnalyzeOptions& analyze,
           const Environment& environment, const SuiteFolder& folder)
      : problems_(problems), options_(analyze), environment_(environment), folder_(folder) {
    environment_.progress = {};
    options_.validation.progress = {};
  }

  /// None where it was interrupted.
  std::optional<std::string> analyze(const Problem& problem) {
    ::malloc_trim(0);
    forget_peak();
    const auto start = Clock::now();
    const Use before = use_of_process();
    const Attempt attempt = attempt_at(problem);
    if (!environment_.check_cancelled()) return std::nullopt;
    report::SuiteResult result = result_of(problem.name, attempt);
    if (attempt.counted) keep(attempt.report, result);
    const Use after = use_of_process();
    const frontend::Cost workers = pool_ ? pool_->take_cost() : frontend::Cost{};
    result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    result.cpu_s = after.cpu_seconds - before.cpu_seconds + workers.cpu_seconds;
    result.peak_rss_bytes = std::max(after.peak_rss, workers.peak_rss);
    std::string line = report::render_line(result);
    line.pop_back();
    return line;
  }

  std::optional<std::string> analyze(size_t problem) { return analyze(problems_[problem]); }

 private:
  Attempt attempt_at(const Problem& problem) {
    options_.source = problem.source;
    if (!problem.source.ends_with(".alir") && (!pool_ || !pool_->usable())) {
      auto pool = frontend::WorkerPool::start(environment_.pool_options());
      if (!pool) return Attempt{.errors = std::move(pool.error())};
      pool_.emplace(std::move(*pool));
    }
    environment_.pool = pool_ ? &*pool_ : nullptr;
    return attempt(options_, environment_);
  }

  void keep(const report::Report& report, report::SuiteResult& result) const {
    const auto written =
        write_file(folder_.report_path(result.problem), report::render_json(report));
    if (written) return;
    result.warnings.push_back(
        fmt::format("its report is not kept: {}", written.error().front().message));
  }

  const std::vector<Problem>& problems_;
  AnalyzeOptions options_;
  Environment environment_;
  const SuiteFolder& folder_;
  std::optional<frontend::WorkerPool> pool_ = {};  // started when a problem first needs it
};

}  // namespace

MakeWork analyzing(const std::vector<Problem>& problems, const AnalyzeOptions& analyze,
                   const Environment& environment, const SuiteFolder& folder) {
  return [&]() -> Work {
    auto analyses = std::make_shared<Analyses>(problems, analyze, environment, folder);
    return [analyses](size_t problem) { return analyses->analyze(problem); };
  };
}

}  // namespace solar::driver

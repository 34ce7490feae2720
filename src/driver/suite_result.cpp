#include "driver/suite_result.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>

namespace solar::driver {
namespace {

/// `file:line`, or nothing.
std::string place_of(const Span& span) {
  if (!span.source) return "";
  return fmt::format("{}:{}", span.source->name, position_of(*span.source, span.begin).line);
}

std::string status_of(const Diagnostics& errors) {
  const auto any = [&](std::initializer_list<DiagnosticKind> kinds) {
    return std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& d) {
      return d.severity == Severity::Error &&
             std::find(kinds.begin(), kinds.end(), d.kind) != kinds.end();
    });
  };
  if (any({DiagnosticKind::WorkerLimit, DiagnosticKind::MemoryLimit})) return "limit";
  if (any({DiagnosticKind::WorkerFailed})) return "crashed";
  if (any({DiagnosticKind::ValidationFailed})) return "failed";
  return "error";
}

report::SuiteDiagnostic diagnostic(DiagnosticKind kind, std::string message) {
  return {std::string(slug(kind)), std::move(message)};
}

void add_diagnostics(report::SuiteResult& result, const Diagnostics& errors) {
  for (const Diagnostic& d : errors) {
    if (d.severity != Severity::Error) continue;
    result.diagnostics.push_back(diagnostic(d.kind, d.message));
    result.diagnostics.back().at = place_of(d.span);
  }
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string with_log(std::string message, const std::string& printed) {
  const size_t end = printed.find_last_not_of(" \n");
  if (end == std::string::npos) return message;
  return fmt::format("{}; it printed at the end: {}", message, printed.substr(0, end + 1));
}

}  // namespace

report::SuiteResult result_of(const std::string& problem, const Attempt& attempt) {
  const report::Report& report = attempt.report;
  const report::Validation& validation = report.validation;
  report::SuiteResult result;
  result.problem = problem;
  add_diagnostics(result, attempt.errors);
  if (attempt.errors.empty()) {
    result.status = validation.status;
    if (validation.status == "failed") {
      result.diagnostics.push_back(diagnostic(DiagnosticKind::ValidationFailed, validation.reason));
    }
  } else {
    result.status = status_of(attempt.errors);
  }
  result.method = validation.method;
  if (result.status == "skipped") result.reason = validation.reason;
  if (attempt.traced) {
    result.statements = attempt.statements;
    result.timings_s = report.timings_s;
  }
  if (attempt.counted) {
    result.nodes = static_cast<int64_t>(report.nodes.size());
    result.macs = report.totals.macs;
    result.macs_useful = report.totals.macs_useful;
  }
  for (const report::Bound& bound : report.bounds) {
    result.bounds.push_back(
        {bound.arch, bound.mode, bound.time_s, bound.limiter, bound.traffic_bytes});
  }
  result.warnings = report.warnings;
  for (const report::Degenerate& d : report.degenerate) {
    result.degenerate.push_back({d.kind, d.what});
    result.warnings.push_back("degenerate program: " + d.what);
  }
  return result;
}

report::SuiteResult result_of(const std::string& problem, const Loss& loss,
                              const ScheduleOptions& limits) {
  report::SuiteResult result;
  result.problem = problem;
  result.wall_s = loss.wall_seconds;
  result.cpu_s = loss.end.cpu_seconds;
  result.peak_rss_bytes = loss.end.peak_rss_bytes;
  const bool no_memory =
      loss.cause == Loss::Cause::Ended && loss.end.exit_status == kLaneOutOfMemory;
  if (loss.cause == Loss::Cause::TimeLimit) {
    result.status = "limit";
    result.diagnostics.push_back(
        diagnostic(DiagnosticKind::WorkerLimit,
                   fmt::format("the problem took longer than {:g} s (--problem-timeout)",
                               limits.problem_seconds)));
  } else if (loss.cause == Loss::Cause::MemoryLimit || no_memory) {
    result.status = "limit";
    result.diagnostics.push_back(diagnostic(
        DiagnosticKind::MemoryLimit,
        no_memory ? fmt::format(
                        "the system has no memory left for the analysis, which took {:.3g} of "
                        "the {:.3g} GiB that it may (--jobs and --memory-limit, lower, leave more)",
                        static_cast<double>(loss.end.peak_rss_bytes) / 0x1p30,
                        static_cast<double>(limits.memory_bytes) / 0x1p30)
                  : fmt::format("the analysis took more than {:.3g} GiB of memory (--memory-limit)",
                                static_cast<double>(limits.memory_bytes) / 0x1p30)));
  } else {
    result.status = "crashed";
    const std::string how = loss.end.signal != 0
                                ? fmt::format("was killed by {}", signal_name(loss.end.signal))
                                : fmt::format("ended with status {}", loss.end.exit_status);
    result.diagnostics.push_back(
        diagnostic(DiagnosticKind::WorkerFailed,
                   with_log("the process that analysed the problem " + how, loss.end.printed)));
  }
  return result;
}

}  // namespace solar::driver

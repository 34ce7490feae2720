#include "driver/suite_summary.h"

#include <algorithm>
#include <map>

#include "driver/suite_problems.h"

namespace solar::driver {
namespace {

using report::SuiteClass;
using report::SuiteFolder;
using report::SuiteResult;

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string folder_of(const std::string& problem) {
  const size_t slash = problem.find('/');
  return slash == std::string::npos ? "" : problem.substr(0, slash);
}

SuiteFolder sum(const std::string& name, const std::vector<const SuiteResult*>& results) {
  SuiteFolder folder;
  folder.folder = name;
  std::vector<double> cpu;
  std::vector<double> wall;
  for (const SuiteResult* r : results) {
    ++folder.problems;
    folder.traced += r->statements ? 1 : 0;
    folder.counted += r->macs ? 1 : 0;
    folder.bounded += r->bounds.empty() ? 0 : 1;
    ++(r->status == "passed" ? folder.passed[r->method] : folder.others[r->status]);
    folder.total_cpu_s += r->cpu_s;
    folder.total_wall_s += r->wall_s;
    cpu.push_back(r->cpu_s);
    wall.push_back(r->wall_s);
    if (r->peak_rss_bytes > folder.peak_rss_bytes) {
      folder.peak_rss_bytes = r->peak_rss_bytes;
      folder.peak_problem = r->problem;
    }
  }
  folder.median_cpu_s = median(std::move(cpu));
  folder.median_wall_s = median(std::move(wall));
  return folder;
}

/// What the problems of one class have in common: of a reason, what comes before its numbers.
std::string kind_of(const SuiteResult& result) {
  if (result.status == "skipped") return result.reason.substr(0, result.reason.find(" ("));
  return result.diagnostics.empty() ? "" : result.diagnostics.front().kind;
}

}  // namespace

report::SuiteSummary summarize(const std::string& run, const std::vector<SuiteResult>& results) {
  report::SuiteSummary summary;
  summary.run = run;
  summary.problems = static_cast<int64_t>(results.size());
  std::vector<const SuiteResult*> all;
  for (const SuiteResult& result : results) all.push_back(&result);
  std::stable_sort(all.begin(), all.end(), [](const SuiteResult* a, const SuiteResult* b) {
    return natural_less(a->problem, b->problem);
  });
  std::map<std::string, std::vector<const SuiteResult*>, NaturalLess> folders;
  std::map<std::pair<std::string, std::string>, SuiteClass> classes;
  std::map<std::string, report::SuiteDegenerates> degenerate;
  for (const SuiteResult* result : all) {
    if (!result->degenerate.empty()) ++summary.degenerate_problems;
    for (const report::SuiteDegenerate& d : result->degenerate) {
      report::SuiteDegenerates& of_kind = degenerate[d.kind];
      of_kind.kind = d.kind;
      if (of_kind.problems.empty() || of_kind.problems.back() != result->problem)
        of_kind.problems.push_back(result->problem);
    }
    folders[folder_of(result->problem)].push_back(result);
    if (result->status == "passed") continue;
    SuiteClass& c = classes[{result->status, kind_of(*result)}];
    c.status = result->status;
    c.kind = kind_of(*result);
    c.problems.push_back(result->problem);
  }
  for (const auto& [name, members] : folders) summary.folders.push_back(sum(name, members));
  summary.total = sum("", all);
  for (auto& [kind, d] : degenerate) summary.degenerate.push_back(std::move(d));
  for (auto& [key, c] : classes) summary.classes.push_back(std::move(c));
  std::stable_sort(summary.classes.begin(), summary.classes.end(),
                   [](const SuiteClass& a, const SuiteClass& b) {
                     return a.problems.size() > b.problems.size();
                   });
  return summary;
}

}  // namespace solar::driver

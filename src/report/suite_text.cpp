#include "report/suite_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/format.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

constexpr std::array kMethods = {"full", "two-trace", "per-op"};
constexpr std::array kStatuses = {"skipped", "failed", "error", "crashed", "limit"};

/// `about 4 min left`; nothing when there is nothing left.
std::string left_text(const SuiteProgress& progress) {
  if (progress.done >= progress.problems || !std::isfinite(progress.seconds_left)) return "";
  const double seconds = progress.seconds_left;
  if (seconds < 90) return fmt::format(" (about {:.0f} s left)", std::max(1.0, seconds));
  if (seconds < 90 * 60) return fmt::format(" (about {:.0f} min left)", seconds / 60);
  return fmt::format(" (about {:.0f} h left)", seconds / 3600);
}

std::string seconds_text(double seconds) {
  return seconds < 100 ? fmt::format("{:.2f}", seconds) : fmt::format("{:.0f}", seconds);
}

std::string count_in(const std::map<std::string, int64_t>& counts, const char* name) {
  const auto found = counts.find(name);
  return found == counts.end() || found->second == 0 ? "" : std::to_string(found->second);
}

std::string folder_text(const SuiteFolder& folder) {
  return folder.folder.empty() ? "." : folder.folder;
}

/// The folders, and their sum where there are several.
std::vector<std::pair<std::string, const SuiteFolder*>> rows_of(const SuiteSummary& summary) {
  std::vector<std::pair<std::string, const SuiteFolder*>> rows;
  for (const SuiteFolder& folder : summary.folders) rows.emplace_back(folder_text(folder), &folder);
  if (rows.size() != 1) rows.emplace_back("all", &summary.total);
  return rows;
}

std::string coverage_table(const SuiteSummary& summary, const Style& style) {
  Table table({{.title = "folder", .shrinks_to = 6},
               {.title = "problems", .right = true},
               {.title = "traced", .right = true},
               {.title = "counted", .right = true},
               {.title = "bounded", .right = true},
               {.title = "passed", .right = true}});
  const bool any_bounds = summary.total.bounded > 0;
  for (const auto& [name, folder] : rows_of(summary)) {
    int64_t passed = 0;
    for (const auto& [method, count] : folder->passed) passed += count;
    table.row({name, std::to_string(folder->problems), std::to_string(folder->traced),
               std::to_string(folder->counted), any_bounds ? std::to_string(folder->bounded) : "",
               std::to_string(passed)});
  }
  return table.render(style.width());
}

/// What passed by its method, what did not by its status; a column that nothing is in is left out.
std::string outcome_table(const SuiteSummary& summary, const Style& style) {
  std::vector<Column> columns = {{.title = "folder", .shrinks_to = 6}};
  for (const char* method : kMethods) columns.push_back({.title = method, .right = true});
  for (const char* status : kStatuses) columns.push_back({.title = status, .right = true});
  Table table(columns);
  for (const auto& [name, folder] : rows_of(summary)) {
    std::vector<std::string> row = {name};
    for (const char* method : kMethods) row.push_back(count_in(folder->passed, method));
    for (const char* status : kStatuses) row.push_back(count_in(folder->others, status));
    table.row(std::move(row));
  }
  return table.render(style.width());
}

std::string cost_table(const SuiteSummary& summary, const Style& style) {
  Table table({{.title = "folder", .shrinks_to = 6},
               {.title = "median CPU s", .right = true},
               {.title = "total", .right = true},
               {.title = "median wall s", .right = true},
               {.title = "total", .right = true},
               {.title = "peak", .right = true},
               {.title = "of", .shrinks_to = 12, .may_go = true}});
  for (const auto& [name, f] : rows_of(summary)) {
    table.row({name, seconds_text(f->median_cpu_s), seconds_text(f->total_cpu_s),
               seconds_text(f->median_wall_s), seconds_text(f->total_wall_s),
               bytes_text(static_cast<double>(f->peak_rss_bytes)), f->peak_problem});
  }
  return table.render(style.width());
}

/// `error, source-form (2): a.py, b.py`
std::string names_text(Tone tone, const std::string& name, const std::vector<std::string>& problems,
                       const Style& style) {
  return style.titled(tone, fmt::format("{} ({})", name, problems.size()),
                      fmt::format("{}", fmt::join(problems, ", ")));
}

std::string class_text(const SuiteClass& c, const Style& style) {
  const Tone tone = c.status == "skipped" ? Tone::Warning : Tone::Failure;
  const std::string name = c.kind.empty() ? c.status : fmt::format("{}, {}", c.status, c.kind);
  return names_text(tone, name, c.problems, style);
}

}  // namespace

std::string progress_text(const SuiteResult& r, const SuiteProgress& progress) {
  std::string text =
      fmt::format("[{}/{}] {} {}", progress.done, progress.problems, r.problem, r.status);
  if (!r.method.empty()) text += " " + r.method;
  if (r.status != "skipped" && !r.diagnostics.empty()) text += " " + r.diagnostics.front().kind;
  return text + fmt::format(" {:.1f} s{}\n", r.wall_s, left_text(progress));
}

std::string resumed_text(int64_t done, int64_t problems) {
  return fmt::format("{} of {} {} done already\n", done, problems,
                     problems == 1 ? "problem is" : "problems are");
}

std::string render_text(const SuiteSummary& summary, const TextOptions& options) {
  const Style style(options);
  std::string text = paragraph("",
                               fmt::format("{}: {} {}", summary.run, summary.problems,
                                           summary.problems == 1 ? "problem" : "problems"),
                               style.width(), 2);
  text += "\n" + style.heading("coverage") + coverage_table(summary, style);
  text += "\n" + style.heading("validation") + outcome_table(summary, style);
  text += "\n" + style.heading("cost") + cost_table(summary, style);
  if (!summary.degenerate.empty()) {
    text +=
        "\n" + style.heading(fmt::format("degenerate programs ({})", summary.degenerate_problems));
    for (const SuiteDegenerates& d : summary.degenerate)
      text += names_text(Tone::Failure, d.kind, d.problems, style);
  }
  if (summary.classes.empty()) return text;
  text += "\n" + style.heading("not passed");
  for (const SuiteClass& c : summary.classes) text += class_text(c, style);
  return text;
}

}  // namespace solar::report

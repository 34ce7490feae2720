#include <fmt/format.h>

#include "report/format.h"
#include "report/sweep.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

std::string rows_table(const Sweep& sweep, const Style& style) {
  std::vector<Column> columns;
  for (const std::string& dim : sweep.dims)
    columns.push_back({.title = dim, .right = true, .shrinks_to = 8});
  for (const char* title : {"MACs", "useful", "DRAM"})
    columns.push_back({.title = title, .right = true});
  columns.push_back({.title = "architecture", .shrinks_to = 8});
  columns.push_back({.title = "unfused", .right = true});
  columns.push_back({.title = "fused", .right = true});
  columns.push_back({.title = "limiter"});
  columns.push_back({.title = "flop/byte", .right = true, .may_go = true});
  Table table(columns);
  for (const SweepRow& row : sweep.rows) {
    if (!row.error.empty()) continue;
    std::vector<std::string> cells;
    for (const auto& [dim, value] : row.sizes) cells.push_back(std::to_string(value));
    cells.push_back(count_text(static_cast<double>(row.macs)));
    cells.push_back(count_text(static_cast<double>(row.macs_useful)));
    cells.push_back(bytes_text(static_cast<double>(row.traffic_bytes)));
    bool first = true;
    for (const SweepTimes& t : row.times) {
      if (!first) cells.assign(sweep.dims.size() + 3, "");
      first = false;
      cells.insert(
          cells.end(),
          {t.arch, time_text(t.unfused_s), time_text(t.fused_s), t.limiter,
           t.operational_intensity ? fmt::format("{:.3g}", *t.operational_intensity) : "-"});
      table.row(cells);
      cells.clear();
    }
  }
  return table.render(style.width());
}

}  // namespace

std::string render_text(const Sweep& sweep, const TextOptions& options) {
  const Style style(options);
  std::string text =
      paragraph("",
                fmt::format("{}: {} at {} {}, precision {}, {} rates", sweep.source, sweep.program,
                            sweep.rows.size(), sweep.rows.size() == 1 ? "size" : "sizes",
                            sweep.precision, sweep.strict ? "strict" : "datasheet"),
                style.width(), 2);
  text += validation_text(sweep.validation, style);
  text += warnings_text(sweep.warnings, style);
  for (const SweepRow& row : sweep.rows) {
    if (row.error.empty()) continue;
    std::string sizes;
    for (const auto& [dim, value] : row.sizes)
      sizes += fmt::format("{}{}={}", sizes.empty() ? "" : " ", dim, value);
    text += style.titled(Tone::Failure, "no program at " + sizes, row.error);
  }
  text += assumptions_text(sweep.assumptions, style);
  if (const std::string table = rows_table(sweep, style); !table.empty()) text += "\n" + table;
  if (sweep.crossovers.empty()) return text;
  text += "\n" + style.heading("the limiter changes");
  for (const Crossover& c : sweep.crossovers) {
    text += paragraph("  ",
                      fmt::format("{}: {} up to {} = {}, {} from {} = {}", c.arch, c.before, c.dim,
                                  c.last, c.after, c.dim, c.first),
                      style.width(), 4);
  }
  return text;
}

}  // namespace solar::report

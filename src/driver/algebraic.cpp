#include "driver/algebraic.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "algebra/algebra.h"
#include "algebra/degenerate.h"
#include "driver/fill_report.h"
#include "driver/graph_work.h"
#include "report/format.h"

namespace solar::driver {
namespace {

/// A stage with its counts.
struct Counted {
  size_t rewrites = 0;  // that it has
  size_t shown = 0;     // of them in the report
  einsum::Graph graph = {};
  roofline::Work work = {};
};

Result<Counted> count(const algebra::Stage& stage, size_t rewrites, const Loaded& loaded) {
  einsum::LiftOptions lifting;
  lifting.known_ports = loaded.known_ports;
  lifting.recorded_path = loaded.recorded_path;
  lifting.storage = loaded.storage;
  lifting.sparse_weights = loaded.sparse_weights;
  Counted counted;
  counted.rewrites = rewrites;
  SOLAR_TRY(counted.graph, einsum::lift(stage.program, lifting));
  SOLAR_TRY(counted.work, graph_work(counted.graph));
  return counted;
}

int64_t traffic_of(const einsum::Graph& graph) {
  const einsum::Totals& t = graph.totals;
  return t.bytes_read_inputs.min.value + t.bytes_read_params.min.value +
         t.bytes_written_outputs.min.value;
}

/// Per rewrite its place in the report; none: it saves nothing, which a note says.
std::vector<std::optional<size_t>> add_rewrites(report::Report& report,
                                                const algebra::Optimised& found,
                                                const einsum::Graph& graph,
                                                std::vector<Counted>& stages) {
  const einsum::Graph* before = &graph;
  std::vector<std::optional<size_t>> places;
  for (size_t i = 0; i < found.rewrites.size(); ++i) {
    const algebra::Rewrite& from = found.rewrites[i];
    report::Rewrite out = {from.kind, from.op, from.at, from.module, from.tensor, from.what};
    out.validated = found.validated;
    const auto stage = std::find_if(stages.begin(), stages.end(),
                                    [&](const Counted& c) { return c.rewrites == i + 1; });
    bool idle = false;
    if (stage != stages.end()) {
      out.saves_macs = before->totals.macs_useful.value - stage->graph.totals.macs_useful.value;
      out.saves_bytes = traffic_of(*before) - traffic_of(stage->graph);
      before = &stage->graph;
      idle = *out.saves_macs <= 0 && *out.saves_bytes <= 0 && from.kind != "constant";
    }
    if (idle) {
      report.algebra_notes.push_back(
          fmt::format("left out, since it saves nothing: {} ({})", out.what, out.kind));
      places.push_back(std::nullopt);
    } else {
      places.push_back(report.rewrites.size());
      report.rewrites.push_back(std::move(out));
    }
    if (stage != stages.end()) stage->shown = report.rewrites.size();
  }
  return places;
}

/// A product collapses only where that saves multiply-accumulates that were useful.
void add_degenerate(report::Report& report, const std::vector<algebra::Degenerate>& found,
                    const std::vector<std::optional<size_t>>& places) {
  for (const algebra::Degenerate& d : found) {
    report::Degenerate out = {d.kind, d.tensor, d.what, d.at};
    if (d.rewrite && !places[*d.rewrite]) continue;
    if (d.rewrite && report.rewrites[*places[*d.rewrite]].saves_macs) {
      const int64_t saves = *report.rewrites[*places[*d.rewrite]].saves_macs;
      if (saves <= 0) continue;
      out.what += fmt::format(": {} of the program's {} are not needed",
                              report::macs_text(static_cast<double>(saves)),
                              report::macs_text(static_cast<double>(report.totals.macs_useful)));
    }
    report.degenerate.push_back(std::move(out));
  }
}

/// What the bound of a rewritten program takes for granted.
void assume_rewritten(report::Bound& bound) {
  std::erase(bound.assumptions, "as-written-graph");
  bound.assumptions.push_back("found-rewrites");
  bound.assumptions.push_back("finite-values");
}

/// The row for one machine.
report::Bound row_of(const report::Bound& fused, const std::vector<Counted>& stages,
                     const arch::Machine& machine, const roofline::Policy& policy) {
  report::Bound best = fused;
  best.mode = "algebraic";
  best.rewrites = 0;
  for (const Counted& stage : stages) {
    const auto time = roofline::time_of(stage.work, machine, policy);
    if (!time || time->total.value >= best.time_s) continue;
    const auto bounds = roofline::bounds({}, stage.work, machine, policy);
    if (!bounds) continue;
    best = bound_of("algebraic", bounds->fused, machine, policy, stage.graph);
    best.rewrites = stage.shown;
  }
  assume_rewritten(best);
  return best;
}

}  // namespace

void add_algebraic(report::Report& report, const Loaded& loaded, const einsum::Graph& graph,
                   const std::vector<arch::Machine>& machines, const AnalyzeOptions& options,
                   const std::atomic<bool>* cancel) {
  algebra::Options search;
  search.cancel = cancel;
  const algebra::Optimised found =
      algebra::optimise(*loaded.program, loaded.file, options.bindings, search);
  report.algebra_notes = found.notes;
  std::vector<Counted> stages;
  for (size_t i = 0; i < found.stages.size(); ++i) {
    // The last stages are there, and the very last one has all rewrites.
    const size_t rewrites = found.rewrites.size() - (found.stages.size() - 1 - i);
    auto counted = count(found.stages[i], rewrites, loaded);
    if (counted) {
      stages.push_back(std::move(*counted));
    } else {
      report.algebra_notes.push_back(fmt::format("the program after {} rewrites is not counted: {}",
                                                 rewrites, counted.error().front().message));
    }
  }
  const auto places = add_rewrites(report, found, graph, stages);
  add_degenerate(report, algebra::find_degenerate(*loaded.program, found), places);
  std::vector<report::Bound> rows;
  for (report::Bound& bound : report.bounds) {
    const bool fused = bound.mode == "fused";
    rows.push_back(std::move(bound));
    if (!fused) continue;
    const std::string arch = rows.back().arch;
    const auto machine = std::find_if(machines.begin(), machines.end(),
                                      [&](const arch::Machine& m) { return m.id == arch; });
    if (machine == machines.end()) continue;
    report::Bound row = row_of(rows.back(), stages, *machine, options.policy);
    rows.push_back(std::move(row));
  }
  report.bounds = std::move(rows);
}

}  // namespace solar::driver

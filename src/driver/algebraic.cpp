#include "driver/algebraic.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "algebra/algebra.h"
#include "algebra/degenerate.h"
#include "algebra/prepare.h"
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
void assume_rewritten(report::Bound& bound, bool frozen) {
  std::erase(bound.assumptions, "as-written-graph");
  if (frozen) {
    bound.params = "frozen";
    bound.assumptions.push_back("frozen-parameters");
  }
  bound.assumptions.push_back("found-rewrites");
  bound.assumptions.push_back("finite-values");
}

/// The row for one machine.
report::Bound row_of(const report::Bound& fused, const std::vector<Counted>& stages,
                     const arch::Machine& machine, const roofline::Policy& policy, bool frozen) {
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
  assume_rewritten(best, frozen);
  return best;
}

/// What a search found, counted.
struct Way {
  algebra::Optimised found = {};
  std::vector<Counted> stages = {};        // as far as they are counted
  std::vector<std::string> prepared = {};  // parameters that are computed beforehand, in the last
  std::vector<std::string> notes = {};
};

class Searcher {
 public:
  Searcher(const Loaded& loaded, const AnalyzeOptions& options, const std::atomic<bool>* cancel)
      : loaded_(loaded), options_(options), cancel_(cancel) {}

  Way search(bool frozen) const {
    algebra::Options search;
    search.frozen = frozen;
    search.cancel = cancel_;
    Way way;
    way.found = algebra::optimise(*loaded_.program, loaded_.file, options_.bindings, search);
    way.notes = way.found.notes;
    const auto& stages = way.found.stages;
    for (size_t i = 0; i < stages.size(); ++i) {
      // The last stages are there, and the very last one has all rewrites.
      add(way, stages[i], way.found.rewrites.size() - (stages.size() - 1 - i));
    }
    if (options_.frozen) add_prepared(way);
    return way;
  }

  /// Of the best stage; infinite if there is none.
  double time_of(const Way& way, const arch::Machine& machine) const {
    double best = std::numeric_limits<double>::infinity();
    for (const Counted& stage : way.stages) {
      const auto time = roofline::time_of(stage.work, machine, options_.policy);
      if (time) best = std::min(best, time->total.value);
    }
    return best;
  }

 private:
  bool add(Way& way, const algebra::Stage& stage, size_t rewrites) const {
    auto counted = count(stage, rewrites, loaded_);
    if (!counted) {
      way.notes.push_back(fmt::format("the program after {} rewrites is not counted: {}", rewrites,
                                      counted.error().front().message));
      return false;
    }
    way.stages.push_back(std::move(*counted));
    return true;
  }

  void add_prepared(Way& way) const {
    std::set<std::string> structured;
    for (const auto& [name, port] : loaded_.known_ports) structured.insert(name);
    const auto& stages = way.found.stages;
    auto prepared =
        algebra::prepare(stages.empty() ? *loaded_.program : stages.back().program, structured);
    if (prepared && add(way, prepared->stage, way.found.rewrites.size() + 1))
      way.prepared = std::move(prepared->names);
  }

  const Loaded& loaded_;
  const AnalyzeOptions& options_;
  const std::atomic<bool>* cancel_;
};

/// The second way, if it is nowhere slower and somewhere faster.
Way better(Way a, Way b, const std::vector<arch::Machine>& machines, const Searcher& searcher) {
  bool faster = false;
  for (const arch::Machine& machine : machines) {
    const double time_a = searcher.time_of(a, machine);
    const double time_b = searcher.time_of(b, machine);
    if (time_b > time_a) return a;
    faster = faster || time_b < time_a;
  }
  return faster ? std::move(b) : std::move(a);
}

constexpr size_t kNamesShown = 4;

void add_preparation(report::Report& report, Way& way, const einsum::Graph& graph) {
  report::Rewrite out;
  out.kind = "prepare";
  out.tensor = way.prepared.front();
  std::vector<std::string> names(
      way.prepared.begin(), way.prepared.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min(kNamesShown, way.prepared.size())));
  out.what = fmt::format("computed from parameters beforehand: `{}`", fmt::join(names, "`, `"));
  if (way.prepared.size() > kNamesShown)
    out.what += fmt::format(" and {} more", way.prepared.size() - kNamesShown);
  const size_t count = way.stages.size();
  const einsum::Graph& before = count > 1 ? way.stages[count - 2].graph : graph;
  const einsum::Graph& after = way.stages.back().graph;
  out.saves_macs = before.totals.macs_useful.value - after.totals.macs_useful.value;
  out.saves_bytes = traffic_of(before) - traffic_of(after);
  out.validated = "statements are moved as they stand";
  report.rewrites.push_back(std::move(out));
  way.stages.back().shown = report.rewrites.size();
}

}  // namespace

void add_algebraic(report::Report& report, const Loaded& loaded, const einsum::Graph& graph,
                   const std::vector<arch::Machine>& machines, const AnalyzeOptions& options,
                   const std::atomic<bool>* cancel) {
  const Searcher searcher(loaded, options, cancel);
  Way way = searcher.search(false);
  if (options.frozen) way = better(std::move(way), searcher.search(true), machines, searcher);
  report.algebra_notes = way.notes;
  const auto places = add_rewrites(report, way.found, graph, way.stages);
  add_degenerate(report, algebra::find_degenerate(*loaded.program, way.found), places);
  if (!way.prepared.empty()) add_preparation(report, way, graph);
  std::vector<report::Bound> rows;
  for (report::Bound& bound : report.bounds) {
    const bool fused = bound.mode == "fused";
    rows.push_back(std::move(bound));
    if (!fused) continue;
    const std::string arch = rows.back().arch;
    const auto machine = std::find_if(machines.begin(), machines.end(),
                                      [&](const arch::Machine& m) { return m.id == arch; });
    if (machine == machines.end()) continue;
    report::Bound row = row_of(rows.back(), way.stages, *machine, options.policy, options.frozen);
    rows.back().without.insert(rows.back().without.begin(), {"as-written-graph", row.time_s});
    rows.push_back(std::move(row));
  }
  report.bounds = std::move(rows);
}

}  // namespace solar::driver

#include "driver/score.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/library.h"
#include "base/checked.h"
#include "driver/algebraic.h"
#include "driver/fill_report.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "roofline/rates.h"

namespace solar::driver {
namespace {

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The time that moving the inputs that are surely needed and the outputs takes at the strict
/// bandwidth, in a steady state of runs one after the other: what stays on chip need not be read
/// again, and what is written may be overwritten there (bounds of a warm cache). No algebra and no
/// choice of algorithm avoids it.
void add_impossible(report::Score& out, const einsum::Graph& graph, const ir::Program& program,
                    const arch::Machine& machine, const Liveness& live) {
  if (!live.known) {
    out.not_impossible = live.reason;
    return;
  }
  const auto capacity = machine.on_chip();
  const roofline::ChosenBandwidth bandwidth = roofline::bandwidth_of(machine, {.strict = true});
  if (!capacity || has(bandwidth.assumptions, "strict-unknown")) {
    out.not_impossible =
        fmt::format("the {} of {} is not known",
                    capacity ? "largest bandwidth" : "capacity on chip", machine.id);
    return;
  }
  int64_t bytes = 0;
  int64_t state = 0;
  for (const einsum::Footprint& read : (graph.least ? *graph.least : graph).reads) {
    if (!has(live.needed, program.tensor(read.tensor).name)) continue;
    bytes = saturating_add(bytes, read.bytes.min.value);
    if (read.role == ir::Role::State) state = saturating_add(state, read.bytes.min.value);
  }
  for (const einsum::Footprint& write : graph.writes)
    bytes = saturating_add(bytes, write.bytes.min.value);
  out.live_bytes = bytes;
  out.on_chip_bytes =
      std::min(bytes, saturating_add(capacity->value, std::min(capacity->value, state)));
  out.impossible_s = static_cast<double>(out.live_bytes - out.on_chip_bytes) / bandwidth.rate.value;
}

void add_score(report::Score& out) {
  if (!out.baseline_s) {
    out.no_score = "it needs a baseline";
    return;
  }
  const double room = *out.baseline_s - out.sol_s;
  if (room <= 0) {
    out.no_score = "the baseline is not above the floor";
    return;
  }
  const double divisor = 1 + (out.measured_s - out.sol_s) / room;
  // Beyond it a shorter time would score less.
  if (divisor <= 0) {
    out.no_score =
        "the measured time is at least as far below the floor as the baseline is above it";
    return;
  }
  out.score = 1 / divisor;
}

/// `2 rewrites (push-sum at a.py:3, common at a.py:7)`
std::string rewrites_used(const report::Score& score) {
  constexpr size_t kNamed = 3;
  const size_t used = std::min(score.rewrites_used, score.rewrites.size());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(used, kNamed); ++i)
    names.push_back(report::name_of(score.rewrites[i]));
  if (used > kNamed) names.push_back(fmt::format("{} more", used - kNamed));
  return fmt::format("{} found {} ({})", used, used == 1 ? "rewrite" : "rewrites",
                     fmt::join(names, ", "));
}

/// What the algebra has to say to a time below the fused floor.
std::string algebra_says(const report::Score& score) {
  if (!score.algebraic_s) return "";
  if (score.rewrites_used == 0) return "; no rewrite that was found makes the program faster";
  const std::string floor = report::time_text(*score.algebraic_s);
  if (score.measured_s < *score.algebraic_s)
    return fmt::format("; below the algebraic floor of {} too, after {}", floor,
                       rewrites_used(score));
  return fmt::format("; {} explain{} it, with a floor of {}: as-written-graph does not hold",
                     rewrites_used(score), score.rewrites_used == 1 ? "s" : "", floor);
}

/// What makes the program degenerate, each once; empty: nothing.
std::vector<std::string> degenerate_kinds(const report::Score& score) {
  std::vector<std::string> kinds;
  const auto add = [&](const std::string& kind) {
    if (!has(kinds, kind)) kinds.push_back(kind);
  };
  if (!score.constant_outputs.empty()) add("constant-output");
  if (!score.ignored_inputs.empty()) add("ignored-input");
  for (const report::Degenerate& d : score.degenerate) add(d.kind);
  return kinds;
}

void add_verdict(report::Score& out) {
  using report::time_text;
  if (out.impossible_s && out.measured_s < *out.impossible_s) {
    out.verdict = "impossible";
    out.verdict_text = fmt::format(
        "moving the needed inputs and the outputs through DRAM alone takes {}, whatever is "
        "computed",
        time_text(*out.impossible_s));
  } else if (out.measured_s < out.sol_s) {
    out.verdict = "suspicious";
    out.verdict_text = fmt::format(
        "below the floor of {}, unless one of these does not hold: {}; at strict rates the floor "
        "is {}{}",
        time_text(out.sol_s), fmt::join(out.assumptions, ", "), time_text(out.strict_sol_s),
        algebra_says(out));
  } else {
    out.verdict_text =
        fmt::format("{} of the floor's speed", report::percent_text(out.sol_s / out.measured_s));
  }
  if (const auto kinds = degenerate_kinds(out); !kinds.empty()) {
    out.verdict_text += fmt::format(
        "; the program is degenerate ({}, below), so that less than all of it has to "
        "be done",
        fmt::join(kinds, ", "));
  }
}

}  // namespace

Result<report::Score> score(const Loaded& loaded, const einsum::Graph& graph,
                            const arch::Machine& machine, const AnalyzeOptions& analyze,
                            const Liveness& live, const ScoreOptions& options,
                            const std::atomic<bool>* cancel) {
  const roofline::Policy& policy = analyze.policy;
  report::Report report;
  SOLAR_TRY([[maybe_unused]] const Done bounded, add_bounds(report, graph, {machine}, policy));
  if (analyze.algebra) {
    fill_counts(report, loaded, graph);
    add_algebraic(report, loaded, graph, {machine}, analyze, cancel);
  }
  report::Report at_strict;
  roofline::Policy strict = policy;
  strict.strict = true;
  SOLAR_TRY([[maybe_unused]] const Done strictly, add_bounds(at_strict, graph, {machine}, strict));
  const auto bound = [](const report::Report& in, const char* mode) -> const report::Bound& {
    return *std::find_if(in.bounds.begin(), in.bounds.end(),
                         [&](const report::Bound& b) { return b.mode == mode; });
  };
  report::Score out;
  out.source = loaded.source;
  out.program = (*loaded.program)->name;
  out.arch = machine.id;
  out.precision = roofline::name(policy.precision);
  out.strict = policy.strict;
  out.validation = loaded.validation;
  out.measured_s = options.measured_s;
  out.baseline_s = options.baseline_s;
  out.unfused_s = bound(report, "unfused").time_s;
  out.sol_s = bound(report, "fused").time_s;
  out.limiter = bound(report, "fused").limiter;
  out.strict_sol_s = bound(at_strict, "fused").time_s;
  out.assumptions = bound(report, "fused").assumptions;
  if (analyze.algebra) {
    out.algebraic_s = bound(report, "algebraic").time_s;
    out.params = bound(report, "algebraic").params;
    out.rewrites_used = bound(report, "algebraic").rewrites.value_or(0);
    out.rewrites = std::move(report.rewrites);
    out.algebra_notes = std::move(report.algebra_notes);
    out.degenerate = std::move(report.degenerate);
  }
  out.constant_outputs = live.constant_outputs;
  for (const std::string& name : live.ignored) out.ignored_inputs.push_back(name);
  add_warnings(out.warnings, loaded, graph);
  add_impossible(out, graph, **loaded.program, machine, live);
  add_score(out);
  add_verdict(out);
  return out;
}

Result<report::Score> score(const AnalyzeOptions& analyze, const ScoreOptions& options,
                            const Environment& environment) {
  SOLAR_TRY(const Analysis analysis, prepare(analyze, environment));
  LivenessOptions liveness;
  liveness.run.cancel = environment.cancel;
  liveness.run.memory_limit = analyze.validation.full_bytes;
  if (environment.progress) environment.progress("score: run on changed inputs");
  Liveness live;
  if (auto found = find_live(analysis.loaded, liveness)) {
    live = std::move(*found);
  } else {
    SOLAR_TRY([[maybe_unused]] const Done going_on, environment.check_cancelled());
    live.reason = found.error().front().message;
  }
  if (environment.progress && analyze.algebra) environment.progress("score: algebra");
  SOLAR_TRY(report::Score found, score(analysis.loaded, analysis.graph, analysis.machines.front(),
                                       analyze, live, options, environment.cancel));
  SOLAR_TRY([[maybe_unused]] const Done to_the_end, environment.check_cancelled());
  return found;
}

}  // namespace solar::driver

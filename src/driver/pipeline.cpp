#include "driver/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "arch/library.h"
#include "driver/algebraic.h"
#include "driver/cache_aware.h"
#include "driver/fill_report.h"
#include "driver/graph_work.h"
#include "einsum/lift.h"
#include "exec/executor.h"
#include "ir/statement_count.h"
#include "roofline/inverse.h"

namespace solar::driver {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<einsum::Graph> lift(const Loaded& loaded, const std::atomic<bool>* cancel, bool forms) {
  const ir::VerifiedProgram& program = *loaded.program;
  einsum::LiftOptions options;
  options.known_ports = loaded.known_ports;
  options.recorded_path = loaded.recorded_path;
  options.storage = loaded.storage;
  options.forms = forms;
  options.sparse_weights = loaded.sparse_weights;
  exec::NamedTensors computed;
  exec::RunOptions run;
  run.cancel = cancel;
  // The way that branches and loops go is known from a run, and so are computed indices.
  bool compute = !program->controls.empty();
  for (const ir::TensorId id : einsum::index_tensors(program)) {
    const ir::Tensor& tensor = program->tensor(id);
    const auto at = loaded.example.find("in/" + tensor.name);
    if (at != loaded.example.end()) {
      computed[tensor.name] = at->second;
    } else {
      run.keep.push_back(tensor.name);
      compute = true;
    }
  }
  if (compute && !loaded.example.empty()) {
    exec::Inputs inputs;
    for (const auto& [name, value] : loaded.example) {
      if (name.starts_with("in/")) inputs[name.substr(3)] = value;
    }
    Result<exec::Outputs> outputs = exec::interpreter()->run(program, inputs, run);
    const bool incomplete = !outputs && outputs.error().at(0).kind == DiagnosticKind::HoleReached;
    if (!outputs && !incomplete) return std::move(outputs.error());
    if (outputs) {
      for (const auto& [name, value] : outputs->kept) computed[name] = value;
      options.paths = outputs->paths;
    }
  }
  options.index_values = [&](ir::TensorId id) -> std::optional<std::vector<int64_t>> {
    const auto at = computed.find(program->tensor(id).name);
    if (at == computed.end()) return std::nullopt;
    std::vector<int64_t> values;
    for (int64_t i = 0; i < at->second.count(); ++i) values.push_back(at->second.get_integer(i));
    return values;
  };
  return einsum::lift(program, options);
}

Result<Done> add_bounds(report::Report& report, const einsum::Graph& graph,
                        const std::vector<arch::Machine>& machines,
                        const roofline::Policy& policy) {
  SOLAR_TRY(const std::vector<roofline::Work> operators, operator_work(graph));
  SOLAR_TRY(const roofline::Work whole, graph_work(graph));
  Diagnostics errors;
  for (const arch::Machine& machine : machines) {
    auto bounds = roofline::bounds(operators, whole, machine, policy);
    if (!bounds) {
      errors.insert(errors.end(), bounds.error().begin(), bounds.error().end());
      continue;
    }
    fill_bounds(report, *bounds, machine, policy, graph);
  }
  if (!errors.empty()) return errors;
  return Done{};
}

namespace {

/// Those that the options name.
Result<std::vector<arch::Machine>> machines_of(const AnalyzeOptions& options,
                                               const Environment& environment) {
  if (options.archs.empty()) return std::vector<arch::Machine>{};
  SOLAR_TRY([[maybe_unused]] const Done found, environment.check_root());
  return arch::load_all(options.archs, environment.arch_library());
}

Result<einsum::Graph> lift_step(const Loaded& loaded, const Environment& environment,
                                bool forms = false) {
  if (environment.progress) environment.progress("lift");
  SOLAR_TRY(einsum::Graph graph, lift(loaded, environment.cancel, forms));
  SOLAR_TRY([[maybe_unused]] const Done lifted, environment.check_cancelled());
  return graph;
}

/// Fills the report; what stays out of it after a failure is what the failure kept from being
/// known.
Result<Done> analyze_step(const AnalyzeOptions& options, const Environment& environment,
                          bool despite_validation, Attempt& attempt) {
  report::Report& report = attempt.report;
  const auto start = Clock::now();
  // Before any long work.
  SOLAR_TRY(const std::vector<arch::Machine> machines, machines_of(options, environment));
  Loaded loaded;
  const auto complete = load(options, environment, loaded);
  fill_program(report, loaded);
  attempt.traced = loaded.program.has_value();
  attempt.statements = ir::count_statements(loaded.file);
  if (attempt.statements == 0 && loaded.program)  // no tree: of the program with calls inlined
    attempt.statements = static_cast<int64_t>((*loaded.program)->statements.size());
  if (!complete) {
    attempt.errors = complete.error();
    if (!attempt.traced || !despite_validation || !environment.check_cancelled()) return Done{};
  }
  const bool cache_aware = options.cache_aware && !machines.empty();
  SOLAR_TRY(const einsum::Graph graph, lift_step(loaded, environment, cache_aware));
  fill_counts(report, loaded, graph);
  attempt.counted = true;
  report.timings_s.lift = std::max(0.0, seconds_since(start) - loaded.trace_s - loaded.validate_s);
  const auto bound_start = Clock::now();
  const auto bounded = add_bounds(report, graph, machines, options.policy);
  report.timings_s.bound = seconds_since(bound_start);
  if (!bounded) return bounded;
  if (options.algebra) {
    if (environment.progress) environment.progress("algebra");
    const auto algebra_start = Clock::now();
    add_algebraic(report, loaded, graph, machines, options, environment.cancel);
    report.timings_s.algebra = seconds_since(algebra_start);
  }
  if (cache_aware) {
    if (environment.progress) environment.progress("caches");
    const auto cache_start = Clock::now();
    add_cache_aware(report, loaded, graph, machines, options, environment.cancel);
    report.timings_s.cache_aware = seconds_since(cache_start);
  }
  return environment.check_cancelled();
}

Attempt attempt(const AnalyzeOptions& options, const Environment& environment,
                bool despite_validation) {
  Attempt attempt;
  const auto done = analyze_step(options, environment, despite_validation, attempt);
  if (!done) {
    attempt.errors.insert(attempt.errors.end(), done.error().begin(), done.error().end());
  }
  return attempt;
}

}  // namespace

Result<Analysis> prepare(const AnalyzeOptions& options, const Environment& environment) {
  Analysis analysis;
  SOLAR_TRY(analysis.machines, machines_of(options, environment));
  SOLAR_TRY(analysis.loaded, load(options, environment));
  SOLAR_TRY(analysis.graph, lift_step(analysis.loaded, environment));
  return analysis;
}

Attempt attempt(const AnalyzeOptions& options, const Environment& environment) {
  return attempt(options, environment, true);
}

Result<report::Report> analyze(const AnalyzeOptions& options, const Environment& environment) {
  Attempt found = attempt(options, environment, false);
  if (!found.errors.empty()) return std::move(found.errors);
  return std::move(found.report);
}

Result<report::Inverse> inverse(const AnalyzeOptions& options, double target_s,
                                const Environment& environment) {
  AnalyzeOptions all = options;
  if (all.archs.empty()) {
    SOLAR_TRY([[maybe_unused]] const Done found, environment.check_root());
    SOLAR_TRY(all.archs, arch::list(environment.arch_library()));
  }
  SOLAR_TRY(const Analysis analysis, prepare(all, environment));
  SOLAR_TRY(const std::vector<roofline::Work> operators, operator_work(analysis.graph));
  SOLAR_TRY(const roofline::Work whole, graph_work(analysis.graph));
  SOLAR_TRY(const roofline::Inverse found, roofline::inverse(operators, whole, Seconds{target_s},
                                                             analysis.machines, options.policy));
  report::Inverse out;
  out.source = analysis.loaded.source;
  out.program = (*analysis.loaded.program)->name;
  out.validation = analysis.loaded.validation;
  out.target_s = target_s;
  out.macs_useful = analysis.graph.totals.macs_useful.value;
  out.traffic_bytes = whole.traffic.value;
  for (const roofline::FormatNeed& need : found.need.formats) {
    out.formats.push_back({std::string(arch::name(need.format)), std::string(arch::name(need.unit)),
                           need.macs.value, need.rate.value});
  }
  out.tensor_macs_per_second = found.need.tensor.value;
  out.vector_macs_per_second = found.need.vector.value;
  out.bandwidth_bytes_per_second = found.need.bandwidth.value;
  for (size_t i = 0; i < found.machines.size(); ++i) {
    const roofline::MachineFactor& m = found.machines[i];
    report::InverseMachine machine = {analysis.machines[i].id,
                                      analysis.machines[i].name,
                                      m.tensor,
                                      m.vector,
                                      m.bandwidth,
                                      m.fused,
                                      m.unfused,
                                      ""};
    if (!m.error.empty()) machine.error = m.error.front().message;
    out.machines.push_back(std::move(machine));
  }
  out.assumptions = found.assumptions;
  add_assumptions(out.assumptions, analysis.graph);
  add_warnings(out.warnings, analysis.loaded, analysis.graph);
  return out;
}

}  // namespace solar::driver

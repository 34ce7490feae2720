#include <fmt/format.h>

#include <chrono>

#include "base/file.h"
#include "driver/pipeline.h"
#include "driver/retrace.h"
#include "frontend/source_name.h"
#include "frontend/temporary_folder.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::driver {
namespace {

using Clock = std::chrono::steady_clock;

// A longer text is verified as it is read: its tree takes thirty times its size.
constexpr size_t kLargeText = size_t{2} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

report::Validation to_report(const validate::Outcome& outcome) {
  report::Validation v;
  v.status = outcome.status;
  v.method = outcome.method;
  v.reason = validate::reason_text(outcome);
  v.max_abs_error = outcome.max_abs_error;
  v.max_rel_error = outcome.max_rel_error;
  v.worst_tolerance_share = outcome.worst_tolerance_share;
  v.worst_place = outcome.worst_place;
  if (outcome.first_wrong) {
    const validate::FirstWrong& wrong = *outcome.first_wrong;
    v.first_wrong = {wrong.op, wrong.at, wrong.module, wrong.place, wrong.agreeing};
  }
  v.tolerance_factor = validate::kToleranceFactor;
  v.bindings = outcome.bindings;
  v.seeds = outcome.seeds;
  v.distributions = outcome.distributions;
  v.notes = outcome.notes;
  return v;
}

/// What the tracer could compute of the ports: constants of the code, masks that the constructor
/// makes.
Result<std::map<std::string, einsum::KnownPort>> known_ports(const frontend::TracedProgram& trace) {
  std::map<std::string, einsum::KnownPort> known;
  if (trace.constants_path.empty()) return known;
  SOLAR_TRY(const exec::NamedTensors tensors, exec::read_tensors(trace.constants_path));
  for (const frontend::Port& port : trace.ports) {
    const auto values = tensors.find(port.name);
    if (values != tensors.end()) known[port.name] = {values->second, !port.key.empty()};
  }
  return known;
}

Result<Done> load_alir(const AnalyzeOptions& options, Loaded& loaded) {
  SOLAR_TRY(std::string text, read_file(options.source));
  if (text.size() > kLargeText && !options.rebinds) {
    SOLAR_TRY(loaded.program, ir::verify_text(std::move(text), {options.bindings}, options.source));
  } else {
    SOLAR_TRY(loaded.file, ir::parse_text(options.source, std::move(text)));
    SOLAR_TRY(loaded.program, ir::verify(loaded.file, {options.bindings}));
  }
  loaded.validation.reason = "an .alir file has no original to compare with";
  return Done{};
}

/// Traces a source, and validates the trace.
Result<Done> load_source(const AnalyzeOptions& options, const Environment& environment,
                         frontend::WorkerPool& pool, Loaded& loaded) {
  SOLAR_TRY(const frontend::TemporaryFolder folder, frontend::TemporaryFolder::make());
  const frontend::SourceRequest request = {options.source, options.overrides};
  if (environment.progress) environment.progress("trace");
  auto start = Clock::now();
  auto traced = validate::trace_source(pool, request, folder.path(), options.validation);
  loaded.trace_s = seconds_since(start);
  if (!traced) return std::move(traced.error());
  loaded.file = traced->file;
  loaded.program = traced->program;
  loaded.mode = traced->trace.mode;
  loaded.ports = traced->trace.ports;
  loaded.validation.mode = loaded.mode;
  loaded.warnings = traced->trace.warnings;
  loaded.recorded_path = traced->trace.recorded_path;
  SOLAR_TRY(loaded.known_ports, known_ports(traced->trace));
  SOLAR_TRY([[maybe_unused]] const Done going_on, environment.check_cancelled());
  if (!options.validate) {
    loaded.validation.reason = "--no-validate";
    return Done{};
  }
  start = Clock::now();
  auto outcome =
      validate::validate_trace(pool, request, *traced, folder.path(), options.validation);
  loaded.validate_s = seconds_since(start);
  if (!outcome) {
    loaded.validation.reason = outcome.error().front().message;
    return std::move(outcome.error());
  }
  loaded.validation = to_report(*outcome);
  loaded.validation.mode = loaded.mode;
  loaded.example = std::move(outcome->example);
  loaded.small = std::move(outcome->small);
  return Done{};
}

}  // namespace

Result<Done> load(const AnalyzeOptions& options, const Environment& environment, Loaded& loaded) {
  loaded.source = options.source;
  loaded.storage = options.storage;
  loaded.sparse_weights = options.sparse_weights;
  if (options.source.ends_with(".alir")) return load_alir(options, loaded);
  SOLAR_TRY([[maybe_unused]] const Done readable, frontend::check_source_name(options.source));
  SOLAR_TRY([[maybe_unused]] const Done found, environment.check_root());
  if (environment.pool != nullptr) {
    SOLAR_TRY([[maybe_unused]] const Done done,
              load_source(options, environment, *environment.pool, loaded));
  } else {
    SOLAR_TRY(frontend::WorkerPool pool, frontend::WorkerPool::start(environment.pool_options()));
    SOLAR_TRY([[maybe_unused]] const Done done, load_source(options, environment, pool, loaded));
  }
  if (!options.bindings.empty()) {
    auto bound = ir::verify(loaded.file, {options.bindings});
    if (!bound) return with_retrace(std::move(bound.error()), options.source);
    loaded.program = std::move(*bound);
    loaded.example = {};
    const std::string again = retrace_text(options.source);
    loaded.warnings.push_back(
        fmt::format("analysed at bound dims; the source was traced{} at its own, and what Python "
                    "computes from them stays as it was{}{}",
                    loaded.validation.status == "passed" ? " and validated" : "",
                    again.empty() ? "" : "; ", again));
  }
  return environment.check_cancelled();
}

Result<Loaded> load(const AnalyzeOptions& options, const Environment& environment) {
  Loaded loaded;
  SOLAR_TRY([[maybe_unused]] const Done done, load(options, environment, loaded));
  return loaded;
}

}  // namespace solar::driver

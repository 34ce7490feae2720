#include "validate/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "exec/executor.h"
#include "validate/compare.h"
#include "validate/first_wrong.h"
#include "validate/inside.h"
#include "validate/rounding.h"

namespace solar::validate {
namespace {

/// The expected results of a golden file, by the names that messages use.
struct Expected {
  std::string name;
  const exec::TensorData* golden = nullptr;
  const exec::TensorData* actual = nullptr;
};

const exec::TensorData* find(const exec::NamedTensors& tensors, const std::string& name) {
  const auto at = tensors.find(name);
  return at == tensors.end() ? nullptr : &at->second;
}

Result<std::vector<Expected>> pair_up(const ir::Program& program, const exec::NamedTensors& golden,
                                      const exec::Outputs& outputs) {
  std::vector<Expected> pairs;
  size_t count = 0;
  while (golden.contains(fmt::format("out/{}", count))) ++count;
  if (count != program.outputs.size()) {
    return Diagnostic{.kind = DiagnosticKind::ValidationFailed,
                      .message = fmt::format("the original has {} outputs, the program {}", count,
                                             program.outputs.size())};
  }
  for (size_t i = 0; i < count; ++i) {
    pairs.push_back(
        {program.output_names[i], find(golden, fmt::format("out/{}", i)), &outputs.outputs[i]});
  }
  for (const auto& [name, value] : outputs.states) {
    if (const auto* expected = find(golden, "state/" + name))
      pairs.push_back({name, expected, &value});
  }
  for (const Expected& pair : pairs) {
    if (pair.golden->shape() == pair.actual->shape() && pair.golden->type() == pair.actual->type())
      continue;
    return Diagnostic{
        .kind = DiagnosticKind::ValidationFailed,
        .message = fmt::format("output `{}` is {}, the original's is {}", pair.name,
                               exec::describe(pair.actual->type(), pair.actual->shape()),
                               exec::describe(pair.golden->type(), pair.golden->shape()))};
  }
  return pairs;
}

void note_once(Outcome& outcome, const std::string& note) {
  if (std::find(outcome.notes.begin(), outcome.notes.end(), note) == outcome.notes.end()) {
    outcome.notes.push_back(note);
  }
}

void add_comparison(const Expected& pair, const Run& run, const Comparison& c, Outcome& outcome) {
  add_errors(pair.name, c, outcome);
  if (c.equal || outcome.status == "failed") return;
  outcome.status = "failed";
  outcome.reason = fmt::format(
      "output `{}` differs from the original in {} of {} elements ({} inputs, seed {}); the worst "
      "is {}{}",
      pair.name, c.wrong, c.count, run.distribution, run.seed, pair.name, c.worst_place);
}

/// The source's own inputs are compared without asking first whether the original is accurate
/// there.
bool needs_reference(const Run& run) { return run.distribution != "example" || run.seed != 0; }

/// Adds the original's results on values moved by a share of themselves, or a warning why there are
/// none.
void add_nearby(frontend::WorkerPool& pool, const Options& options, double share, Golden& golden) {
  frontend::GoldenRequest request = golden.request;
  request.nearby = share;
  request.want_f64 = false;
  const auto file = frontend::golden(pool, request, options.limits, {options.cancel, {}});
  Result<exec::NamedTensors> tensors = file ? take_tensors(file->path) : file.error();
  if (!tensors) {
    golden.warnings.push_back(
        fmt::format("no run on values moved by roundings: {}", tensors.error().front().message));
    return;
  }
  for (size_t i = 0; tensors->contains(fmt::format("out/{}", i)); ++i) {
    golden.tensors[fmt::format("near/{}", i)] = std::move((*tensors)[fmt::format("out/{}", i)]);
  }
}

/// Whether the original is off from float64, or from itself on values moved by roundings, by more
/// than the tolerance.
bool unstable(const std::vector<Expected>& pairs, const Golden& golden, double rounding,
              Outcome& outcome) {
  for (const auto& [key, name] :
       {std::pair{"f64", "float64"}, std::pair{"near", "itself on values moved by roundings"}}) {
    size_t i = 0;
    for (const Expected& pair : pairs) {
      const auto* reference = find(golden.tensors, fmt::format("{}/{}", key, i++));
      if (reference == nullptr || compare(*reference, *pair.golden, rounding).equal) continue;
      note_once(outcome, fmt::format("{} inputs: the original itself is off from {} by more than "
                                     "the tolerance; not used",
                                     golden.run.distribution, name));
      return true;
    }
  }
  return false;
}

}  // namespace

void keep_example(const Run& run, exec::NamedTensors& tensors, Outcome& outcome) {
  if (!outcome.example.empty() || run.distribution != "example") return;
  std::erase_if(tensors, [](const auto& tensor) { return !tensor.first.starts_with("in/"); });
  outcome.example = std::move(tensors);
}

void add_errors(const std::string& name, const Comparison& c, Outcome& outcome) {
  outcome.telling = outcome.telling || c.telling > 0;
  outcome.max_abs_error = std::max(outcome.max_abs_error, c.max_abs_error);
  outcome.max_rel_error = std::max(outcome.max_rel_error, c.max_rel_error);
  if (c.worst_tolerance_share >= outcome.worst_tolerance_share && !c.worst_place.empty()) {
    outcome.worst_tolerance_share = c.worst_tolerance_share;
    outcome.worst_place = name + c.worst_place;
  }
}

Result<exec::NamedTensors> take_tensors(const std::string& path) {
  SOLAR_TRY(exec::NamedTensors tensors, exec::read_tensors(path));
  ::unlink(path.c_str());
  return tensors;
}

exec::Inputs inputs_of(const ir::Program& program, const exec::NamedTensors& golden) {
  exec::Inputs inputs;
  for (const ir::TensorId id : program.ports) {
    const ir::Tensor& tensor = program.tensor(id);
    if (tensor.role == ir::Role::Const) continue;
    if (const auto* value = find(golden, "in/" + tensor.name)) inputs[tensor.name] = *value;
  }
  return inputs;
}

PortSource ports_of(const frontend::TracedProgram& trace) {
  return {trace.ports, false, trace.constants_path};
}

PortSource ports_of(const ir::Program& program) {
  PortSource source = {.resolve = true};
  for (const ir::TensorId id : program.ports) {
    const ir::Tensor& port = program.tensor(id);
    if (port.role == ir::Role::Const) continue;
    source.ports.push_back({.name = port.name,
                            .role = std::string(ir::name(port.role)),
                            .dtype = std::string(ir::name(port.type))});
  }
  return source;
}

frontend::GoldenRequest request_for(const frontend::SourceRequest& request,
                                    const PortSource& source, const Run& run) {
  frontend::GoldenRequest golden;
  golden.program = request;
  golden.ports = source.ports;
  golden.resolve = source.resolve;
  golden.constants_path = source.constants_path;
  golden.seed = run.seed;
  golden.distribution = run.distribution;
  return golden;
}

Result<Golden> run_original(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                            const PortSource& source, const Run& run, const std::string& folder,
                            const Options& options) {
  if (options.progress) {
    options.progress(fmt::format("validate: {} inputs, seed {}", run.distribution, run.seed));
  }
  frontend::GoldenRequest golden_request = request_for(request, source, run);
  golden_request.want_f64 = needs_reference(run);
  golden_request.out = fmt::format("{}/golden.safetensors", folder);
  SOLAR_TRY(const frontend::GoldenFile file,
            frontend::golden(pool, golden_request, options.limits, {options.cancel, {}}));
  Golden golden;
  golden.run = run;
  golden.isolated = file.isolated;
  golden.warnings = file.warnings;
  SOLAR_TRY(golden.tensors, take_tensors(file.path));
  golden.request = std::move(golden_request);
  return golden;
}

Result<Done> compare_run(frontend::WorkerPool& pool, const ir::VerifiedProgram& program,
                         Golden& golden, const Options& options, Outcome& outcome) {
  const double rounding = rounding_error(*program).relative();
  SOLAR_TRY(const exec::Outputs outputs,
            exec::jit()->run(program, inputs_of(*program, golden.tensors), run_options(options)));
  auto pairs = pair_up(*program, golden.tensors, outputs);
  if (!pairs) {
    outcome.status = "failed";
    outcome.reason = pairs.error().front().message;
    return Done{};
  }
  std::vector<Comparison> compared;
  for (const Expected& pair : *pairs)
    compared.push_back(compare(*pair.golden, *pair.actual, rounding));
  const bool differs = std::any_of(compared.begin(), compared.end(),
                                   [](const Comparison& one) { return !one.equal; });
  if (differs && !golden.tensors.contains("near/0")) add_nearby(pool, options, rounding, golden);
  for (const std::string& warning : golden.warnings) note_once(outcome, warning);
  if (unstable(*pairs, golden, rounding, outcome)) return Done{};
  if (outcome.status == "skipped") outcome.status = "passed";
  for (size_t i = 0; i < pairs->size(); ++i)
    add_comparison((*pairs)[i], golden.run, compared[i], outcome);
  ++outcome.seeds;
  auto& used = outcome.distributions;
  if (std::find(used.begin(), used.end(), golden.run.distribution) == used.end()) {
    used.push_back(golden.run.distribution);
  }
  if (!golden.isolated) note_once(outcome, "not isolated from the network");
  return Done{};
}

void conclude(Outcome& outcome) {
  if (outcome.status == "skipped" && outcome.reason.empty()) {
    outcome.reason =
        "the original is not stable on any of the values tried: correct results of it may lie "
        "further apart than the tolerance";
  }
  if (outcome.status != "passed" || outcome.telling) return;
  outcome.status = "skipped";
  outcome.reason = "every output of every run is NaN or infinite, which proves nothing";
}

Result<Outcome> run_and_compare(Outcome outcome, frontend::WorkerPool& pool,
                                const frontend::SourceRequest& request,
                                const frontend::TracedProgram& trace,
                                const ir::VerifiedProgram& program, const std::vector<Run>& runs,
                                const std::string& folder, const Options& options) {
  for (const Run& run : runs) {
    SOLAR_TRY(Golden golden, run_original(pool, request, ports_of(trace), run, folder, options));
    SOLAR_TRY(const Done done, compare_run(pool, program, golden, options, outcome));
    static_cast<void>(done);
    keep_example(run, golden.tensors, outcome);
    if (outcome.status != "failed") continue;
    golden.tensors.clear();
    if (options.progress) options.progress("validate: look for the first operator that differs");
    outcome.first_wrong = first_wrong(pool, request, trace, run, folder, options);
    break;
  }
  conclude(outcome);
  return outcome;
}

}  // namespace solar::validate

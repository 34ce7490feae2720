#include "validate/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "exec/executor.h"
#include "validate/compare.h"

namespace solar::validate {
namespace {

/// The expected results of a golden file, by the names that messages use.
struct Expected {
  std::string name;
  const exec::TensorData* golden = nullptr;
  const exec::TensorData* reference = nullptr;  // float64 run, or null
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
    pairs.push_back({program.output_names[i], find(golden, fmt::format("out/{}", i)),
                     find(golden, fmt::format("f64/{}", i)), &outputs.outputs[i]});
  }
  for (const auto& [name, value] : outputs.states) {
    if (const auto* expected = find(golden, "state/" + name))
      pairs.push_back({name, expected, nullptr, &value});
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

exec::Inputs inputs_of(const ir::Program& program, const exec::NamedTensors& golden) {
  exec::Inputs inputs;
  for (const ir::TensorId id : program.ports) {
    const ir::Tensor& tensor = program.tensor(id);
    if (tensor.role == ir::Role::Const) continue;
    if (const auto* value = find(golden, "in/" + tensor.name)) inputs[tensor.name] = *value;
  }
  return inputs;
}

}  // namespace

Result<Outcome> run_and_compare(Outcome outcome, frontend::WorkerPool& pool,
                                const frontend::SourceRequest& request,
                                const frontend::TracedProgram& trace,
                                const ir::VerifiedProgram& program, const std::vector<Run>& runs,
                                const std::string& folder, const Options& options) {
  const double eps = coarsest_epsilon(*program);
  const int64_t reduction = longest_reduction(*program);
  const auto executor = exec::interpreter();
  outcome.status = "passed";
  for (const Run& run : runs) {
    if (options.progress)
      options.progress(fmt::format("validate: {} inputs, seed {}", run.distribution, run.seed));
    frontend::GoldenRequest golden_request;
    golden_request.program = request;
    golden_request.ports = trace.ports;
    golden_request.constants_path = trace.constants_path;
    golden_request.seed = run.seed;
    golden_request.distribution = run.distribution;
    golden_request.out = fmt::format("{}/golden.safetensors", folder);
    SOLAR_TRY(const frontend::GoldenFile file,
              frontend::golden(pool, golden_request, options.limits, {options.cancel, {}}));
    SOLAR_TRY(exec::NamedTensors golden, exec::read_tensors(file.path));
    ::unlink(file.path.c_str());
    exec::RunOptions run_options;
    run_options.memory_limit = options.full_bytes;
    run_options.cancel = options.cancel;
    auto outputs = executor->run(program, inputs_of(*program, golden), run_options);
    if (!outputs) return std::move(outputs.error());
    auto pairs = pair_up(*program, golden, *outputs);
    if (!pairs) {
      outcome.status = "failed";
      outcome.reason = pairs.error().front().message;
      return outcome;
    }
    bool ill = false;
    for (const Expected& pair : *pairs) {
      if (pair.reference == nullptr || run.distribution == "example") continue;
      ill = ill || !compare(*pair.reference, *pair.golden, eps, reduction).equal;
    }
    if (ill) {
      outcome.notes.push_back(
          fmt::format("{} inputs: the original itself is off from float64 by more than the "
                      "tolerance; not used",
                      run.distribution));
      continue;
    }
    for (const Expected& pair : *pairs) {
      const Comparison c = compare(*pair.golden, *pair.actual, eps, reduction);
      outcome.max_abs_error = std::max(outcome.max_abs_error, c.max_abs_error);
      outcome.max_rel_error = std::max(outcome.max_rel_error, c.max_rel_error);
      if (c.worst_tolerance_share >= outcome.worst_tolerance_share && !c.worst_place.empty()) {
        outcome.worst_tolerance_share = c.worst_tolerance_share;
        outcome.worst_place = pair.name + c.worst_place;
      }
      if (!c.equal && outcome.status == "passed") {
        outcome.status = "failed";
        outcome.reason = fmt::format(
            "output `{}` differs from the original in {} of {} elements ({} inputs, seed {}); "
            "the worst is {}{}",
            pair.name, c.wrong, c.count, run.distribution, run.seed, pair.name, c.worst_place);
      }
    }
    ++outcome.seeds;
    if (std::find(outcome.distributions.begin(), outcome.distributions.end(), run.distribution) ==
        outcome.distributions.end()) {
      outcome.distributions.push_back(run.distribution);
    }
    if (!file.isolated && std::find(outcome.notes.begin(), outcome.notes.end(),
                                    "not isolated from the network") == outcome.notes.end()) {
      outcome.notes.push_back("not isolated from the network");
    }
    if (outcome.example.empty() && run.distribution == "example")
      outcome.example = std::move(golden);
    if (outcome.status == "failed") break;
  }
  return outcome;
}

}  // namespace solar::validate

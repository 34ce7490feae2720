#include "validate/per_op.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/checked.h"
#include "exec/executor.h"
#include "exec/memory_plan.h"
#include "validate/inside.h"
#include "validate/rounding.h"

namespace solar::validate {
namespace {

/// Every element up or down by a share of itself, at least by a rounding of its type.
exec::TensorData moved(exec::TensorData tensor, double share) {
  if (!ir::is_float(tensor.type())) return tensor;
  share = std::max(share, ir::epsilon(tensor.type()));
  uint64_t state = static_cast<uint64_t>(tensor.count());
  for (int64_t i = 0; i < tensor.count(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    tensor.set(i, tensor.get(i) * (1 + ((state >> 63) != 0 ? share : -share)));
  }
  return tensor;
}

class Operators {
 public:
  Operators(const Inside& inside, const Options& options)
      : inside_(inside), options_(options), rounding_(rounding_error(*inside.program).relative()) {
    for (size_t i = 0; i < inside.steps.size(); ++i) {
      const auto& names = inside.steps[i].tensors;
      for (size_t place = 0; place < names.size(); ++place) {
        if (!names[place].empty()) places_.try_emplace(names[place], i, place);
      }
    }
  }

  int64_t bytes() const {
    int64_t bytes = 0;
    for (const ir::Tensor& tensor : inside_.program->tensors) {
      if (places_.contains(tensor.name))
        bytes = saturating_add(bytes, exec::saturating_bytes(tensor));
    }
    return bytes;
  }

  /// Compares what every operator makes of the original's values with what the original has.
  Result<Done> compare_run(const Run& run, const exec::NamedTensors& golden, Outcome& outcome) {
    std::map<std::string, exec::TensorData> different;
    std::map<std::string, std::string> where;
    exec::RunOptions options = run_options(options_);
    options.replace = [&](const std::string& name,
                          const exec::TensorData& value) -> std::optional<exec::TensorData> {
      const exec::TensorData* want = original(name, golden);
      if (want == nullptr) return std::nullopt;
      seen_.insert(name);
      if (want->shape() != value.shape() || want->type() != value.type()) return std::nullopt;
      const Comparison compared = compare(*want, value, rounding_);
      if (compared.equal) {
        if (compared.telling > 0) verified_.insert(name);
        add_errors(name, compared, outcome);
      } else {
        different[name] = value;
        where[name] = name + compared.worst_place;
      }
      return *want;
    };
    const exec::Inputs inputs = inputs_of(*inside_.program, golden);
    SOLAR_TRY([[maybe_unused]] const exec::Outputs ran,
              exec::jit()->run(inside_.program, inputs, options));
    ++outcome.seeds;
    outcome.distributions.push_back(run.distribution);
    if (different.empty()) return Done{};
    return judge(golden, inputs, different, where, outcome);
  }

  /// The first operator that no run could tell anything of.
  std::optional<frontend::TraceStep> untold() const {
    for (const frontend::TraceStep& step : inside_.steps) {
      for (const std::string& name : step.tensors) {
        if (seen_.contains(name) && !verified_.contains(name)) return step;
      }
    }
    return std::nullopt;
  }

  size_t count() const { return verified_.size(); }

 private:
  const exec::TensorData* original(const std::string& name,
                                   const exec::NamedTensors& golden) const {
    const auto at = places_.find(name);
    if (at == places_.end()) return nullptr;
    return value_of(golden, inside_.steps[at->second.first], at->second.second);
  }

  /// An operator is wrong if what it gives differs where moving what it is given does not.
  Result<Done> judge(const exec::NamedTensors& golden, exec::Inputs inputs,
                     const std::map<std::string, exec::TensorData>& different,
                     const std::map<std::string, std::string>& where, Outcome& outcome) const {
    for (auto& [name, value] : inputs) value = moved(std::move(value), rounding_);
    std::set<std::string> stable;
    exec::RunOptions options = run_options(options_);
    options.replace = [&](const std::string& name,
                          const exec::TensorData& value) -> std::optional<exec::TensorData> {
      const auto at = different.find(name);
      if (at != different.end() && compare(at->second, value, rounding_).equal) stable.insert(name);
      const exec::TensorData* want = original(name, golden);
      if (want == nullptr) return std::nullopt;
      return moved(*want, rounding_);
    };
    SOLAR_TRY([[maybe_unused]] const exec::Outputs ran,
              exec::jit()->run(inside_.program, inputs, options));
    for (size_t i = 0; i < inside_.steps.size() && !stable.empty(); ++i) {
      const frontend::TraceStep& step = inside_.steps[i];
      for (const std::string& name : step.tensors) {
        if (!stable.contains(name)) continue;
        outcome.status = "failed";
        outcome.reason = "an operator differs from the original's on the same values";
        outcome.first_wrong = {step.op, step.at, step.module, where.at(name),
                               static_cast<int64_t>(i)};
        return Done{};
      }
    }
    return Done{};
  }

  const Inside& inside_;
  const Options& options_;
  double rounding_;
  std::map<std::string, std::pair<size_t, size_t>> places_;  // tensors: step, place in its results
  std::set<std::string> seen_;
  std::set<std::string> verified_;
};

}  // namespace

Result<Outcome> validate_operators(frontend::WorkerPool& pool,
                                   const frontend::SourceRequest& request,
                                   const frontend::TracedProgram& trace, const std::string& folder,
                                   const Options& options) {
  SOLAR_TRY(const Inside inside, inside_of(trace));
  Operators operators(inside, options);
  Outcome outcome;
  outcome.method = "per-op";
  if (operators.bytes() > options.full_bytes / 2) {
    outcome.method = "";
    outcome.reason = fmt::format(
        "the values inside take {:.3g} GiB, too much to compare every "
        "operator by itself",
        static_cast<double>(operators.bytes()) / 0x1p30);
    return outcome;
  }
  for (const Run& run : {Run{0, "example"}, Run{1, "normal"}, Run{3, "example"}}) {
    if (options.progress) {
      options.progress(fmt::format("validate: every operator by itself, {} inputs, seed {}",
                                   run.distribution, run.seed));
    }
    SOLAR_TRY(exec::NamedTensors golden,
              original_inside(pool, request, trace, inside, 0, inside.steps.size(), run, folder,
                              options));
    SOLAR_TRY([[maybe_unused]] const Done done, operators.compare_run(run, golden, outcome));
    keep_example(run, golden, outcome);
    if (outcome.status == "failed") return outcome;
  }
  if (const auto step = operators.untold()) {
    outcome.reason = fmt::format("{} at {}: the values that the original has there tell nothing",
                                 step->op, step->at);
    outcome.method = "";
    return outcome;
  }
  outcome.status = "passed";
  outcome.notes.push_back(
      fmt::format("every operator by itself ({} results), on the values that the original has "
                  "inside; its outputs as a whole are not stable enough to compare",
                  operators.count()));
  return outcome;
}

}  // namespace solar::validate

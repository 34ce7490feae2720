#include "validate/first_wrong.h"

#include <fmt/format.h>

#include <map>

#include "base/checked.h"
#include "exec/executor.h"
#include "exec/memory_plan.h"
#include "validate/compare.h"
#include "validate/inside.h"
#include "validate/rounding.h"

namespace solar::validate {
namespace {

constexpr int kMaxParts = 16;  // runs of the original

class Search {
 public:
  Search(const Inside& inside, const Options& options)
      : inside_(inside), options_(options), rounding_(rounding_error(*inside.program).relative()) {
    for (const ir::Tensor& tensor : inside.program->tensors)
      bytes_[tensor.name] = exec::saturating_bytes(tensor);
  }

  /// Consecutive steps whose tensors fit an eighth of the memory: both sides hold them, and a run.
  size_t end_of_part(size_t begin) const {
    const auto& steps = inside_.steps;
    int64_t bytes = 0;
    size_t end = begin;
    for (; end < steps.size(); ++end) {
      for (const std::string& name : steps[end].tensors) {
        const auto at = bytes_.find(name);
        if (at != bytes_.end()) bytes = saturating_add(bytes, at->second);
      }
      if (bytes > options_.full_bytes / 8 && end > begin) break;
    }
    return end;
  }

  /// The first of the steps whose tensors differ.
  Result<std::optional<FirstWrong>> compare_part(size_t begin, size_t end,
                                                 const exec::NamedTensors& golden) const {
    const auto& steps = inside_.steps;
    exec::RunOptions run = run_options(options_);
    for (size_t i = begin; i < end; ++i) {
      for (const std::string& name : steps[i].tensors) {
        if (!name.empty()) run.keep.push_back(name);
      }
    }
    SOLAR_TRY(const exec::Outputs outputs,
              exec::jit()->run(inside_.program, inputs_of(*inside_.program, golden), run));
    for (size_t i = begin; i < end; ++i) {
      for (size_t place = 0; place < steps[i].tensors.size(); ++place) {
        const auto wrong = difference(steps[i], place, golden, outputs);
        if (!wrong.empty()) {
          return std::optional<FirstWrong>(
              {steps[i].op, steps[i].at, steps[i].module, wrong, static_cast<int64_t>(i)});
        }
      }
    }
    return std::optional<FirstWrong>();
  }

 private:
  std::string difference(const frontend::TraceStep& step, size_t place,
                         const exec::NamedTensors& golden, const exec::Outputs& outputs) const {
    const exec::TensorData* expected = value_of(golden, step, place);
    const auto actual = outputs.kept.find(step.tensors[place]);
    if (expected == nullptr || actual == outputs.kept.end()) return "";
    const exec::TensorData& want = *expected;
    const exec::TensorData& got = actual->second;
    if (want.shape() != got.shape() || want.type() != got.type()) {
      return fmt::format("{}: expected {}, got {}", step.tensors[place],
                         exec::describe(want.type(), want.shape()),
                         exec::describe(got.type(), got.shape()));
    }
    const Comparison compared = compare(want, got, rounding_);
    return compared.equal ? "" : step.tensors[place] + compared.worst_place;
  }

  const Inside& inside_;
  const Options& options_;
  double rounding_;
  std::map<std::string, int64_t> bytes_;
};

Result<std::optional<FirstWrong>> search(frontend::WorkerPool& pool,
                                         const frontend::SourceRequest& request,
                                         const frontend::TracedProgram& trace, const Inside& inside,
                                         const Run& run, const std::string& folder,
                                         const Options& options) {
  const Search search(inside, options);
  size_t begin = 0;
  for (int part = 0; part < kMaxParts && begin < inside.steps.size(); ++part) {
    const size_t end = search.end_of_part(begin);
    SOLAR_TRY(const exec::NamedTensors tensors,
              original_inside(pool, request, trace, inside, begin, end, run, folder, options));
    SOLAR_TRY(std::optional<FirstWrong> found, search.compare_part(begin, end, tensors));
    if (found) return found;
    begin = end;
  }
  return std::optional<FirstWrong>();
}

// The steps with tensors that `program` has too.
Inside seen_in(Inside inside, const ir::VerifiedProgram& program) {
  std::map<std::string, const ir::Tensor*> theirs;
  for (const ir::Statement& statement : program->statements) {
    for (const ir::TensorId id : ir::outputs_of(statement))
      theirs[program->tensor(id).name] = &program->tensor(id);
  }
  std::map<std::string, const ir::Tensor*> known;
  for (const ir::Tensor& tensor : inside.program->tensors) known[tensor.name] = &tensor;
  const auto shared = [&](const std::string& name) {
    const auto a = known.find(name);
    const auto b = theirs.find(name);
    return a != known.end() && b != theirs.end() && a->second->type == b->second->type &&
           a->second->shape == b->second->shape;
  };
  std::vector<frontend::TraceStep> steps;
  for (frontend::TraceStep& step : inside.steps) {
    bool any = false;
    for (std::string& name : step.tensors) {
      if (!shared(name)) name.clear();
      any = any || !name.empty();
    }
    if (any) steps.push_back(std::move(step));
  }
  return {std::move(steps), program};
}

}  // namespace

std::string reason_text(const Outcome& outcome) {
  if (!outcome.first_wrong) return outcome.reason;
  const FirstWrong& wrong = *outcome.first_wrong;
  std::string text =
      fmt::format("{}; the first operator that differs is {}", outcome.reason, wrong.op);
  if (!wrong.at.empty()) text += fmt::format(" at {}", wrong.at);
  if (!wrong.module.empty()) text += fmt::format(" ({})", wrong.module);
  if (wrong.agreeing > 0)
    text += fmt::format(", after {} that agree{}", wrong.agreeing, wrong.agreeing == 1 ? "s" : "");
  return fmt::format("{}: {}", text, wrong.place);
}

std::optional<FirstWrong> first_wrong_by_name(frontend::WorkerPool& pool,
                                              const frontend::SourceRequest& request,
                                              const ir::VerifiedProgram& program, const Run& run,
                                              const std::string& folder, const Options& options) {
  const auto traced = trace_source(pool, request, folder, options);
  if (!traced) return std::nullopt;
  auto inside = inside_of(traced->trace);
  if (!inside) return std::nullopt;
  const Inside seen = seen_in(std::move(*inside), program);
  auto found = search(pool, request, traced->trace, seen, run, folder, options);
  return found ? *found : std::nullopt;
}

std::optional<FirstWrong> first_wrong(frontend::WorkerPool& pool,
                                      const frontend::SourceRequest& request,
                                      const frontend::TracedProgram& trace, const Run& run,
                                      const std::string& folder, const Options& options) {
  const auto inside = inside_of(trace);
  if (!inside) return std::nullopt;
  auto found = search(pool, request, trace, *inside, run, folder, options);
  return found ? *found : std::nullopt;
}

}  // namespace solar::validate

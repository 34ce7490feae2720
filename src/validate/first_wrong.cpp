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
                                         const frontend::TracedProgram& trace, const Run& run,
                                         const std::string& folder, const Options& options) {
  SOLAR_TRY(const Inside inside, inside_of(trace));
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

}  // namespace

std::optional<FirstWrong> first_wrong(frontend::WorkerPool& pool,
                                      const frontend::SourceRequest& request,
                                      const frontend::TracedProgram& trace, const Run& run,
                                      const std::string& folder, const Options& options) {
  auto found = search(pool, request, trace, run, folder, options);
  return found ? *found : std::nullopt;
}

}  // namespace solar::validate

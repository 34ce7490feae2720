#include "validate/sizes.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "exec/executor.h"

namespace solar::validate {
namespace {

constexpr int64_t kCheapPoints = 2'500'000'000;  // below: every distribution and several seeds

}  // namespace

int64_t predicted_peak(const ir::VerifiedProgram& program) {
  return checked_mul(exec::predict_peak_bytes(program), 3).value_or(INT64_MAX);
}

bool fits_full(const ir::VerifiedProgram& program, const Options& options) {
  return predicted_peak(program) <= options.full_bytes &&
         exec::estimate_points(program) <= options.full_points;
}

std::string predicted_text(const ir::VerifiedProgram& program) {
  return fmt::format("{:.3g} GiB and {:.3g} Gpoints",
                     static_cast<double>(predicted_peak(program)) / 0x1p30,
                     static_cast<double>(exec::estimate_points(program)) / 1e9);
}

Diagnostic too_large(const ir::VerifiedProgram& program) {
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::MemoryLimit;
  diagnostic.message = fmt::format("running the program at this size is predicted to take {}",
                                   predicted_text(program));
  diagnostic.hint =
      "compare at smaller sizes: `--set CONSTANT=N` for the source and `--bind DIM=N` for the "
      "program";
  return diagnostic;
}

std::vector<Run> runs_for(const ir::VerifiedProgram& program) {
  std::vector<Run> runs = {{0, "example"}, {1, "normal"}};
  if (exec::estimate_points(program) > kCheapPoints) return runs;
  for (const char* distribution : {"large", "negative", "constant", "zeros"})
    runs.push_back({2, distribution});
  runs.push_back({3, "example"});
  return runs;
}

}  // namespace solar::validate

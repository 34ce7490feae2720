#pragma once
// The values inside: what each source operator gives in the original, and in the trace as it was
// written. Private to validate/.

#include <string>
#include <vector>

#include "validate/run.h"

namespace solar::validate {

/// A trace's operators, and its program before loops and layers were rolled up.
struct Inside {
  std::vector<frontend::TraceStep> steps = {};
  ir::VerifiedProgram program;
};
Result<Inside> inside_of(const frontend::TracedProgram& trace);

/// Runs the original operator by operator on the values of `run`. The tensors in/PORT and, of the
/// steps from `begin` to `end`, those that `value_of` finds.
Result<exec::NamedTensors> original_inside(frontend::WorkerPool& pool,
                                           const frontend::SourceRequest& request,
                                           const frontend::TracedProgram& trace,
                                           const Inside& inside, size_t begin, size_t end,
                                           const Run& run, const std::string& folder,
                                           const Options& options);

/// What a step gives at a place of its results; null where it was not written.
const exec::TensorData* value_of(const exec::NamedTensors& tensors, const frontend::TraceStep& step,
                                 size_t place);

exec::RunOptions run_options(const Options& options);

}  // namespace solar::validate

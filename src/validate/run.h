#pragma once
// Runs of the original and of the program on the same tensors, compared. Private to validate/.

#include <string>
#include <vector>

#include "validate/validate.h"

namespace solar::validate {

struct Run {
  int64_t seed = 0;
  std::string distribution = "example";
};

/// Adds the runs to `outcome` and sets its status. A run at which the original itself is off from
/// float64 by more than the tolerance proves nothing; it is left out and noted (the example inputs
/// never are).
Result<Outcome> run_and_compare(Outcome outcome, frontend::WorkerPool& pool,
                                const frontend::SourceRequest& request,
                                const frontend::TracedProgram& trace,
                                const ir::VerifiedProgram& program, const std::vector<Run>& runs,
                                const std::string& folder, const Options& options);

}  // namespace solar::validate

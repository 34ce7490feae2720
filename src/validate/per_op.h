#pragma once
// The method `per-op`: every source operator by itself, on the values that the original has inside.
// Private to validate/.

#include <string>

#include "validate/run.h"

namespace solar::validate {

/// For programs whose results alone tell nothing: where rounding errors grow on the way to them, or
/// nothing of them is finite. Skipped, with the reason, where an operator cannot be compared.
Result<Outcome> validate_operators(frontend::WorkerPool& pool,
                                   const frontend::SourceRequest& request,
                                   const frontend::TracedProgram& trace, const std::string& folder,
                                   const Options& options);

}  // namespace solar::validate

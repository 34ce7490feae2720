#pragma once
// Which operator a failed validation comes from. Private to validate/.

#include <optional>
#include <string>

#include "validate/run.h"

namespace solar::validate {

/// Runs the trace as it was written, and the original operator by operator, on the values of `run`,
/// and compares what the operators give. Nothing where all of them agree, or where this cannot be
/// done within the limits.
std::optional<FirstWrong> first_wrong(frontend::WorkerPool& pool,
                                      const frontend::SourceRequest& request,
                                      const frontend::TracedProgram& trace, const Run& run,
                                      const std::string& folder, const Options& options);

}  // namespace solar::validate

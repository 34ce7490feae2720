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

/// The same of a program that somebody else wrote, with a trace of the original for a key: compared
/// are the tensors outside of its loops that bear the name, type and shape of an operator's result.
std::optional<FirstWrong> first_wrong_by_name(frontend::WorkerPool& pool,
                                              const frontend::SourceRequest& request,
                                              const ir::VerifiedProgram& program, const Run& run,
                                              const std::string& folder, const Options& options);

}  // namespace solar::validate

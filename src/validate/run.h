#pragma once
// Runs of the original and of the program on the same tensors, compared. Private to validate/.

#include <string>
#include <vector>

#include "exec/executor.h"
#include "validate/compare.h"
#include "validate/validate.h"

namespace solar::validate {

struct Run {
  int64_t seed = 0;
  std::string distribution = "example";
};

/// The original's tensors of one run.
struct Golden {
  Run run = {};
  frontend::GoldenRequest request = {};
  // in/NAME, out/0.., f64/0.., state/NAME, and near/0.. of values moved by what rounding may
  // amount to, once it is needed
  exec::NamedTensors tensors = {};
  std::vector<std::string> warnings = {};
  bool isolated = false;
};

/// Where the values of the ports come from: what the tracer found, or their names alone.
struct PortSource {
  std::vector<frontend::Port> ports = {};
  bool resolve = false;
  std::string constants_path = {};
};
PortSource ports_of(const frontend::TracedProgram& trace);
PortSource ports_of(const ir::Program& program);

/// What the original is to be run on; where to is still open.
frontend::GoldenRequest request_for(const frontend::SourceRequest& request,
                                    const PortSource& source, const Run& run);

Result<Golden> run_original(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                            const PortSource& source, const Run& run, const std::string& folder,
                            const Options& options);

/// The tensors of a golden file, which is deleted.
Result<exec::NamedTensors> take_tensors(const std::string& path);

/// The program's ports, out of golden tensors.
exec::Inputs inputs_of(const ir::Program& program, const exec::NamedTensors& golden);

/// Runs the program on the same tensors and adds what was found to `outcome`, whose status becomes
/// passed or failed. A run at which the original itself is off from float64, or from itself on
/// values moved by what rounding may amount to, by more than the tolerance proves nothing; it is
/// left out and noted.
Result<Done> compare_run(frontend::WorkerPool& pool, const ir::VerifiedProgram& program,
                         Golden& golden, const Options& options, Outcome& outcome);

/// Notes how far results are from the original's.
void add_errors(const std::string& name, const Comparison& comparison, Outcome& outcome);

/// Keeps the ports of the first run on the source's own inputs.
void keep_example(const Run& run, exec::NamedTensors& tensors, Outcome& outcome);

/// After the last run: what compared nothing has not passed.
void conclude(Outcome& outcome);

/// All runs of one program.
Result<Outcome> run_and_compare(Outcome outcome, frontend::WorkerPool& pool,
                                const frontend::SourceRequest& request,
                                const frontend::TracedProgram& trace,
                                const ir::VerifiedProgram& program, const std::vector<Run>& runs,
                                const std::string& folder, const Options& options);

}  // namespace solar::validate

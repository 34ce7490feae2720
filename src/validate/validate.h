#pragma once
// Is the traced program the original? Both are run on the same tensors and compared: at full size
// where that fits
// (`full`), else at small sizes that are proven to be the same program (`two-trace`).

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/tensor_file.h"
#include "frontend/requests.h"
#include "ir/ast.h"
#include "ir/core.h"

namespace solar::validate {

struct Options {
  int64_t full_bytes = int64_t{10} << 30;  // predicted peak up to which `full` is used
  int64_t full_points =
      20'000'000'000;  // loop points of one run up to which `full` is used; ten of products are one
  int64_t last_points = 50'000'000'000;  // likewise, if nothing smaller will do
  int64_t small_points = 4'000'000'000;  // likewise for a small program
  frontend::Limits limits = {};          // `threads` holds for runs of the IR too
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string&)> progress = {};  // what is being done
};

/// The first source operator, in the program's order, whose results differ from the original's by
/// more than the tolerance.
struct FirstWrong {
  std::string op;
  std::string at;
  std::string module;
  std::string place;     // `mul[0, 3]: expected 1.5, got 1.25`
  int64_t agreeing = 0;  // operators before it
};

/// A small program that was run, and what it was run on first (`in/NAME`).
struct SmallRun {
  ir::VerifiedProgram program;
  exec::NamedTensors example = {};
};

struct Outcome {
  std::string status = "skipped";  // passed, failed, skipped
  std::string method = {};
  std::string reason = {};  // of a failure or skip
  double max_abs_error = 0;
  double max_rel_error = 0;
  double worst_tolerance_share = 0;
  bool telling = false;  // some element compared was finite
  std::string worst_place = {};
  std::optional<FirstWrong> first_wrong = {};
  std::map<std::string, int64_t> bindings = {};
  int64_t seeds = 0;
  std::vector<std::string> distributions = {};
  std::vector<std::string> notes = {};
  exec::NamedTensors example = {};     // `full`: the tensors of the first run, `in/NAME`, ...
  std::optional<SmallRun> small = {};  // `two-trace`: of the first size
};

/// A failure's reason, with the operator that it comes from.
std::string reason_text(const Outcome& outcome);

/// A trace as the analysis uses it: dims unified, verified.
struct Traced {
  frontend::TracedProgram trace = {};
  ir::ast::File file = {};
  std::optional<ir::VerifiedProgram> program = {};
};

/// Traces a source and unifies its dims. `folder` holds its temporary files.
Result<Traced> trace_source(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                            const std::string& folder, const Options& options);

/// Validates a trace of `request` against the original. A failure to run the original at all is an
/// error; a mismatch is an Outcome with status `failed`.
Result<Outcome> validate_trace(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                               const Traced& traced, const std::string& folder,
                               const Options& options);

/// Runs programs written by somebody else against the original, at the source's own sizes (after
/// overrides). The original runs once for all of them. One result per program, with the first wrong
/// operator where the program names its results as a trace does; the outer error is one of the
/// original itself.
Result<std::vector<Result<Outcome>>> check_against(frontend::WorkerPool& pool,
                                                   const frontend::SourceRequest& request,
                                                   const std::vector<ir::VerifiedProgram>& programs,
                                                   const std::string& folder,
                                                   const Options& options);

}  // namespace solar::validate

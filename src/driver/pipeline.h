#pragma once
// The whole product: source -> IR -> einsum graph -> bounds -> report.

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/machine.h"
#include "driver/environment.h"
#include "einsum/graph.h"
#include "einsum/lift.h"
#include "report/report.h"
#include "roofline/roofline.h"
#include "validate/compare.h"
#include "validate/shrink.h"
#include "validate/validate.h"

namespace solar::driver {

struct AnalyzeOptions {
  std::string source;
  std::vector<std::string> archs = {};
  roofline::Policy policy = {};
  einsum::StoragePolicy storage = {};
  bool sparse_weights = false;                   // 2:4
  std::map<std::string, int64_t> bindings = {};  // free dims of the program
  validate::Overrides overrides = {};            // integer constants of the source
  bool algebra = true;                           // look for cheaper programs with the same meaning
  bool cache_aware = false;                      // bounds and plans for caches of finite size
  std::optional<Bytes> sram = {};                // their size, instead of the machine's
  bool frozen = false;                           // parameters are known when that is done
  bool rebinds = false;  // the program will be bound to other dims: its tree is kept
  bool validate = true;
  validate::Options validation = {};
};

/// A source brought to a verified program, with what is known of its validity.
struct Loaded {
  std::string source;
  ir::ast::File file = {};  // empty: a long text, see AnalyzeOptions::rebinds
  std::optional<ir::VerifiedProgram> program = {};
  std::string mode = {};                   // train, eval, mixed; empty for .alir
  std::vector<frontend::Port> ports = {};  // where their values come from; empty for .alir
  report::Validation validation = {};
  std::map<std::string, einsum::KnownPort> known_ports = {};
  einsum::StoragePolicy storage = {};
  bool sparse_weights = false;
  bool recorded_path = false;       // of a source that branches on data
  exec::NamedTensors example = {};  // `in/NAME` at full size, where a run produced them
  std::optional<validate::SmallRun> small = {};  // where validation ran small sizes
  std::vector<std::string> warnings = {};
  double trace_s = 0;
  double validate_s = 0;
};

/// Traces (or parses), verifies and validates. What is in `loaded` after a failure is as far as it
/// came: a program if only the validation could not be done.
Result<Done> load(const AnalyzeOptions& options, const Environment& environment, Loaded& loaded);
Result<Loaded> load(const AnalyzeOptions& options, const Environment& environment);

/// The graph with data-dependent reads at the example inputs where those are known; `forms`: see
/// einsum::LiftOptions.
Result<einsum::Graph> lift(const Loaded& loaded, const std::atomic<bool>* cancel = nullptr,
                           bool forms = false);

/// Both bounds on every machine. Failure: a missing rate, counts that overflow.
Result<Done> add_bounds(report::Report& report, const einsum::Graph& graph,
                        const std::vector<arch::Machine>& machines, const roofline::Policy& policy);

struct Analysis {
  Loaded loaded = {};
  einsum::Graph graph = {};
  std::vector<arch::Machine> machines = {};
};

/// Everything that does not depend on rates.
Result<Analysis> prepare(const AnalyzeOptions& options, const Environment& environment);

/// A source as far as it came: what is known of it, and why that is not all.
struct Attempt {
  report::Report report = {};
  bool traced = false;
  bool counted = false;    // the totals and nodes are known
  int64_t statements = 0;  // of the IR, once traced
  Diagnostics errors = {};
};

/// Goes on to the bounds where only the validation could not be done.
Attempt attempt(const AnalyzeOptions& options, const Environment& environment);

/// The report of `solar analyze`.
Result<report::Report> analyze(const AnalyzeOptions& options, const Environment& environment);

/// The report of `solar inverse`. No architectures named: all of the library.
Result<report::Inverse> inverse(const AnalyzeOptions& options, double target_s,
                                const Environment& environment);

}  // namespace solar::driver

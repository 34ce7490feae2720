#pragma once
// What every subcommand shares: exit codes, common options, where diagnostics and progress go.

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "driver/pipeline.h"

namespace solar::cli {

enum ExitCode {
  kDone = 0,
  kProblem = 1,  // a diagnosed problem in the input, or a failed validation
  kUsage = 2,
  kLimit = 3,  // a memory or time limit was hit
  kBug = 70,
  kInterrupted = 130
};

/// A subcommand adds itself to the app; `run` is set when it is the one chosen.
using Run = std::function<int()>;
using AddCommand = void (*)(CLI::App& app, Run& run);

void add_analyze(CLI::App& app, Run& run);
void add_trace(CLI::App& app, Run& run);
void add_check(CLI::App& app, Run& run);
void add_run(CLI::App& app, Run& run);
void add_lift(CLI::App& app, Run& run);
void add_fmt(CLI::App& app, Run& run);
void add_fix(CLI::App& app, Run& run);
void add_inverse(CLI::App& app, Run& run);
void add_compare(CLI::App& app, Run& run);
void add_arch(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run);
void add_score(CLI::App& app, Run& run);
void add_suite(CLI::App& app, Run& run);
void add_sweep(CLI::App& app, Run& run);
void add_flops(CLI::App& app, Run& run);
void add_headroom(CLI::App& app, Run& run);

/// Prints diagnostics to stderr (coloured on a terminal unless NO_COLOR) and gives the exit code
/// they mean.
int report(const Diagnostics& diagnostics);
int exit_code(const Diagnostics& diagnostics);
int usage_error(const std::string& message, const std::string& hint = {});

/// Writes to stderr; where that fails there is nobody to tell.
void print_error(const std::string& text);
/// Prints what may hold texts of the user's, as a terminal may show them (base/printable.h).
void say(const std::string& text);
void say_error(const std::string& text);
/// Writes a program's text to a file; likewise where `-` is a terminal.
Result<Done> write_text(const std::string& path, const std::string& text);
/// Sends on what was printed to standard output. False after an error was printed.
bool flush_out();

bool use_colour(int fd);
int terminal_width(int fd);

/// The process's environment: cancelled by ctrl-C, progress on stderr if that is a terminal.
driver::Environment environment();
/// Erases the progress line.
void clear_progress();

/// The options of every command that takes a SRC.
struct SourceOptions {
  driver::AnalyzeOptions analyze = {};
  std::vector<std::string> bindings = {};   // D=N
  std::vector<std::string> overrides = {};  // CONSTANT=N
  std::string precision = "as-written";
  std::string storage = "as-written";
  std::string sparsity = "none";
  std::string params = "runtime";
  std::string cache = "cold";
  bool strict = false;
  bool no_algebra = false;
  bool has_algebra = true;  // of the command: it shows the bound `algebraic`
  bool cache_aware = false;
  std::optional<int64_t> sram = {};  // bytes
  bool no_validate = false;
  bool require_validated = false;
  double memory_gib = 10;
  double timeout_s = 300;
  std::optional<std::string> json = {};
};

/// Of an option: a finite number above 0 and at most `largest`.
CLI::Validator positive_up_to(double largest, const char* unit);

/// An option that takes one of a few words, which its help lists: `--statistic min|mean`.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description);
/// An option that takes a whole number in a range.
CLI::Option* add_count(CLI::App& command, const std::string& name, int& value, int least, int most,
                       const std::string& description);

/// An option that takes one comma-separated list; given again, it adds to it. What follows the list
/// is not part of it.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& description);

/// SRC and --set.
void add_source(CLI::App& command, SourceOptions& options);
/// Whether and how to validate, with the limits of it.
void add_validation_options(CLI::App& command, SourceOptions& options);
/// All of these, and --bind.
void add_source_options(CLI::App& command, SourceOptions& options);
/// --timeout and --memory-limit.
void add_limit_options(CLI::App& command, SourceOptions& options);
void add_memory_limit(CLI::App& command, double& gib);
void add_rate_options(CLI::App& command, SourceOptions& options);
/// --no-algebra, --cache-aware, --sram.
void add_mode_options(CLI::App& command, SourceOptions& options);

/// Completes `options.analyze`; a nonzero exit code after an error was printed.
int finish(SourceOptions& options, const driver::Environment& environment);

/// `N=3` pairs of values from `least`. False after an error was printed.
bool parse_pairs(const std::vector<std::string>& texts, const char* option,
                 std::map<std::string, int64_t>& pairs,
                 int64_t least = std::numeric_limits<int64_t>::min());

/// Refuses, before the work, a file that could not be written after it. `-` is standard output.
Result<Done> check_output_path(const std::string& path);

/// Writes a report to a path, if one was asked for. False after an error was printed.
bool write_report(const std::optional<std::string>& path, const std::string& text);

/// The exit code that a validation status means under the options; says on stderr why it is not 0.
int validation_exit(const report::Validation& validation, const SourceOptions& options);

}  // namespace solar::cli

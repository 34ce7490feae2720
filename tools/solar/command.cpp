#include "command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>

#include "base/diagnostic_text.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/text.h"
#include "interrupt.h"

namespace solar::cli {
namespace {

/// What keeps `path` from being written, as errno says it, or 0.
int write_obstacle(const std::string& path, const std::string& folder) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return EISDIR;
    if (!S_ISREG(info.st_mode)) return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
  }
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

}  // namespace

CLI::Validator positive_up_to(double largest, const char* unit) {
  const auto check = [largest, unit](const std::string& text) {
    double value = 0;
    const char* last = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), last, value);
    const bool number = parsed.ec == std::errc{} && parsed.ptr == last;
    if (number && value > 0 && value <= largest) return std::string();
    return fmt::format("`{}` is not a number of {} above 0 and up to {:g}", text, unit, largest);
  };
  return {check, ""};
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description) {
  const auto check = [choices](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string();
    return fmt::format("`{}` is not {}", text, quoted_choices(choices));
  };
  return command.add_option(name, value, description)
      ->type_name(fmt::format("{}", fmt::join(choices, "|")))
      ->check(CLI::Validator(check, ""));
}

CLI::Option* add_count(CLI::App& command, const std::string& name, int& value, int least, int most,
                       const std::string& description) {
  return command.add_option(name, value, description)
      ->type_name("N")
      ->check(CLI::Validator(CLI::Range(least, most)).description(""));
}

void print_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void say(const std::string& text) { fmt::print("{}", printable(text)); }

void say_error(const std::string& text) { print_error(printable(text)); }

Result<Done> write_text(const std::string& path, const std::string& text) {
  const bool terminal = path == "-" && ::isatty(STDOUT_FILENO) == 1;
  return write_file(path, terminal ? printable(text) : text);
}

bool flush_out() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::OutputFile;
  diagnostic.message = fmt::format("cannot write to standard output{}{}", errno != 0 ? ": " : "",
                                   errno != 0 ? std::strerror(errno) : "");
  report(Diagnostics{diagnostic});
  return false;
}

Result<Done> check_output_path(const std::string& path) {
  if (path == "-") return Done{};
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int obstacle = path.empty() ? EINVAL : write_obstacle(path, folder);
  if (obstacle == 0) return Done{};
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::OutputFile;
  diagnostic.message = fmt::format("cannot write `{}`: {}", path, std::strerror(obstacle));
  if (path.empty()) diagnostic.message = "cannot write a file without a name";
  diagnostic.hint = obstacle == ENOENT ? fmt::format("make its folder first: mkdir -p {}", folder)
                                       : "name a file in a folder that can be written, or `-`";
  return diagnostic;
}

bool use_colour(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0');
}

int terminal_width(int fd) {
  winsize size = {};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::clamp<int>(size.ws_col, 60, 100);
  return 100;
}

void clear_progress() {
  if (!progress_shown) return;
  print_error("\r\x1b[K");
  progress_shown = false;
}

driver::Environment environment() {
  driver::Environment environment = driver::environment_of_process();
  environment.cancel = &interruptions();
  if (::isatty(STDERR_FILENO) == 1) {
    environment.progress = [](const std::string& what) {
      print_error(fmt::format("\r\x1b[K{} ...", printable_line(what)));
      progress_shown = true;
    };
  }
  return environment;
}

int report(const Diagnostics& diagnostics) {
  clear_progress();
  print_error(render_text(diagnostics, use_colour(STDERR_FILENO)));
  return exit_code(diagnostics);
}

int exit_code(const Diagnostics& diagnostics) {
  if (!has_errors(diagnostics)) return kDone;
  const auto any = [&](DiagnosticKind kind) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [&](const Diagnostic& d) { return d.kind == kind; });
  };
  if (any(DiagnosticKind::Interrupted)) return kInterrupted;
  if (any(DiagnosticKind::Usage)) return kUsage;
  if (any(DiagnosticKind::MemoryLimit) || any(DiagnosticKind::WorkerLimit)) return kLimit;
  return kProblem;
}

int usage_error(const std::string& message, const std::string& hint) {
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::Usage;
  diagnostic.message = message;
  diagnostic.hint = hint;
  return report(Diagnostics{diagnostic});
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& description) {
  return command.add_option(name, values, description)
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void add_source(CLI::App& command, SourceOptions& options) {
  command
      .add_option("SRC", options.analyze.source,
                  "FILE.py, FILE.py:NAME, FILE.pt2, hf:MODEL or FILE.alir")
      ->required();
  add_list(command, "--set", options.overrides,
           "replace an integer constant of the source: NAME=N");
}

void add_validation_options(CLI::App& command, SourceOptions& options) {
  command.add_flag("--no-validate", options.no_validate, "do not run the original for comparison");
  command.add_flag("--require-validated", options.require_validated,
                   "exit with 1 unless validation passed");
  add_limit_options(command, options);
}

void add_source_options(CLI::App& command, SourceOptions& options) {
  add_source(command, options);
  add_list(command, "--bind", options.bindings, "set a free dim of the program: D=N");
  add_validation_options(command, options);
}

void add_memory_limit(CLI::App& command, double& gib) {
  command.add_option("--memory-limit", gib, "GiB that one run may take (default 10)")
      ->type_name("GIB")
      ->check(positive_up_to(1e6, "GiB"));
}

void add_limit_options(CLI::App& command, SourceOptions& options) {
  add_memory_limit(command, options.memory_gib);
  command
      .add_option("--timeout", options.timeout_s,
                  "seconds that one run of the source may take (default 300)")
      ->type_name("SECONDS")
      ->check(positive_up_to(1e7, "seconds"));
}

void add_rate_options(CLI::App& command, SourceOptions& options) {
  command.add_option("--precision", options.precision,
                     fmt::format("number format of all MACs: {} (default: as-written)",
                                 fmt::join(roofline::precision_names(), ", ")));
  command.add_option("--storage", options.storage,
                     "how floating-point tensors are kept in DRAM: bf16, fp8, nvfp4, ..., or "
                     "params=int4,state=fp8,activations=bf16 (default: as-written)");
  command.add_option("--sparsity", options.sparsity,
                     "none (default), or 2:4: half of each multiplied weight is zero");
  command.add_option("--params", options.params,
                     "runtime (default): they are inputs; frozen: what is computed from them alone "
                     "is done beforehand (bound `algebraic`)");
  command.add_option("--cache", options.cache,
                     "cold (default): nothing is on chip at the start; warm: all that fits is");
  command.add_flag("--strict", options.strict,
                   "rates that no device exceeds, instead of the datasheet's");
  command.add_option("--json", options.json, "write the report as JSON to a file, or `-`");
}

void add_mode_options(CLI::App& command, SourceOptions& options) {
  command.add_flag("--no-algebra", options.no_algebra,
                   "do not look for cheaper programs with the same meaning");
  command.add_flag("--cache-aware", options.cache_aware,
                   "bounds and plans for caches of finite size too");
  command.add_option("--sram", options.sram, "--cache-aware for a chip that holds so many bytes")
      ->type_name("BYTES")
      ->check(CLI::Validator(CLI::Range(int64_t{1}, int64_t{1} << 60)).description(""));
}

bool parse_pairs(const std::vector<std::string>& texts, const char* option,
                 std::map<std::string, int64_t>& pairs, int64_t least) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    int64_t value = 0;
    const char* first = text.data() + std::min(text.size(), equals + 1);
    const char* last = text.data() + text.size();
    const auto parsed = std::from_chars(first, last, value);
    if (equals != std::string::npos && parsed.ec == std::errc::result_out_of_range) {
      usage_error(fmt::format("`{} {}`: the value does not fit 64 bits", option, text));
      return false;
    }
    if (equals == std::string::npos || equals == 0 || parsed.ec != std::errc{} ||
        parsed.ptr != last) {
      usage_error(fmt::format("`{} {}` is not NAME=INTEGER", option, text),
                  fmt::format("for instance `{} B=8`", option));
      return false;
    }
    if (value < least) {
      usage_error(fmt::format("`{} {}`: the value must be at least {}", option, text, least));
      return false;
    }
    const auto [at, added] = pairs.emplace(text.substr(0, equals), value);
    if (!added && at->second != value) {
      usage_error(fmt::format("`{}` gives `{}` two values, {} and {}", option, at->first,
                              at->second, value));
      return false;
    }
  }
  return true;
}

/// Names given twice count once.
static void remove_repeated(std::vector<std::string>& names) {
  std::set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
}

int finish(SourceOptions& options, const driver::Environment& environment) {
  driver::AnalyzeOptions& analyze = options.analyze;
  if (!parse_pairs(options.bindings, "--bind", analyze.bindings)) return kUsage;
  if (!parse_pairs(options.overrides, "--set", analyze.overrides, 1)) return kUsage;
  const auto precision = roofline::precision_named(options.precision);
  if (!precision) {
    return usage_error(fmt::format("unknown precision `{}`", options.precision),
                       fmt::format("one of {}", fmt::join(roofline::precision_names(), ", ")));
  }
  const auto storage = einsum::storage_policy_named(options.storage);
  if (!storage) {
    return usage_error(fmt::format("unknown storage `{}`", options.storage),
                       fmt::format("one of {}, or a list of params=, state=, activations=",
                                   fmt::join(einsum::storage_names(), ", ")));
  }
  if (options.sparsity != "none" && options.sparsity != "2:4") {
    return usage_error(fmt::format("unknown sparsity `{}`", options.sparsity), "none or 2:4");
  }
  if (options.params != "runtime" && options.params != "frozen") {
    return usage_error(fmt::format("unknown `--params {}`", options.params), "runtime or frozen");
  }
  if (options.params == "frozen" && (options.no_algebra || !options.has_algebra)) {
    return usage_error(
        "`--params frozen` changes the bound `algebraic` only, which is not asked for",
        options.no_algebra ? "leave `--no-algebra` out" : "`solar analyze` has it");
  }
  if (options.cache != "cold" && options.cache != "warm") {
    return usage_error(fmt::format("unknown cache state `{}`", options.cache), "cold or warm");
  }
  if (!analyze.overrides.empty() && analyze.source.ends_with(".alir")) {
    return usage_error("`--set` replaces constants of a Python source, an .alir file has none",
                       "`--bind D=N` sets a free dim");
  }
  if (options.no_validate && options.require_validated) {
    return usage_error("--no-validate and --require-validated exclude each other");
  }
  if (options.json) {
    const auto writable = check_output_path(*options.json);
    if (!writable) return report(writable.error());
  }
  remove_repeated(analyze.archs);
  analyze.policy.precision = *precision;
  analyze.policy.strict = options.strict;
  analyze.algebra = !options.no_algebra;
  analyze.frozen = options.params == "frozen";
  analyze.cache_aware = options.cache_aware || options.sram.has_value();
  if (options.sram) analyze.sram = Bytes{*options.sram};
  analyze.policy.warm_cache = options.cache == "warm";
  analyze.storage = *storage;
  analyze.sparse_weights = options.sparsity == "2:4";
  analyze.validate = !options.no_validate;
  analyze.validation.full_bytes = static_cast<int64_t>(options.memory_gib * 0x1p30);
  analyze.validation.limits.memory_bytes = static_cast<int64_t>((options.memory_gib + 2) * 0x1p30);
  analyze.validation.limits.wall_seconds = options.timeout_s;
  analyze.validation.cancel = environment.cancel;
  analyze.validation.progress = environment.progress;
  return kDone;
}

int validation_exit(const report::Validation& validation, const SourceOptions& options) {
  const bool failed = validation.status == "failed";
  if (!failed && (!options.require_validated || validation.status == "passed")) return kDone;
  Diagnostic diagnostic{.kind = DiagnosticKind::ValidationFailed};
  diagnostic.message = fmt::format(
      "{}: {}", failed ? "the program does not do what its source does" : "not validated",
      validation.reason.empty() ? "the results differ" : validation.reason);
  return report(Diagnostics{diagnostic});
}

bool write_report(const std::optional<std::string>& path, const std::string& text) {
  if (!path) return true;
  const auto written = write_file(*path, text);
  if (!written) report(written.error());
  return written.has_value();
}

}  // namespace solar::cli

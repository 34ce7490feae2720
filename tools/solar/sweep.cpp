#include "driver/sweep.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "command.h"

namespace solar::cli {
namespace {

struct SweepCommand {
  SourceOptions source = {};
  std::vector<std::string> sizes = {};
  std::optional<std::string> csv = {};
};

int sweep(SweepCommand& options) {
  const driver::Environment env = environment();
  if (const int wrong = finish(options.source, env)) return wrong;
  if (options.csv == "-" && options.source.json == "-")
    return usage_error("--csv and --json cannot both write to standard output");
  if (options.csv) {
    if (const auto writable = check_output_path(*options.csv); !writable)
      return report(writable.error());
  }
  const auto sizes = driver::parse_sizes(options.sizes);
  if (!sizes) return report(sizes.error());
  const auto found = driver::sweep(options.source.analyze, *sizes, env);
  if (!found) return report(found.error());
  clear_progress();
  const bool written = write_report(options.csv, render_csv(*found)) &&
                       write_report(options.source.json, render_json(*found));
  if (!written) return kProblem;
  if (options.csv != "-" && options.source.json != "-") {
    const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                      .colour = use_colour(STDOUT_FILENO)};
    if (!write_report("-", render_text(*found, text))) return kProblem;
  }
  for (const report::SweepRow& row : found->rows) {
    if (!row.error.empty()) return kProblem;
  }
  return validation_exit(found->validation, options.source);
}

}  // namespace

void add_sweep(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("sweep", "floors of one program at many sizes");
  auto options = std::make_shared<SweepCommand>();
  options->source.has_algebra = false;
  add_source(*command, options->source);
  add_list(*command, "--bind", options->sizes,
           "sizes of free dims: N=1,2,4..256 (4 doubled up to 256), N=8..32:4 (in steps of 4)")
      ->required();
  add_validation_options(*command, options->source);
  add_list(*command, "--arch", options->source.analyze.archs, "architectures, comma-separated")
      ->required();
  add_rate_options(*command, options->source);
  command->add_option("--csv", options->csv, "write the rows as CSV to a file, or `-`");
  command->footer(
      "exit code 1: there is no program at some size, or validation failed\n"
      "example: solar sweep examples/gpt2.py --bind B=1..64 --arch h100-sxm,b200");
  command->callback([&run, options] { run = [options] { return sweep(*options); }; });
}

}  // namespace solar::cli

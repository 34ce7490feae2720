#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "command.h"
#include "report/json.h"
#include "report/text.h"

namespace solar::cli {
namespace {

int analyze(SourceOptions& options) {
  const driver::Environment env = environment();
  if (const int wrong = finish(options, env)) return wrong;
  const auto found = driver::analyze(options.analyze, env);
  if (!found) return report(found.error());
  clear_progress();
  if (options.json) {
    const auto written = write_file(*options.json, report::render_json(*found));
    if (!written) return report(written.error());
  }
  if (options.json != "-") {
    const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                      .colour = use_colour(STDOUT_FILENO)};
    const auto written = write_file("-", report::render_text(*found, text));
    if (!written) return report(written.error());
  }
  return validation_exit(found->validation, options);
}

}  // namespace

void add_analyze(CLI::App& app, Run& run) {
  auto* command =
      app.add_subcommand("analyze", "floor times of a program, what limits it, what would help");
  auto options = std::make_shared<SourceOptions>();
  add_source_options(*command, *options);
  add_list(*command, "--arch", options->analyze.archs,
           "architectures: names or files, comma-separated")
      ->required();
  add_rate_options(*command, *options);
  add_mode_options(*command, *options);
  command->footer("example: solar analyze examples/resnet18.py --arch h100-sxm,a6000");
  command->callback([&run, options] { run = [options] { return analyze(*options); }; });
}

}  // namespace solar::cli

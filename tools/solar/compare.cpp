#include <unistd.h>

#include "base/file.h"
#include "command.h"
#include "report/json.h"
#include "report/text.h"

namespace solar::cli {
namespace {

int compare(SourceOptions& options) {
  const driver::Environment env = environment();
  if (const int wrong = finish(options, env)) return wrong;
  const auto found = driver::analyze(options.analyze, env);
  if (!found) return report(found.error());
  clear_progress();
  const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                    .colour = use_colour(STDOUT_FILENO)};
  const auto written = options.json ? write_file(*options.json, report::render_json(*found))
                                    : write_file("-", report::render_compare(*found, text));
  if (!written) return report(written.error());
  return validation_exit(found->validation, options);
}

}  // namespace

void add_compare(CLI::App& app, Run& run) {
  auto* command =
      app.add_subcommand("compare", "one program on several architectures, side by side");
  auto options = std::make_shared<SourceOptions>();
  add_source_options(*command, *options);
  add_list(*command, "--arch", options->analyze.archs, "architectures, comma-separated")
      ->required();
  add_rate_options(*command, *options);
  command->footer("example: solar compare examples/gpt2.py --arch h100-sxm,b200,thor");
  command->callback([&run, options] { run = [options] { return compare(*options); }; });
}

}  // namespace solar::cli

#include <fmt/format.h>

#include "command.h"
#include "ir/printer.h"

namespace solar::cli {
namespace {

int trace(SourceOptions& options, const std::string& out) {
  const driver::Environment env = environment();
  options.no_validate = options.no_validate || !options.require_validated;
  if (const int wrong = finish(options, env)) return wrong;
  if (options.analyze.source.ends_with(".alir")) {
    return usage_error("the source is an .alir file already",
                       "`solar fmt` rewrites it in canonical form");
  }
  if (const auto writable = check_output_path(out); !writable) return report(writable.error());
  const auto loaded = driver::load(options.analyze, env);
  if (!loaded) return report(loaded.error());
  clear_progress();
  for (const std::string& warning : loaded->warnings) {
    say_error(fmt::format("warning: {}\n", warning));
  }
  const auto written = write_text(out, ir::print(loaded->file));
  if (!written) return report(written.error());
  return validation_exit(loaded->validation, options);
}

}  // namespace

void add_trace(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("trace", "translate a source into the affine loop IR");
  auto options = std::make_shared<SourceOptions>();
  auto out = std::make_shared<std::string>("-");
  add_source_options(*command, *options);
  command->add_option("-o,--out", *out, "the .alir file to write (default: standard output)");
  command->footer("example: solar trace examples/mlp.py -o mlp.alir");
  command->callback(
      [&run, options, out] { run = [options, out] { return trace(*options, *out); }; });
}

}  // namespace solar::cli

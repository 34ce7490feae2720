#include "driver/flops.h"

#include <fmt/format.h>
#include <unistd.h>

#include "command.h"

namespace solar::cli {
namespace {

struct FlopsCommand {
  SourceOptions source = {};
  driver::FlopsOptions shown = {};
  std::string sort = {};
  std::optional<std::string> csv = {};
};

void set_order(FlopsCommand& options) {
  using driver::FlopsOrder;
  if (options.sort == "params") options.shown.order = FlopsOrder::Parameters;
  if (options.sort == "macs") options.shown.order = FlopsOrder::Macs;
  if (options.sort == "macs_useful") options.shown.order = FlopsOrder::MacsUseful;
  if (options.sort == "bytes") options.shown.order = FlopsOrder::Bytes;
}

int flops(FlopsCommand& options) {
  const driver::Environment env = environment();
  set_order(options);
  if (const int wrong = finish(options.source, env)) return wrong;
  if (options.csv) {
    if (*options.csv == "-" && options.source.json == "-") {
      return usage_error("--csv and --json cannot both write to standard output");
    }
    if (const auto writable = check_output_path(*options.csv); !writable) {
      return report(writable.error());
    }
  }
  const auto found = driver::flops(options.source.analyze, options.shown, env);
  if (!found) return report(found.error());
  clear_progress();
  if (!write_report(options.csv, report::render_csv(*found))) return kProblem;
  if (!write_report(options.source.json, report::render_json(*found))) return kProblem;
  if (options.csv != "-" && options.source.json != "-") {
    const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                      .colour = use_colour(STDOUT_FILENO)};
    if (!write_report("-", report::render_text(*found, text))) return kProblem;
  }
  return validation_exit(found->validation, options.source);
}

}  // namespace

void add_flops(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("flops", "parameters, MACs and bytes by module");
  auto options = std::make_shared<FlopsCommand>();
  add_source_options(*command, options->source);
  command->add_option("--depth", options->shown.depth, "levels of modules to show (default: all)")
      ->type_name("N")
      ->check(CLI::Validator(CLI::Range(0, 1000)).description(""));
  add_choice(*command, "--sort", options->sort, {"params", "macs", "macs_useful", "bytes"},
             "largest first (default: as in the source)");
  command->add_option("--csv", options->csv, "write the rows as CSV to a file, or `-`");
  command->add_option("--json", options->source.json, "write them as JSON to a file, or `-`");
  command->footer("example: solar flops examples/resnet18.py --depth 2 --sort macs");
  command->callback([&run, options] { run = [options] { return flops(*options); }; });
}

}  // namespace solar::cli

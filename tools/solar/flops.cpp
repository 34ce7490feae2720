#include "driver/flops.h"

#include <fmt/format.h>
#include <unistd.h>

#include "command.h"

namespace solar::cli {
namespace {

struct FlopsCommand {
  SourceOptions source = {};
  driver::FlopsOptions shown = {};
  std::optional<std::string> csv = {};
};

int flops(FlopsCommand& options) {
  const driver::Environment env = environment();
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
  using driver::FlopsOrder;
  auto* command = app.add_subcommand("flops", "parameters, MACs and bytes by module");
  auto options = std::make_shared<FlopsCommand>();
  add_source_options(*command, options->source);
  command->add_option("--depth", options->shown.depth, "levels of modules to show (default: all)")
      ->check(CLI::Range(0, 1000));
  const std::map<std::string, FlopsOrder> orders = {{"params", FlopsOrder::Parameters},
                                                    {"macs", FlopsOrder::Macs},
                                                    {"macs_useful", FlopsOrder::MacsUseful},
                                                    {"bytes", FlopsOrder::Bytes}};
  command
      ->add_option(
          "--sort", options->shown.order,
          "largest first by params, macs, macs_useful or bytes (default: as in the source)")
      ->transform(CLI::CheckedTransformer(orders));
  command->add_option("--csv", options->csv, "write the rows as CSV to a file, or `-`");
  command->add_option("--json", options->source.json, "write them as JSON to a file, or `-`");
  command->footer("example: solar flops examples/resnet18.py --depth 2 --sort macs");
  command->callback([&run, options] { run = [options] { return flops(*options); }; });
}

}  // namespace solar::cli

#include <fmt/format.h>
#include <unistd.h>

#include "arch/quantity.h"
#include "base/file.h"
#include "command.h"
#include "report/json.h"
#include "report/text.h"

namespace solar::cli {
namespace {

struct Target {
  std::string time;
  std::string rate;
};

/// The wanted latency in seconds.
Result<double> seconds_of(const Target& target) {
  if (target.rate.empty()) {
    return arch::parse_quantity(target.time, arch::Dimension::Duration, {}, DiagnosticKind::Usage);
  }
  SOLAR_TRY(const double rate, arch::parse_quantity(target.rate, arch::Dimension::Frequency, {},
                                                    DiagnosticKind::Usage));
  return 1 / rate;
}

int inverse(SourceOptions& options, const Target& target) {
  const driver::Environment env = environment();
  if (const int wrong = finish(options, env)) return wrong;
  if (options.cache != "cold") {
    return usage_error("the hardware needed for a warm cache depends on what the cache holds",
                       "`solar analyze --cache warm --arch A` gives a machine's floor");
  }
  if (target.time.empty() == target.rate.empty()) {
    return usage_error("give either a target time or a rate", "--target 2ms, or --rate 500Hz");
  }
  const auto seconds = seconds_of(target);
  if (!seconds) return report(seconds.error());
  const auto found = driver::inverse(options.analyze, *seconds, env);
  if (!found) return report(found.error());
  clear_progress();
  const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                    .colour = use_colour(STDOUT_FILENO)};
  const auto written = options.json ? write_file(*options.json, report::render_json(*found))
                                    : write_file("-", report::render_text(*found, text));
  if (!written) return report(written.error());
  return validation_exit(found->validation, options);
}

}  // namespace

void add_inverse(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("inverse", "the hardware that a wanted latency or rate needs");
  auto options = std::make_shared<SourceOptions>();
  options->has_algebra = false;
  auto target = std::make_shared<Target>();
  add_source_options(*command, *options);
  command->add_option("--target", target->time, "the wanted latency: 2ms");
  command->add_option("--rate", target->rate, "the wanted rate: 500Hz");
  add_list(*command, "--arch", options->analyze.archs,
           "architectures to compare with (default: all)");
  add_rate_options(*command, *options);
  command->footer("example: solar inverse examples/vit_b16.py --rate 500Hz");
  command->callback(
      [&run, options, target] { run = [options, target] { return inverse(*options, *target); }; });
}

}  // namespace solar::cli

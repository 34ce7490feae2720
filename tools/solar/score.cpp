#include "driver/score.h"

#include <fmt/format.h>
#include <unistd.h>

#include "arch/quantity.h"
#include "command.h"

namespace solar::cli {
namespace {

struct ScoreCommand {
  SourceOptions source = {};
  std::string arch = {};
  std::string measured = {};
  std::string baseline = {};
  std::string fail_on = "suspicious";
};

bool fails(const std::string& verdict, const std::string& fail_on) {
  if (fail_on == "never" || verdict == "plausible") return false;
  return verdict == "impossible" || fail_on == "suspicious";
}

Result<double> seconds_of(const std::string& text) {
  return arch::parse_quantity(text, arch::Dimension::Duration, {}, DiagnosticKind::Usage);
}

int score(ScoreCommand& options) {
  const driver::Environment env = environment();
  options.source.analyze.archs = {options.arch};
  if (const int wrong = finish(options.source, env)) return wrong;
  driver::ScoreOptions times;
  const auto measured = seconds_of(options.measured);
  if (!measured) return report(measured.error());
  times.measured_s = *measured;
  if (!options.baseline.empty()) {
    const auto baseline = seconds_of(options.baseline);
    if (!baseline) return report(baseline.error());
    times.baseline_s = *baseline;
  }
  if (times.measured_s <= 0 || times.baseline_s.value_or(1) <= 0)
    return usage_error("a time must be above 0");
  const auto found = driver::score(options.source.analyze, times, env);
  if (!found) return report(found.error());
  clear_progress();
  const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                    .colour = use_colour(STDOUT_FILENO)};
  const bool written = options.source.json ? write_report(options.source.json, render_json(*found))
                                           : write_report("-", render_text(*found, text));
  if (!written) return kProblem;
  if (fails(found->verdict, options.fail_on)) return kProblem;
  return validation_exit(found->validation, options.source);
}

}  // namespace

void add_score(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("score", "is a measured time possible, and how good is it?");
  auto options = std::make_shared<ScoreCommand>();
  add_source_options(*command, options->source);
  command->add_option("--measured", options->measured, "the measured time: 1.3ms")->required();
  command->add_option("--baseline", options->baseline, "the time that scores 0.5");
  command->add_option("--arch", options->arch, "the architecture it was measured on")->required();
  add_choice(*command, "--fail-on", options->fail_on, {"suspicious", "impossible", "never"},
             "exit with 1 for a `suspicious` time (default; impossible too), for an `impossible` "
             "one, or `never`");
  add_rate_options(*command, options->source);
  command->add_flag("--no-algebra", options->source.no_algebra,
                    "do not look for cheaper programs with the same meaning");
  command->footer(
      "example: solar score examples/resnet18.py --measured 2ms --baseline 3ms --arch h100-sxm");
  command->callback([&run, options] { run = [options] { return score(*options); }; });
}

}  // namespace solar::cli

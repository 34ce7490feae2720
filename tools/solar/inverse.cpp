#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/file.h"
#include "command.h"
#include "report/json.h"
#include "report/text.h"

namespace solar::cli {
namespace {

constexpr double kShortest = 1e-15;
constexpr double kLongest = 1e15;

struct Target {
  std::string time;
  std::string rate;
};

/// A positive number before one of the units, as a multiple of the unit.
std::optional<double> with_unit(const std::string& text,
                                const std::vector<std::pair<std::string, double>>& units) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || !(value > 0) || !std::isfinite(value)) return std::nullopt;
  std::string unit(parsed.ptr, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  for (const auto& [name, factor] : units) {
    if (unit == name) return value * factor;
  }
  return std::nullopt;
}

int inverse(SourceOptions& options, const Target& target) {
  const driver::Environment env = environment();
  if (const int wrong = finish(options, env)) return wrong;
  if (target.time.empty() == target.rate.empty()) {
    return usage_error("give either a target time or a rate", "--target 2ms, or --rate 500Hz");
  }
  const auto value =
      target.rate.empty()
          ? with_unit(target.time, {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}})
          : with_unit(target.rate, {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}});
  if (!value) {
    return target.rate.empty()
               ? usage_error(fmt::format("`--target {}` is not a positive time", target.time),
                             "units: s ms us ns")
               : usage_error(fmt::format("`--rate {}` is not a positive rate", target.rate),
                             "units: Hz kHz MHz");
  }
  const double seconds = target.rate.empty() ? *value : 1 / *value;
  if (!(seconds >= kShortest && seconds <= kLongest)) {
    return usage_error(
        fmt::format("the target must lie between {:g} s and {:g} s", kShortest, kLongest));
  }
  const auto found = driver::inverse(options.analyze, seconds, env);
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

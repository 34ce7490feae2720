#include "driver/headroom.h"

#include <fmt/format.h>
#include <unistd.h>

#include "arch/library.h"
#include "command.h"

namespace solar::cli {
namespace {

struct HeadroomCommand {
  driver::HeadroomOptions headroom = {};
  std::optional<std::string> json = {};
  std::optional<std::string> csv = {};
};

int headroom(HeadroomCommand& options) {
  if (options.csv == "-" && options.json == "-")
    return usage_error("--csv and --json cannot both write to standard output");
  for (const auto& path : {options.csv, options.json}) {
    if (!path) continue;
    if (const auto writable = check_output_path(*path); !writable) return report(writable.error());
  }
  if (const driver::Environment env = environment(); env.check_root()) {
    // Without a library no device is known, which costs a warning only.
    if (auto known = arch::list(env.arch_library()))
      options.headroom.known_archs = std::move(*known);
  }
  const auto found = driver::headroom(options.headroom);
  if (!found) return report(found.error());
  if (!write_report(options.csv, report::render_csv(*found))) return kProblem;
  if (!write_report(options.json, report::render_json(*found))) return kProblem;
  if (options.csv != "-" && options.json != "-") {
    const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                      .colour = use_colour(STDOUT_FILENO)};
    if (!write_report("-", report::render_text(*found, text))) return kProblem;
  }
  return found->violations.empty() ? kDone : kProblem;
}

}  // namespace

void add_headroom(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("headroom", "measured times against a suite's floors");
  auto options = std::make_shared<HeadroomCommand>();
  driver::HeadroomOptions& headroom_options = options->headroom;
  command->add_option("RUN", headroom_options.run, "the folder of a run of `solar suite`")
      ->required();
  add_list(*command, "--measured", headroom_options.measured,
           "files with times, JSON or CSV: FILE or IMPLEMENTATION=FILE")
      ->required();
  command->add_option("--arch", headroom_options.arch, "whose floors (where the run has several)");
  command->add_option("--device", headroom_options.device,
                      "whose times (where the files have several)");
  add_choice(*command, "--statistic", headroom_options.statistic, {"min", "mean"},
             "the time that counts: min (default) or mean of the runs");
  command->add_option("--csv", options->csv, "write all times as CSV to a file, or `-`");
  command->add_option("--json", options->json, "write everything as JSON to a file, or `-`");
  command->footer(
      "exit code 1: a time is below its floor\n"
      "example: solar headroom run --measured eager=baseline_time_torch.json --arch h100-sxm");
  command->callback([&run, options] { run = [options] { return headroom(*options); }; });
}

}  // namespace solar::cli

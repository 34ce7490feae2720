#include "driver/suite.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "command.h"
#include "report/suite_json.h"
#include "report/suite_text.h"

namespace solar::cli {
namespace {

struct Suite {
  driver::SuiteOptions suite = {};
  SourceOptions source = {};
  std::string fail_on = "error";
};

/// What the options call a failure.
bool fails(const report::SuiteSummary& summary, const std::string& fail_on) {
  if (fail_on == "never") return false;
  for (const auto& [status, count] : summary.total.others) {
    if (count > 0 && (status != "skipped" || fail_on == "unvalidated")) return true;
  }
  return false;
}

int suite(Suite& options, const CLI::Option& memory_limit) {
  const driver::Environment env = environment();
  if (const int wrong = finish(options.source, env)) return wrong;
  driver::SuiteOptions& suite = options.suite;
  suite.analyze = options.source.analyze;
  suite.version = SOLAR_VERSION;
  if (memory_limit.count() > 0) suite.memory_gib = options.source.memory_gib;
  suite.resumed = [](int64_t done, int64_t problems) {
    say_error(report::resumed_text(done, problems));
  };
  suite.progress = [](const report::SuiteResult& result, const report::SuiteProgress& progress) {
    say_error(report::progress_text(result, progress));
  };
  const auto summary = driver::suite(suite, env);
  if (!summary) return report(summary.error());
  if (options.source.json) {
    const auto written = write_file(*options.source.json, report::render_json(*summary));
    if (!written) return report(written.error());
  }
  if (options.source.json != "-") {
    const report::TextOptions text = {.width = terminal_width(STDOUT_FILENO),
                                      .colour = use_colour(STDOUT_FILENO)};
    const auto written = write_file("-", report::render_text(*summary, text));
    if (!written) return report(written.error());
  }
  return fails(*summary, options.fail_on) ? kProblem : kDone;
}

}  // namespace

void add_suite(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("suite", "analyze many sources, each by itself");
  auto options = std::make_shared<Suite>();
  driver::SuiteOptions& suite_options = options->suite;
  command
      ->add_option("SRC", suite_options.sources,
                   "folders (all .py, .pt2, .alir files in them), files, hf:MODEL")
      ->required();
  add_list(*command, "--arch", options->source.analyze.archs,
           "architectures: names or files, comma-separated");
  command->add_option("--out", suite_options.run, "folder of the results (default: solar-suite)");
  command->add_flag("--resume", suite_options.resume, "go on with the run in that folder");
  add_count(*command, "--jobs", suite_options.jobs, 1, 1024,
            "problems at a time (default: one per processor)");
  command
      ->add_option("--problem-timeout", suite_options.problem_seconds,
                   "seconds that one problem may take in all (default 1800)")
      ->type_name("SECONDS")
      ->check(positive_up_to(1e7, "seconds"));
  add_choice(*command, "--fail-on", options->fail_on, {"error", "unvalidated", "never"},
             "exit with 1 for an `error` of any problem (default; failed, crashed and limit too), "
             "for one `unvalidated`, or `never`");
  command->add_flag("--no-validate", options->source.no_validate,
                    "do not run the originals for comparison");
  add_limit_options(*command, options->source);
  add_rate_options(*command, options->source);
  add_mode_options(*command, options->source);
  command->footer("example: solar suite KernelBench/level1 --arch h100-sxm --out l1 --resume");
  const CLI::Option* memory_limit = command->get_option("--memory-limit");
  command->callback([&run, options, memory_limit] {
    run = [options, memory_limit] { return suite(*options, *memory_limit); };
  });
}

}  // namespace solar::cli

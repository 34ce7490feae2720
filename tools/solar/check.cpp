#include <fmt/format.h>

#include "base/diagnostic_json.h"
#include "base/file.h"
#include "command.h"
#include "frontend/temporary_folder.h"
#include "ir/verify.h"
#include "nlohmann/json.hpp"

namespace solar::cli {
namespace {

struct Check {
  SourceOptions options = {};
  std::string against = {};
  bool json = false;
};

/// Compares the program with the original; reports and gives the exit code.
int compare(const ir::VerifiedProgram& program, Check& check, const driver::Environment& env) {
  const auto against = [&]() -> Result<validate::Outcome> {
    SOLAR_TRY(frontend::WorkerPool pool, frontend::WorkerPool::start(env.pool_options()));
    SOLAR_TRY(const frontend::TemporaryFolder folder, frontend::TemporaryFolder::make());
    const frontend::SourceRequest request = {check.against, check.options.analyze.overrides};
    return validate::check_against(pool, request, program, folder.path(),
                                   check.options.analyze.validation);
  };
  const auto outcome = against();
  if (!outcome) return report(outcome.error());
  clear_progress();
  if (outcome->status != "passed") {
    Diagnostic mismatch;
    mismatch.kind = DiagnosticKind::ValidationFailed;
    mismatch.message = outcome->reason;
    return report(Diagnostics{mismatch});
  }
  fmt::print("{}: equal to {} on {} runs ({} inputs), largest error {:.2g} of the tolerance\n",
             check.options.analyze.source, check.against, outcome->seeds,
             fmt::join(outcome->distributions, ", "), outcome->worst_tolerance_share);
  return kDone;
}

int check_file(Check& check) {
  const driver::Environment env = environment();
  if (const int wrong = finish(check.options, env)) return wrong;
  const std::string& path = check.options.analyze.source;
  auto text = read_file(path);
  if (!text) return report(text.error());
  const auto program = ir::verify_text(*text, {check.options.analyze.bindings}, path);
  if (check.json) {
    fmt::print("{}\n", (program ? nlohmann::json::array() : to_json(program.error())).dump(2));
    return program ? kDone : kProblem;
  }
  if (!program) return report(program.error());
  if (!check.against.empty()) return compare(*program, check, env);
  fmt::print("{}: ok, {} statements, {} outputs\n", path, (*program)->statements.size(),
             (*program)->outputs.size());
  return kDone;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto* command =
      app.add_subcommand("check", "verify an .alir file, and compare it with an original");
  auto check = std::make_shared<Check>();
  command->add_option("FILE", check->options.analyze.source, "the .alir file")->required();
  command->add_option("--against", check->against, "the original: FILE.py or FILE.py:NAME");
  command->add_option("--bind", check->options.bindings, "set a free dim of the program: D=N")
      ->delimiter(',');
  command
      ->add_option("--set", check->options.overrides,
                   "replace an integer constant of the original: NAME=N")
      ->delimiter(',');
  command->add_option("--memory-limit", check->options.memory_gib,
                      "GiB that one run may take (default 10)");
  command->add_option("--timeout", check->options.timeout_s,
                      "seconds that one run of the source may take");
  command->add_flag("--json", check->json, "print the diagnostics as JSON");
  command->footer("example: solar check softmax.alir --against model.py");
  command->callback([&run, check] { run = [check] { return check_file(*check); }; });
}

}  // namespace solar::cli

#include <fmt/format.h>

#include "base/diagnostic_json.h"
#include "base/file.h"
#include "command.h"
#include "frontend/source_name.h"
#include "frontend/temporary_folder.h"
#include "ir/parser.h"
#include "ir/rebind.h"
#include "ir/verify.h"
#include "nlohmann/json.hpp"

namespace solar::cli {
namespace {

struct Check {
  SourceOptions options = {};
  std::vector<std::string> paths = {};
  std::string against = {};
  bool rebind = false;
  bool json = false;
};

/// A file that verified.
struct Verified {
  std::string path;
  ir::VerifiedProgram program;
};

Diagnostic mismatch(const std::string& path, const std::string& reason) {
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::ValidationFailed;
  diagnostic.message = fmt::format("{}: {}", path, reason);
  return diagnostic;
}

/// Compares the programs with the original. Says which are equal, gives what is wrong with the
/// others.
Diagnostics compare(const std::vector<Verified>& verified, const Check& check,
                    const driver::Environment& env) {
  std::vector<ir::VerifiedProgram> programs;
  for (const Verified& v : verified) programs.push_back(v.program);
  const auto against = [&]() -> Result<std::vector<Result<validate::Outcome>>> {
    SOLAR_TRY([[maybe_unused]] const Done readable, frontend::check_source_name(check.against));
    SOLAR_TRY([[maybe_unused]] const Done found, env.check_root());
    SOLAR_TRY(frontend::WorkerPool pool, frontend::WorkerPool::start(env.pool_options()));
    SOLAR_TRY(const frontend::TemporaryFolder folder, frontend::TemporaryFolder::make());
    const frontend::SourceRequest request = {check.against, check.options.analyze.overrides};
    return validate::check_against(pool, request, programs, folder.path(),
                                   check.options.analyze.validation);
  };
  const auto outcomes = against();
  clear_progress();
  if (!outcomes) return outcomes.error();
  Diagnostics found;
  for (size_t i = 0; i < verified.size(); ++i) {
    const Result<validate::Outcome>& outcome = (*outcomes)[i];
    if (!outcome) {
      found.insert(found.end(), outcome.error().begin(), outcome.error().end());
    } else if (outcome->status != "passed") {
      const std::string reason =
          outcome->reason.empty() ? "no run could be compared" : validate::reason_text(*outcome);
      found.push_back(mismatch(verified[i].path, reason));
    } else if (!check.json) {
      say(fmt::format(
          "{}: equal to {} on {} runs ({} inputs), largest error {:.2g} of the tolerance\n",
          verified[i].path, check.against, outcome->seeds, fmt::join(outcome->distributions, ", "),
          outcome->worst_tolerance_share));
    }
  }
  return found;
}

/// Says what holds only for the sizes that the dims have.
Diagnostics rebind(const std::string& path, const std::string& text,
                   const ir::VerifyOptions& options) {
  const auto file = ir::parse_text(path, text);
  if (!file) return file.error();
  const auto rebindings = ir::rebind(*file, options);
  if (!rebindings) return rebindings.error();
  Diagnostics found = ir::coincidences(*rebindings);
  if (found.empty()) {
    say(fmt::format("{}: holds for {} other bindings of its free dims\n", path,
                    rebindings->size()));
  }
  return found;
}

int check_files(Check& check) {
  const driver::Environment env = environment();
  if (const int wrong = finish(check.options, env)) return wrong;
  if (check.against.empty() && !check.options.analyze.overrides.empty()) {
    return usage_error("`--set` replaces constants of the original, and none is named",
                       "name it with --against, or set free dims with --bind");
  }
  // Not freed: the process ends after this, and a large program takes a while.
  static auto* const kept = new std::vector<Verified>;
  std::vector<Verified>& verified = *kept;
  Diagnostics problems;
  for (const std::string& path : check.paths) {
    const ir::VerifyOptions options = {check.options.analyze.bindings};
    auto text = read_file(path);
    const auto program =
        text ? ir::verify_text(check.rebind ? *text : std::move(*text), options, path)
             : Result<ir::VerifiedProgram>(text.error());
    const auto note = [&](const Diagnostics& found) {
      problems.insert(problems.end(), found.begin(), found.end());
    };
    if (!program) {
      note(program.error());
      continue;
    }
    verified.push_back({path, *program});
    if (check.rebind) note(rebind(path, *text, options));
  }
  const bool compares = !check.against.empty() && !verified.empty();
  if (compares && !check.json && !problems.empty()) report(problems);
  Diagnostics differences;
  if (compares) differences = compare(verified, check, env);
  if (check.json) {
    problems.insert(problems.end(), differences.begin(), differences.end());
    fmt::print("{}\n",
               to_json(problems).dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
    return exit_code(problems);
  }
  if (compares) {
    if (!differences.empty()) report(differences);
    return std::max(exit_code(problems), exit_code(differences));
  }
  if (!problems.empty()) report(problems);
  if (!check.against.empty()) return exit_code(problems);
  for (const Verified& v : verified) {
    say(fmt::format("{}: ok, {} statements, {} outputs\n", v.path, v.program->statements.size(),
                    v.program->outputs.size()));
  }
  return exit_code(problems);
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto* command =
      app.add_subcommand("check", "verify .alir files, and compare them with an original");
  auto check = std::make_shared<Check>();
  command->add_option("FILE", check->paths, "the .alir files")->required();
  command->add_option("--against", check->against,
                      "the original: FILE.py, FILE.py:NAME, FILE.pt2 or hf:MODEL");
  add_list(*command, "--bind", check->options.bindings, "set a free dim of the program: D=N");
  add_list(*command, "--set", check->options.overrides,
           "replace an integer constant of the original: NAME=N");
  command->add_flag("--rebind", check->rebind,
                    "verify for other sizes too, and warn of what holds only by coincidence");
  add_limit_options(*command, check->options);
  command->add_flag("--json", check->json, "print the diagnostics as JSON");
  command->footer("example: solar check softmax.alir --against model.py");
  command->callback([&run, check] { run = [check] { return check_files(*check); }; });
}

}  // namespace solar::cli

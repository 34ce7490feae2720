#include <fmt/format.h>

#include <algorithm>

#include "base/apply_fixes.h"
#include "base/file.h"
#include "command.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::cli {
namespace {

constexpr int kMostRounds = 50;  // one fix may bring the next error to light

struct FixOptions {
  std::string path;
  bool all = false;
  bool to_stdout = false;
};

Diagnostics problems_of(const std::string& path, const std::string& text) {
  const auto file = ir::parse_text(path, text);
  if (!file) return file.error();
  const auto program = ir::verify(*file);
  return program ? Diagnostics{} : program.error();
}

/// What can only be seen once the text can be read is progress too.
bool is_progress(const Diagnostics& before, const Diagnostics& after) {
  const auto broken = [](const Diagnostics& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const Diagnostic& one) { return one.kind == DiagnosticKind::Syntax; });
  };
  const auto now = broken(after);
  const auto then = broken(before);
  return now < then || (now == 0 && then == 0 && after.size() < before.size());
}

void tell(const Source& source, const AppliedFix& fix) {
  const Position at = position_of(source, fix.span.begin);
  const auto begin = static_cast<size_t>(fix.span.begin);
  const std::string old = source.text.substr(begin, static_cast<size_t>(fix.span.end) - begin);
  const std::string what = old.empty() ? fmt::format("inserted `{}`", fix.replacement)
                           : fix.replacement.empty()
                               ? fmt::format("removed `{}`", old)
                               : fmt::format("replaced `{}` by `{}`", old, fix.replacement);
  say_error(fmt::format("{}:{}:{}: {}: {}\n", source.name, at.line, at.column, what, fix.message));
}

int fix_file(const FixOptions& options) {
  auto text = read_file(options.path);
  if (!text) return report(text.error());
  std::string fixed = *text;
  Diagnostics left = problems_of(options.path, fixed);
  for (int round = 0; round < kMostRounds && !left.empty(); ++round) {
    const Source source = {options.path, fixed};
    FixedText next = apply_fixes(source, left, options.all);
    if (next.applied.empty()) break;
    Diagnostics then = problems_of(options.path, next.text);
    if (!is_progress(left, then)) break;
    for (const AppliedFix& fix : next.applied) tell(source, fix);
    fixed = std::move(next.text);
    left = std::move(then);
  }
  const bool in_place = !options.to_stdout && is_regular_file(options.path);
  if (!in_place || fixed != *text) {
    const auto written = write_text(in_place ? options.path : "-", fixed);
    if (!written) return report(written.error());
  }
  const auto more = std::count_if(left.begin(), left.end(),
                                  [](const Diagnostic& one) { return !one.fixes.empty(); });
  const int code = report(left);
  if (more > 0 && !options.all) {
    say_error(fmt::format(
        "{} of these may be fixed by `solar fix --all`: look at what it changes\n", more));
  }
  return code;
}

}  // namespace

void add_fix(CLI::App& app, Run& run) {
  auto* command =
      app.add_subcommand("fix", "apply the fixes that the diagnostics of an .alir file offer");
  auto options = std::make_shared<FixOptions>();
  command->add_option("FILE", options->path, "the .alir file")->required();
  command->add_flag("--all", options->all, "also fixes that may not be what was meant");
  command->add_flag("--stdout", options->to_stdout, "print instead of rewriting the file");
  command->footer("example: solar fix attention.alir");
  command->callback([&run, options] { run = [options] { return fix_file(*options); }; });
}

}  // namespace solar::cli

#include <fmt/format.h>

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
    for (const AppliedFix& fix : next.applied) tell(source, fix);
    fixed = std::move(next.text);
    left = problems_of(options.path, fixed);
  }
  if (options.to_stdout || fixed != *text) {
    const auto written = write_text(options.to_stdout ? "-" : options.path, fixed);
    if (!written) return report(written.error());
  }
  return report(left);
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

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

int line_of(const Source& source, int32_t offset) { return position_of(source, offset).line; }

/// Whether a round of fixes helped: less of the text cannot be read, fewer errors are left, or the
/// errors that came to light are on other lines than what was fixed.
bool is_progress(const Diagnostics& before, const Source& source, const FixedText& next,
                 const Diagnostics& after) {
  const auto unread = [](const Diagnostics& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const Diagnostic& one) { return one.kind == DiagnosticKind::Syntax; });
  };
  if (unread(after) != unread(before)) return unread(after) < unread(before);
  if (after.size() < before.size()) return true;
  std::set<int> fixed;  // fixes stay on their line
  for (const AppliedFix& fix : next.applied) fixed.insert(line_of(source, fix.span.begin));
  const Source now = {source.name, next.text};
  return std::none_of(after.begin(), after.end(), [&](const Diagnostic& one) {
    return one.span.source != nullptr && one.span.source->name == source.name &&
           fixed.contains(line_of(now, one.span.begin));
  });
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
    if (!is_progress(left, source, next, then)) break;
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

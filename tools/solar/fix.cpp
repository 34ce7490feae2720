#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// Which fixes are tried: few on one line, as a fix that does not help is offered again, and upon a
/// bracket that was guessed no other guess.
class Patience {
 public:
  Diagnostics offered(const Source& source, Diagnostics all) const {
    for (Diagnostic& one : all) {
      std::erase_if(one.fixes, [&](const Fix& fix) {
        const int line = position_of(source, fix.span.begin).line;
        const auto tried = rounds_.find(line);
        return (tried != rounds_.end() && tried->second >= kMostOnALine) ||
               (guessed_.contains(line) && one.kind != DiagnosticKind::UnknownName);
      });
    }
    return all;
  }

  void note(const Source& source, const FixedText& next) {
    for (const AppliedFix& fix : next.applied) {
      const int line = position_of(source, fix.span.begin).line;  // fixes stay on their line
      ++rounds_[line];
      if (fix.replacement == ")" || fix.replacement == "]") guessed_.insert(line);
    }
  }

 private:
  static constexpr int kMostOnALine = 8;
  std::map<int, int> rounds_;
  std::set<int> guessed_;
};

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
  Patience patience;
  for (int round = 0; round < kMostRounds && !left.empty(); ++round) {
    const Source source = {options.path, fixed};
    FixedText next = apply_fixes(source, patience.offered(source, left), options.all);
    if (next.applied.empty()) break;
    patience.note(source, next);
    for (const AppliedFix& fix : next.applied) tell(source, fix);
    fixed = std::move(next.text);
    left = problems_of(options.path, fixed);
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

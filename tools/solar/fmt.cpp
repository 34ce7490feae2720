#include <fmt/format.h>

#include "base/file.h"
#include "command.h"
#include "ir/parser.h"
#include "ir/printer.h"

namespace solar::cli {
namespace {

int format(const std::string& path, bool to_stdout) {
  auto text = read_file(path);
  if (!text) return report(text.error());
  const auto file = ir::parse_text(path, *text);
  if (!file) return report(file.error());
  const std::string formatted = ir::print(*file);
  if (!to_stdout && formatted == *text) return kDone;
  const auto written = write_file(to_stdout ? "-" : path, formatted);
  return written ? kDone : report(written.error());
}

}  // namespace

void add_fmt(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("fmt", "rewrite an .alir file in canonical form");
  auto path = std::make_shared<std::string>();
  auto to_stdout = std::make_shared<bool>(false);
  command->add_option("FILE", *path, "the .alir file")->required();
  command->add_flag("--stdout", *to_stdout, "print instead of rewriting the file");
  command->callback([&run, path, to_stdout] { run = [path, to_stdout] { return format(*path, *to_stdout); }; });
}

}  // namespace solar::cli

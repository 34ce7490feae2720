#include <fmt/format.h>

#include "base/file.h"
#include "command.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::cli {
namespace {

int check(const std::string& path) {
  auto text = read_file(path);
  if (!text) return report(text.error());
  const auto program = ir::verify_text(*text, {}, path);
  if (!program) return report(program.error());
  fmt::print("{}: {} statements, ok\n", path, (*program)->statements.size());
  return kDone;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("check", "verify an .alir file");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "the .alir file")->required();
  command->callback([&run, path] { run = [path] { return check(*path); }; });
}

}  // namespace solar::cli

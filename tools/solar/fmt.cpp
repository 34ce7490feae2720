#include <fmt/format.h>

#include "base/file.h"
#include "command.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/reroll.h"
#include "ir/unify_dims.h"

namespace solar::cli {
namespace {

struct FmtOptions {
  std::string path;
  bool to_stdout = false;
  bool unify = false;
  bool reroll = false;
};

int format(const FmtOptions& options) {
  auto text = read_file(options.path);
  if (!text) return report(text.error());
  auto file = ir::parse_text(options.path, *text);
  if (file && options.unify) file = ir::unify_dims(*file);
  if (file && options.reroll) file = ir::reroll(*file);
  if (!file) return report(file.error());
  const std::string formatted = ir::print(*file);
  const bool in_place = !options.to_stdout && is_regular_file(options.path);
  if (in_place && formatted == *text) return kDone;
  const auto written = write_text(in_place ? options.path : "-", formatted);
  return written ? kDone : report(written.error());
}

}  // namespace

void add_fmt(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("fmt", "rewrite an .alir file in canonical form");
  auto options = std::make_shared<FmtOptions>();
  command->add_option("FILE", options->path, "the .alir file")->required();
  command->add_flag("--stdout", options->to_stdout, "print instead of rewriting the file");
  command->add_flag("--unify", options->unify,
                    "merge dims that must be equal, derive those that follow");
  command->add_flag("--reroll", options->reroll,
                    "turn repeated statements into loops and functions");
  command->footer("example: solar fmt attention.alir");
  command->callback([&run, options] { run = [options] { return format(*options); }; });
}

}  // namespace solar::cli

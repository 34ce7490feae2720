#include <fmt/format.h>

#include "command.h"

namespace solar::cli {
namespace {

/// One number, or the interval where reads depend on data.
std::string bytes_text(const einsum::ByteRange& bytes) {
  return bytes.min == bytes.max ? fmt::format("{}", bytes.min.value)
                                : fmt::format("{} to {}", bytes.min.value, bytes.max.value);
}

int lift(SourceOptions& options) {
  const driver::Environment env = environment();
  options.no_validate = true;
  if (const int wrong = finish(options, env)) return wrong;
  const auto loaded = driver::load(options.analyze, env);
  if (!loaded) return report(loaded.error());
  const auto graph = driver::lift(*loaded, env.cancel);
  if (!graph) return report(graph.error());
  clear_progress();
  for (const einsum::Operator& op : graph->operators) {
    say(fmt::format("{}{}{}\n", op.name, op.at.empty() ? "" : " at " + op.at,
                    op.module.empty() ? "" : " in " + op.module));
    for (const einsum::NodeId id : op.nodes) {
      const einsum::Node& node = graph->node(id);
      say(fmt::format("  {}\n", node.einsum));
      if (node.macs.value > 0) {
        say(fmt::format("    macs {}{}, useful {}\n", node.macs.value,
                        node.formula ? " = " + *node.formula : "", node.macs_useful.value));
      }
    }
    say(fmt::format("    bytes in {}, out {}\n", bytes_text(op.bytes_in),
                    bytes_text(op.bytes_out)));
  }
  const einsum::Totals& t = graph->totals;
  say(fmt::format("total: macs {}, useful {}; bytes: inputs {}, params {}, outputs {}\n",
                  t.macs.value, t.macs_useful.value, bytes_text(t.bytes_read_inputs),
                  bytes_text(t.bytes_read_params), bytes_text(t.bytes_written_outputs)));
  return kDone;
}

}  // namespace

void add_lift(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("lift", "the einsum graph of a program, with counts");
  auto options = std::make_shared<SourceOptions>();
  add_source_options(*command, *options);
  command->footer("example: solar lift attention.alir");
  command->callback([&run, options] { run = [options] { return lift(*options); }; });
}

}  // namespace solar::cli

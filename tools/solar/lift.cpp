#include <fmt/format.h>

#include "command.h"

namespace solar::cli {
namespace {

int lift(SourceOptions& options) {
  const driver::Environment env = environment();
  options.no_validate = true;
  if (const int wrong = finish(options, env)) return wrong;
  const auto loaded = driver::load(options.analyze, env);
  if (!loaded) return report(loaded.error());
  const auto graph = driver::lift(*loaded);
  if (!graph) return report(graph.error());
  clear_progress();
  for (const einsum::Operator& op : graph->operators) {
    fmt::print("{}{}{}\n", op.name, op.at.empty() ? "" : " at " + op.at,
               op.module.empty() ? "" : " in " + op.module);
    for (const einsum::NodeId id : op.nodes) {
      const einsum::Node& node = graph->node(id);
      fmt::print("  {}\n", node.einsum);
      if (node.macs.value > 0) {
        fmt::print("    macs {}{}, useful {}\n", node.macs.value,
                   node.formula ? " = " + *node.formula : "", node.macs_useful.value);
      }
    }
    fmt::print("    bytes in {}, out {}\n", op.bytes_in.example.value, op.bytes_out.example.value);
  }
  const einsum::Totals& t = graph->totals;
  fmt::print("total: macs {}, useful {}; bytes: inputs {}, params {}, outputs {}\n", t.macs.value,
             t.macs_useful.value, t.bytes_read_inputs.example.value,
             t.bytes_read_params.example.value, t.bytes_written_outputs.example.value);
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

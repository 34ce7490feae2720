#include <fmt/format.h>

#include <unordered_map>

#include "algebra/emit.h"
#include "algebra/rewrite.h"

namespace solar::algebra {
namespace {

/// Work that is worth a word: products that are summed.
bool sums_products(const ir::Kernel& kernel) {
  if (kernel.reduction != ir::Reduction::Sum) return false;
  for (const ir::ScalarNode& node : kernel.nodes) {
    if (node.op == ir::ScalarOp::Mul) return true;
  }
  return false;
}

std::string key_of(const Working& working, const KernelKeys& keys, const ir::Statement& statement) {
  const ir::Program& program = working.program();
  if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
    if (kernel->second_output || kernel->indexed) return "";
    return keys.of(*kernel);
  }
  if (const auto* view = std::get_if<ir::View>(&statement.body)) {
    ir::Kernel copy;  // the key of the copy that it is
    const ir::Tensor& output = program.tensor(view->output);
    for (size_t axis = 0; axis < output.shape.size(); ++axis) {
      copy.loops.push_back({.name = "", .extent = output.shape[axis]});
      copy.target_loops.push_back(static_cast<int32_t>(axis));
    }
    copy.atoms = view->atoms;
    copy.output = view->output;
    copy.accesses.push_back({view->input, view->subscripts});
    copy.nodes.push_back({.op = ir::ScalarOp::Load, .type = output.type, .reference = 0});
    copy.value = 0;
    return keys.of(copy);
  }
  return "";
}

}  // namespace

void share_common(Working& working, Log& log) {
  const KernelKeys keys(working.program());
  for (size_t b = 0; b < working.block_count(); ++b) {
    std::unordered_map<std::string, ir::TensorId> known;
    for (size_t i = 0; i < working.block(b).size(); ++i) {
      const ir::Statement& statement = working.block(b)[i];
      std::string key = key_of(working, keys, statement);
      if (key.empty()) continue;
      const ir::TensorId output = ir::outputs_of(statement).front();
      const auto [at, fresh] = known.emplace(std::move(key), output);
      if (fresh) continue;
      const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
      const std::string& name = working.tensor(output).name;
      // Results keep names of their own.
      if (working.leaves(output) || !log.allows("common", name)) continue;
      if (kernel != nullptr && sums_products(*kernel)) {
        log.add(working, output, "common",
                fmt::format("`{}` is `{}` once more", name, working.tensor(at->second).name));
      }
      working.substitute(output, at->second);
    }
  }
}

}  // namespace solar::algebra

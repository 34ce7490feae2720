#include "algebra/degenerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace solar::algebra {
namespace {

/// The ports that some tensors are computed from.
std::set<std::string> ports_of(const ir::Program& program, const std::vector<ir::TensorId>& of) {
  std::vector<bool> live(program.tensors.size(), false);
  for (const ir::TensorId id : of) live[ir::index(id)] = true;
  for (auto at = program.statements.rbegin(); at != program.statements.rend(); ++at) {
    const std::vector<ir::TensorId> outputs = ir::outputs_of(*at);
    const bool needed = std::any_of(outputs.begin(), outputs.end(),
                                    [&](ir::TensorId id) { return live[ir::index(id)]; });
    if (!needed) continue;
    for (const ir::TensorId id : ir::inputs_of(*at)) live[ir::index(id)] = true;
  }
  std::set<std::string> ports;
  for (const ir::TensorId id : program.ports) {
    const ir::Tensor& tensor = program.tensor(id);
    if (live[ir::index(id)] && tensor.role != ir::Role::Const) ports.insert(tensor.name);
  }
  return ports;
}

std::set<std::string> live_ports(const ir::Program& program) {
  std::vector<ir::TensorId> results = program.outputs;
  for (const ir::Update& update : program.updates) results.push_back(update.value);
  return ports_of(program, results);
}

}  // namespace

std::vector<Degenerate> find_degenerate(const ir::VerifiedProgram& program,
                                        const Optimised& optimised) {
  std::vector<Degenerate> found;
  const ir::Program& before = *program;
  const ir::Program& after = optimised.stages.empty() ? before : *optimised.stages.back().program;
  for (size_t i = 0; i < before.outputs.size(); ++i) {
    const std::string& name = i < before.output_names.size()
                                  ? before.output_names[i]
                                  : before.tensor(before.outputs[i]).name;
    const bool had = !ports_of(before, {before.outputs[i]}).empty();
    if (!ports_of(after, {after.outputs[i]}).empty()) continue;
    if (!had && before.outputs.size() > 1) continue;  // one of several results may be a table
    found.push_back({"constant-output", name,
                     fmt::format("the output `{}` is the same whatever the inputs are", name)});
  }
  const std::set<std::string> live = live_ports(after);
  const std::set<std::string> named = live_ports(before);
  for (const ir::TensorId id : before.ports) {
    const ir::Tensor& tensor = before.tensor(id);
    if (live.contains(tensor.name)) continue;
    if (tensor.role == ir::Role::Input) {
      found.push_back({"ignored-input", tensor.name,
                       fmt::format("no output depends on the input `{}`", tensor.name)});
    } else if (tensor.role == ir::Role::Param && named.contains(tensor.name)) {
      found.push_back({"ignored-parameter", tensor.name,
                       fmt::format("no output depends on the parameter `{}`, although it is read",
                                   tensor.name)});
    }
  }
  for (size_t i = 0; i < optimised.rewrites.size(); ++i) {
    const Rewrite& rewrite = optimised.rewrites[i];
    if (rewrite.kind != "push-sum" && rewrite.kind != "cancel") continue;
    if (rewrite.products.empty()) continue;
    found.push_back({"collapsed-product", rewrite.products.front(),
                     fmt::format("of the product `{}` only the sums `{}` are used",
                                 fmt::join(rewrite.products, "`, `"), rewrite.tensor),
                     rewrite.at, i});
  }
  return found;
}

}  // namespace solar::algebra

#include "ir/core.h"

#include <algorithm>
#include <set>
#include <type_traits>

namespace solar::ir {
namespace {

void add_nest_inputs(const Kernel& nest, std::vector<TensorId>& inputs) {
  for (const Access& access : nest.accesses) inputs.push_back(access.tensor);
  for (const Atom& atom : nest.atoms) {
    if (atom.kind == Atom::Kind::DataRead) inputs.push_back(atom.tensor);
  }
}

/// What the statements of a body read and do not define.
void add_body_inputs(const std::vector<Statement>& body, const std::vector<TensorId>& results,
                     std::set<TensorId> inside, std::vector<TensorId>& inputs) {
  const auto add = [&](TensorId id) {
    if (!inside.contains(id)) inputs.push_back(id);
  };
  for (const Statement& statement : body) {
    for (const TensorId id : inputs_of(statement)) add(id);
    for (const TensorId id : outputs_of(statement)) inside.insert(id);
  }
  for (const TensorId id : results) add(id);
}

std::vector<TensorId> loop_inputs(const std::vector<Carried>& carried,
                                  std::vector<TensorId> results,
                                  const std::vector<Statement>& body) {
  std::vector<TensorId> inputs;
  std::set<TensorId> inside;
  for (const Carried& one : carried) {
    inputs.push_back(one.initial);
    inside.insert(one.inside);
    results.push_back(one.next);
  }
  add_body_inputs(body, results, std::move(inside), inputs);
  return inputs;
}

}  // namespace

std::vector<TensorId> inputs_of(const Statement& statement) {
  return std::visit(
      [](const auto& body) -> std::vector<TensorId> {
        using Body = std::decay_t<decltype(body)>;
        std::vector<TensorId> inputs;
        if constexpr (std::is_same_v<Body, Kernel>) {
          add_nest_inputs(body, inputs);
        } else if constexpr (std::is_same_v<Body, Scatter>) {
          add_nest_inputs(body.nest, inputs);
          if (body.base) inputs.push_back(*body.base);
        } else if constexpr (std::is_same_v<Body, View>) {
          inputs.push_back(body.input);
          for (const Atom& atom : body.atoms) {
            if (atom.kind == Atom::Kind::DataRead) inputs.push_back(atom.tensor);
          }
        } else if constexpr (std::is_same_v<Body, Concat> || std::is_same_v<Body, Opaque>) {
          inputs = body.inputs;
        } else if constexpr (std::is_same_v<Body, Repeat>) {
          std::vector<TensorId> results;
          for (const Stacked& one : body.stacked) results.push_back(one.element);
          inputs = loop_inputs(body.carried, std::move(results), body.body);
        } else if constexpr (std::is_same_v<Body, While>) {
          inputs = loop_inputs(body.carried, {body.test}, body.body);
        } else if constexpr (std::is_same_v<Body, If>) {
          inputs.push_back(body.condition);
          add_body_inputs(body.taken.body, body.taken.values, {}, inputs);
          add_body_inputs(body.otherwise.body, body.otherwise.values, {}, inputs);
        } else {
          inputs.push_back(body.input);
        }
        return inputs;
      },
      statement.body);
}

std::vector<TensorId> outputs_of(const Statement& statement) {
  return std::visit(
      [](const auto& body) -> std::vector<TensorId> {
        using Body = std::decay_t<decltype(body)>;
        std::vector<TensorId> outputs;
        if constexpr (std::is_same_v<Body, Kernel>) {
          outputs.push_back(body.output);
          if (body.second_output) outputs.push_back(*body.second_output);
        } else if constexpr (std::is_same_v<Body, Scatter>) {
          outputs.push_back(body.nest.output);
        } else if constexpr (std::is_same_v<Body, Sort>) {
          outputs = {body.values, body.positions};
        } else if constexpr (std::is_same_v<Body, Compact>) {
          outputs = {body.output, body.count};
        } else if constexpr (std::is_same_v<Body, Opaque>) {
          outputs = body.outputs;
        } else if constexpr (std::is_same_v<Body, If>) {
          outputs = body.results;
        } else if constexpr (std::is_same_v<Body, Repeat> || std::is_same_v<Body, While>) {
          for (const Carried& one : body.carried) outputs.push_back(one.result);
          if constexpr (std::is_same_v<Body, Repeat>) {
            for (const Stacked& one : body.stacked) outputs.push_back(one.result);
          }
        } else {
          outputs.push_back(body.output);
        }
        return outputs;
      },
      statement.body);
}

}  // namespace solar::ir

#pragma once
// Optimising ALIR text in tests, and comparing the outcome with the original by running both.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "algebra/algebra.h"
#include "base/diagnostic_text.h"
#include "einsum/lift.h"
#include "exec/executor.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::algebra {

struct Outcome {
  ir::VerifiedProgram program;
  Optimised found = {};

  const ir::VerifiedProgram& last() const {
    return found.stages.empty() ? program : found.stages.back().program;
  }
  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const Rewrite& rewrite : found.rewrites) kinds.push_back(rewrite.kind);
    return kinds;
  }
};

inline Outcome optimise_text(const std::string& text, const Options& options = {}) {
  const auto file = ir::parse_text("t.alir", text);
  if (!file) {
    ADD_FAILURE() << render_text(file.error()) << text;
    std::abort();
  }
  auto program = ir::verify(*file);
  if (!program) {
    ADD_FAILURE() << render_text(program.error()) << text;
    std::abort();
  }
  Outcome outcome{*program};
  outcome.found = optimise(outcome.program, *file, {}, options);
  return outcome;
}

inline int64_t macs(const ir::VerifiedProgram& program) {
  const auto graph = einsum::lift(program);
  if (!graph) {
    ADD_FAILURE() << render_text(graph.error());
    return 0;
  }
  return graph->totals.macs_useful.value;
}

inline exec::Outputs run(const ir::VerifiedProgram& program, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  exec::Inputs inputs;
  for (const ir::TensorId id : program->ports) {
    const ir::Tensor& port = program->tensor(id);
    if (port.role == ir::Role::Const) continue;
    auto tensor = exec::TensorData::make(port.type, port.shape);
    for (int64_t i = 0; i < tensor->count(); ++i) tensor->set(i, normal(random));
    inputs[port.name] = *tensor;
  }
  auto outputs = exec::interpreter()->run(program, inputs, {});
  if (!outputs) {
    ADD_FAILURE() << render_text(outputs.error());
    return {};
  }
  return *outputs;
}

/// The same results, up to rounding of their largest element.
inline testing::AssertionResult same_results(const Outcome& outcome, uint32_t seed = 1,
                                             double relative = 1e-9) {
  const exec::Outputs a = run(outcome.program, seed);
  const exec::Outputs b = run(outcome.last(), seed);
  if (a.outputs.size() != b.outputs.size()) return testing::AssertionFailure() << "outputs";
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i].shape() != b.outputs[i].shape())
      return testing::AssertionFailure() << "shapes";
    double size = 1;
    for (int64_t k = 0; k < a.outputs[i].count(); ++k)
      size = std::max(size, std::fabs(a.outputs[i].get(k)));
    for (int64_t k = 0; k < a.outputs[i].count(); ++k) {
      const double x = a.outputs[i].get(k);
      const double y = b.outputs[i].get(k);
      if (!(std::fabs(x - y) <= relative * size))
        return testing::AssertionFailure() << "element " << k << ": " << x << ", then " << y;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace solar::algebra

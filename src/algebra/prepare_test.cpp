#include "algebra/prepare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "algebra/algebra_test_util.h"

namespace solar::algebra {
namespace {

/// Inputs for all ports, those in `known` as they are.
exec::Inputs inputs_of(const ir::Program& program, const exec::Inputs& known) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 1);
  exec::Inputs inputs;
  for (const ir::TensorId id : program.ports) {
    const ir::Tensor& port = program.tensor(id);
    if (port.role == ir::Role::Const) continue;
    const auto at = known.find(port.name);
    if (at != known.end()) {
      inputs[port.name] = at->second;
      continue;
    }
    auto tensor = exec::TensorData::make(port.type, port.shape);
    for (int64_t i = 0; i < tensor->count(); ++i) tensor->set(i, std::abs(normal(random)) + 0.1);
    inputs[port.name] = *tensor;
  }
  return inputs;
}

exec::Outputs run_with(const ir::VerifiedProgram& program, const exec::Inputs& inputs) {
  auto outputs = exec::interpreter()->run(program, inputs, {});
  if (!outputs) {
    ADD_FAILURE() << render_text(outputs.error());
    return {};
  }
  return *outputs;
}

/// What comes beforehand and the rest give what the whole does.
void expect_same(const ir::VerifiedProgram& whole, const Prepared& prepared) {
  const exec::Inputs inputs = inputs_of(*whole, {});
  const exec::Outputs before =
      run_with(prepared.beforehand, inputs_of(*prepared.beforehand, inputs));
  exec::Inputs known = inputs;
  ASSERT_EQ(before.outputs.size(), prepared.names.size());
  for (size_t i = 0; i < prepared.names.size(); ++i) known[prepared.names[i]] = before.outputs[i];
  const exec::Outputs expected = run_with(whole, inputs);
  const exec::Outputs found =
      run_with(prepared.stage.program, inputs_of(*prepared.stage.program, known));
  ASSERT_EQ(found.outputs.size(), expected.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    ASSERT_EQ(found.outputs[i].count(), expected.outputs[i].count());
    for (int64_t k = 0; k < expected.outputs[i].count(); ++k)
      EXPECT_EQ(found.outputs[i].get(k), expected.outputs[i].get(k)) << "element " << k;
  }
}

int64_t bytes_read(const ir::VerifiedProgram& program) {
  const auto graph = einsum::lift(program);
  EXPECT_TRUE(graph);
  return graph->totals.bytes_read_inputs.min.value + graph->totals.bytes_read_params.min.value;
}

TEST(Prepare, AProductOfWeightsIsAWeight) {
  const Outcome whole = optimise_text(R"(
program p(input x: f32[8, 4], param a: f32[4, 6], param b: f32[6, 3]) -> (y) {
  kernel w: f32[4, 3] { for i:4, j:3, k:6   w[i,j] += a[i,k] * b[k,j] }
  kernel y: f32[8, 3] { for n:8, j:3, i:4   y[n,j] += x[n,i] * w[i,j] }
})");
  const auto prepared = prepare(whole.program, {});
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->names, std::vector<std::string>{"w_prepared"});
  EXPECT_EQ(macs(prepared->stage.program), 8 * 3 * 4);
  EXPECT_EQ(bytes_read(prepared->stage.program), 4 * (8 * 4 + 4 * 3));
  expect_same(whole.program, *prepared);
}

TEST(Prepare, LayersOfWeightsAreMultipliedBeforehandWhereThatIsCheaper) {
  constexpr const char* kText = R"(
program p(input x: f64[64, 4], param a: f64[4, 16], param b: f64[16, 4]) -> (y) {
  kernel h: f64[64, 16] { for n:64, j:16, i:4   h[n,j] += x[n,i] * a[i,j] }
  kernel y: f64[64, 4] { for n:64, k:4, j:16   y[n,k] += h[n,j] * b[j,k] }
})";
  Options frozen;
  frozen.frozen = true;
  const Outcome found = optimise_text(kText, frozen);
  EXPECT_EQ(found.kinds(), std::vector<std::string>{"reorder"});
  const auto prepared = prepare(found.last(), {});
  ASSERT_TRUE(prepared);
  EXPECT_EQ(macs(prepared->stage.program), 64 * 4 * 4);
  EXPECT_TRUE(same_results(found));
  expect_same(found.last(), *prepared);
}

TEST(Prepare, WideProductsOfNarrowWeightsStayAsTheyAre) {
  Options frozen;
  frozen.frozen = true;
  const Outcome found = optimise_text(R"(
program p(input x: f32[64, 16], param a: f32[16, 2], param b: f32[2, 16]) -> (y) {
  kernel h: f32[64, 2] { for n:64, j:2, i:16   h[n,j] += x[n,i] * a[i,j] }
  kernel y: f32[64, 16] { for n:64, k:16, j:2   y[n,k] += h[n,j] * b[j,k] }
})",
                                      frozen);
  EXPECT_TRUE(found.found.rewrites.empty());
  EXPECT_FALSE(prepare(found.program, {}));
}

TEST(Prepare, ScalesOfANormAreOneVector) {
  const Outcome whole = optimise_text(R"(
program p(input x: f32[8, 4], param g: f32[4], buffer v: f32[4], param b: f32[4]) -> (y) {
  kernel s: f32[4] { for c:4   s[c] = g[c] * rsqrt(v[c] + 0.5) }
  kernel y: f32[8, 4] { for n:8, c:4   y[n,c] = x[n,c] * s[c] + b[c] }
})");
  const auto prepared = prepare(whole.program, {});
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->names, std::vector<std::string>{"s_prepared"});
  EXPECT_EQ(bytes_read(prepared->stage.program), 4 * (8 * 4 + 4 + 4));
  expect_same(whole.program, *prepared);
}

TEST(Prepare, WhatSavesNoBytesIsLeftInPlace) {
  // The weight is read as it is too; its double would be read in addition.
  const Outcome whole = optimise_text(R"(
program p(input x: f32[4], param w: f32[4]) -> (y) {
  kernel d: f32[4] { for i:4   d[i] = w[i] + w[i] }
  kernel y: f32[4] { for i:4   y[i] = x[i] * d[i] + w[i] }
})");
  EXPECT_FALSE(prepare(whole.program, {}));
}

TEST(Prepare, OutputsAndStructuredPortsAreComputedByTheProgram) {
  constexpr const char* kText = R"(
program p(input x: f32[4], param w: f32[4, 8]) -> (y, s) {
  kernel s: f32[4] { for i:4, k:8   s[i] += w[i,k] }
  kernel y: f32[4] { for i:4   y[i] = x[i] * 2.0 }
})";
  EXPECT_FALSE(prepare(optimise_text(kText).program, {}));
  constexpr const char* kMask = R"(
program p(input x: f32[4], buffer m: f32[4, 8]) -> (y) {
  kernel s: f32[4] { for i:4, k:8   s[i] += m[i,k] }
  kernel y: f32[4] { for i:4   y[i] = x[i] * s[i] }
})";
  EXPECT_TRUE(prepare(optimise_text(kMask).program, {}));
  EXPECT_FALSE(prepare(optimise_text(kMask).program, {"m"}));
}

TEST(Prepare, StateIsNoParameter) {
  const Outcome whole = optimise_text(R"(
program p(input x: f32[4], state c: f32[4, 8]) -> (y) {
  kernel s: f32[4] { for i:4, k:8   s[i] += c[i,k] }
  kernel y: f32[4] { for i:4   y[i] = x[i] * s[i] }
})");
  EXPECT_FALSE(prepare(whole.program, {}));
}

/// Random chains of products: inputs and parameters in any order, shared and not.
TEST(Prepare, RandomChainsComputeTheSame) {
  std::mt19937 random(20261201);
  SCOPED_TRACE("seed 20261201");
  for (int round = 0; round < 60; ++round) {
    const int factors = 2 + static_cast<int>(random() % 4);
    std::vector<int> sizes;
    for (int i = 0; i <= factors; ++i) sizes.push_back(1 + static_cast<int>(random() % 6));
    std::string ports;
    std::string body;
    for (int i = 0; i < factors; ++i) {
      ports += fmt::format("{}{} m{}: f64[{}, {}]", i > 0 ? ", " : "",
                           random() % 3 == 0 ? "input" : "param", i, sizes[i], sizes[i + 1]);
    }
    // Left to right or right to left.
    const bool left = random() % 2 == 0;
    std::string last = left ? "m0" : fmt::format("m{}", factors - 1);
    for (int step = 1; step < factors; ++step) {
      const int i = left ? step : factors - 1 - step;
      const std::string name = step + 1 == factors ? "y" : fmt::format("h{}", step);
      const auto [rows, inner, columns] = left ? std::tuple(sizes[0], sizes[i], sizes[i + 1])
                                               : std::tuple(sizes[i], sizes[i + 1], sizes[factors]);
      body += fmt::format(
          "kernel {0}: f64[{1}, {3}] {{ for r:{1}, c:{3}, k:{2}   {0}[r,c] += {4}[r,k] * {5}[k,c] "
          "}}\n",
          name, rows, inner, columns, left ? last : fmt::format("m{}", i),
          left ? fmt::format("m{}", i) : last);
      last = name;
    }
    if (factors == 1) continue;
    const std::string text = fmt::format("program p({}) -> (y) {{\n{}}}\n", ports, body);
    SCOPED_TRACE(text);
    Options options;
    options.frozen = true;
    const Outcome found = optimise_text(text, options);
    EXPECT_TRUE(same_results(found));
    const auto prepared = prepare(found.last(), {});
    if (!prepared) continue;
    EXPECT_LE(macs(prepared->stage.program), macs(found.program));
    expect_same(found.last(), *prepared);
  }
}

}  // namespace
}  // namespace solar::algebra

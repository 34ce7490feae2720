#include "ir/reroll.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

std::string rerolled(const std::string& text) {
  const auto file = parse_text("t.alir", text);
  if (!file) return render_text(file.error());
  const auto result = reroll(*file);
  return result ? print(*result) : render_text(result.error());
}

/// The same text in canonical form.
std::string printed(const std::string& text) {
  const auto file = parse_text("t.alir", text);
  return file ? print(*file) : render_text(file.error());
}

std::string layers(int64_t count, const std::string& head, const std::string& body) {
  std::string params;
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    params += fmt::format(", param layers_{0}_w: f32[N, N], param layers_{0}_b: f32[N]", i);
    std::string one = body;
    const auto put = [&](const std::string& what, const std::string& by) {
      for (size_t at = one.find(what); at != std::string::npos; at = one.find(what, at))
        one.replace(at, what.size(), by);
    };
    put("@-1", i == 0 ? "first" : fmt::format("{}", i - 1));
    put("@", fmt::format("{}", i));
    all += one;
  }
  return fmt::format(fmt::runtime(head), params, all, count - 1);
}

TEST(Reroll, LayersWithWeightsOfTheirOwnBecomeAFunction) {
  const std::string text = layers(4, R"(
program deep(input x: f32[B, N]{0}) -> (out) {{
  dims B = 2, N = 3
  op "relu" {{ let yfirst = relu(x) }}
{1}  op "relu" {{ let out = relu(y{2}) }}
}})",
                                  R"(
  op "linear" at "m.py:3" module "layers.@.fc" { let l@ = linear_bias(y@-1, layers_@_w, layers_@_b) }
  op "tanh" at "m.py:3" module "layers.@" { let t@ = tanh(l@) }
  op "add" at "m.py:4" module "layers.@" { let y@ = add(t@, y@-1) }
)");
  EXPECT_EQ(rerolled(text), R"(fn layers<B, N>(yfirst: f32[B, N], w: f32[N, N], b: f32[N]) -> (y0) {
  op "linear" at "m.py:3" module "*.fc" { let l0 = linear_bias(yfirst, w, b) }
  op "tanh" at "m.py:3" module "*" { let t0 = tanh(l0) }
  op "add" at "m.py:4" module "*" { let y0 = add(t0, yfirst) }
}

program deep(
    input x: f32[B, N],
    param layers_0_w: f32[N, N],
    param layers_0_b: f32[N],
    param layers_1_w: f32[N, N],
    param layers_1_b: f32[N],
    param layers_2_w: f32[N, N],
    param layers_2_b: f32[N],
    param layers_3_w: f32[N, N],
    param layers_3_b: f32[N]
) -> (out) {
  dims B = 2, N = 3
  op "relu" { let yfirst = relu(x) }
  let y0 = layers(yfirst, layers_0_w, layers_0_b) module "layers.0"
  let y1 = layers(y0, layers_1_w, layers_1_b) module "layers.1"
  let y2 = layers(y1, layers_2_w, layers_2_b) module "layers.2"
  let y3 = layers(y2, layers_3_w, layers_3_b) module "layers.3"
  op "relu" { let out = relu(y3) }
}
)");
}

TEST(Reroll, StepsOfALoopBecomeARepeat) {
  std::string steps;
  std::string all;
  for (int t = 0; t < 5; ++t) {
    steps += fmt::format(R"(
  slice x{0} = x[{0}, :, :]
  op "cat" at "m.py:5" {{ let c{0} = concat(x{0}, h{1}; axis = 1) }}
  op "linear" at "m.py:6" module "i2h" {{ let l{0} = linear_bias(c{0}, w, b) }}
  op "tanh" at "m.py:6" module "tanh" {{ let h{0} = tanh(l{0}) }}
  op "linear" at "m.py:7" module "h2o" {{ let o{0} = linear(h{0}, v) }}
)",
                         t, t == 0 ? "" : fmt::format("{}", t - 1));
    all += fmt::format("{}o{}", t == 0 ? "" : ", ", t);
  }
  const std::string text = fmt::format(R"(
program rnn(input x: f32[T, B, I], input h: f32[B, H], param w: f32[H, J], param b: f32[H],
            param v: f32[O, H]) -> (y, h4) {{
  dims T = 5, B = 2, I = 3, H = 4, J = I + H, O = 2
{}
  op "stack" at "m.py:9" {{ let y = stack({}; axis = 0) }}
}})",
                                       steps, all);
  EXPECT_EQ(rerolled(text), R"(program rnn(
    input x: f32[T, B, I],
    input h: f32[B, H],
    param w: f32[H, J],
    param b: f32[H],
    param v: f32[O, H]
) -> (y, h4) {
  dims T = 5, B = 2, I = 3, H = 4, J = I + H, O = 2
  let h4 stack o0_steps = repeat t:T with (h0_before = h) {
    slice x0 = x[t, :, :]
    op "cat" at "m.py:5" { let c0 = concat(x0, h0_before; axis = 1) }
    op "linear" at "m.py:6" module "i2h" { let l0 = linear_bias(c0, w, b) }
    op "tanh" at "m.py:6" module "tanh" { let h0 = tanh(l0) }
    op "linear" at "m.py:7" module "h2o" { let o0 = linear(h0, v) }
    next h0 stack o0
  }
  op "stack" at "m.py:9" { let y = concat(o0_steps; axis = 0) }
}
)");
}

TEST(Reroll, WhatDiffersInMoreThanItsOperandsStays) {
  // Another line, another literal, a value of two steps before, a module that differs twice.
  const std::string four = R"(
program p(input x: f32[N]) -> (d3) {{
  dims N = 3
{}}})";
  const auto steps = [&](const auto& step) {
    std::string body;
    for (int i = 0; i < 4; ++i) body += step(i, i == 0 ? "x" : fmt::format("d{}", i - 1));
    return fmt::format(fmt::runtime(four), body);
  };
  const std::string lines = steps([](int i, const std::string& before) {
    return fmt::format(
        "  op \"a\" at \"m.py:{0}\" {{ let a{0} = tanh({1}) }}\n"
        "  op \"a\" at \"m.py:{0}\" {{ let b{0} = relu(a{0}) }}\n"
        "  op \"a\" at \"m.py:{0}\" {{ let c{0} = exp(b{0}) }}\n"
        "  op \"a\" at \"m.py:{0}\" {{ let d{0} = sin(c{0}) }}\n",
        i, before);
  });
  EXPECT_EQ(rerolled(lines), printed(lines));
  const std::string literals = steps([](int i, const std::string& before) {
    return fmt::format(
        "  let a{0} = tanh({1})\n  let b{0} = add_scalar(a{0}, {0}.5)\n  let c{0} = exp(b{0})\n"
        "  let d{0} = sin(c{0})\n",
        i, before);
  });
  EXPECT_EQ(rerolled(literals), printed(literals));
  const std::string modules = steps([](int i, const std::string& before) {
    return fmt::format(
        "  op \"a\" module \"l.{0}\" {{ let a{0} = tanh({1}) }}\n"
        "  op \"a\" module \"l.{0}\" {{ let b{0} = relu(a{0}) }}\n"
        "  op \"a\" module \"l.{2}\" {{ let c{0} = exp(b{0}) }}\n"
        "  op \"a\" module \"l.{0}\" {{ let d{0} = sin(c{0}) }}\n",
        i, before, 2 * i + 1);
  });
  EXPECT_EQ(rerolled(modules), printed(modules));
}

TEST(Reroll, StepsThatTakeTheStepBeforeLastAreNoLoop) {
  std::string body;
  for (int i = 2; i < 9; ++i)
    body += fmt::format("  let s{0} = tanh(y{1})\n  let y{0} = add(s{0}, y{2})\n", i, i - 1, i - 2);
  const std::string text = fmt::format(R"(
program fibonacci(input y0: f32[N], input y1: f32[N]) -> (y8) {{
  dims N = 3
{}}})",
                                       body);
  EXPECT_EQ(rerolled(text), printed(text));
}

TEST(Reroll, ASecondLoopTakesTheStepsOfTheFirst) {
  std::string body;
  for (int layer = 1; layer <= 2; ++layer) {
    for (int t = 0; t < 4; ++t) {
      body += layer == 1 ? fmt::format("  slice x0_{0} = x[:, {0}]\n", t) : "";
      body += fmt::format(
          "  op \"add\" module \"l{0}\" {{ let a{0}_{1} = add(x{2}_{1}, {3}) }}\n"
          "  op \"tanh\" module \"l{0}\" {{ let x{0}_{1} = tanh(a{0}_{1}) }}\n"
          "  op \"mul\" module \"l{0}\" {{ let h{0}_{1} = mul(x{0}_{1}, a{0}_{1}) }}\n",
          layer, t, layer - 1, t == 0 ? "h0" : fmt::format("h{}_{}", layer, t - 1));
    }
  }
  const std::string text = fmt::format(R"(
program two(input x: f32[B, T], input h0: f32[B]) -> (y, h1_3, h2_3) {{
  dims B = 3, T = 4
{}  op "stack" {{ let y = stack(x2_0, x2_1, x2_2, x2_3; axis = 1) }}
}})",
                                       body);
  EXPECT_EQ(rerolled(text),
            R"(program two(input x: f32[B, T], input h0: f32[B]) -> (y, h1_1, h2_1) {
  dims B = 3, T = 4
  let h1_1 stack x1_steps_1 = repeat t:T with (h1_before_1 = h0) {
    slice x0_1 = x[:, t]
    op "add" module "l1" { let a1_1 = add(x0_1, h1_before_1) }
    op "tanh" module "l1" { let x1_1 = tanh(a1_1) }
    op "mul" module "l1" { let h1_2 = mul(x1_1, a1_1) }
    next h1_2 stack x1_1
  }
  let h2_1 stack x2_steps_1 = repeat t_2:T with (h2_before_1 = h0) {
    slice x1_step_1 = x1_steps_1[t_2, :]
    op "add" module "l2" { let a2_1 = add(x1_step_1, h2_before_1) }
    op "tanh" module "l2" { let x2_1 = tanh(a2_1) }
    op "mul" module "l2" { let h2_2 = mul(x2_1, a2_1) }
    next h2_2 stack x2_1
  }
  op "stack" {
    view x2_steps_view_1 = x2_steps_1 { t, a0 -> a0, t }
    let y = concat(x2_steps_view_1; axis = 1)
  }
}
)");
}

TEST(Reroll, LeavesTheTextsOfTheCorpusAlone) {
  std::vector<Text> texts = golden_texts();
  for (Text& text : alir_blocks("docs/language.md")) texts.push_back(std::move(text));
  size_t checked = 0;
  for (const Text& text : texts) {
    if (!verify_text(text.text)) continue;
    EXPECT_EQ(rerolled(text.text), printed(text.text)) << text.name;
    ++checked;
  }
  EXPECT_GT(checked, 15u);
}

}  // namespace
}  // namespace solar::ir

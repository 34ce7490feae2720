#include "ir/simplify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic_text.h"
#include "ir/parser.h"
#include "ir/printer.h"

namespace solar::ir {
namespace {

/// A loop over a batch, written out: each of its elements is changed by itself, then all are joined
/// and added to the whole. `width` is a size of its own.
std::string written_out(int64_t batch, int64_t width) {
  std::string steps;
  std::string parts;
  for (int64_t i = 0; i < batch; ++i) {
    steps += fmt::format(
        "  slice select_{0} = x[{0}, :]\n"
        "  op \"tanh\" at \"m.py:3\" {{ let tanh_{0} = tanh(select_{0}) }}\n"
        "  view unsqueeze_{0} = tanh_{0} {{ a -> 1, a }}\n",
        i);
    parts += fmt::format("{}unsqueeze_{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "program p(input x: f32[d0, d1]) -> (add) {{\n  dims d0 = {}, d1 = {}\n{}"
      "  let cat = concat({}; axis = 0)\n  let add = add(cat, x)\n}}\n",
      batch, width, steps, parts);
}

std::string simplified(const std::string& text) {
  const auto file = parse_text("t.alir", text);
  if (!file) return render_text(file.error());
  const auto result = simplify(*file);
  return result ? print(result->file) : render_text(result.error());
}

TEST(Simplify, ALoopOverTheBatchLeavesTheBatchFree) {
  EXPECT_EQ(simplified(written_out(5, 7)), R"(program p(input x: f32[B, N]) -> (add) {
  dims B = 5, N = 7
  let stack unsqueeze_steps_1 = repeat t:B with () {
    slice select_1 = x[t, :]
    op "tanh" at "m.py:3" { let tanh_1 = tanh(select_1) }
    view unsqueeze_1 = tanh_1 { a -> 1, a }
    next stack unsqueeze_1
  }
  view unsqueeze_steps_view_1 = unsqueeze_steps_1 { t, a0, a1 -> (t, a0), a1 }
  let cat = concat(unsqueeze_steps_view_1; axis = 0)
  let add = add(cat, x)
}
)");
}

TEST(Simplify, TheSourceAndNotTheBatchDecidesTheText) {
  const auto without_sizes = [](std::string text) {
    const size_t dims = text.find("  dims ");
    return text.erase(dims, text.find('\n', dims) - dims);
  };
  EXPECT_EQ(without_sizes(simplified(written_out(4, 7))),
            without_sizes(simplified(written_out(12, 3))));
}

TEST(Simplify, PartsThatNoLoopJoinsFixTheirNumber) {
  const std::string text = R"(
program p(input x: f32[d0, d1], input y: f32[d2], input z: f32[d3]) -> (add) {
  dims d0 = 2, d1 = 3, d2 = 3, d3 = 3
  view a = y { a -> 1, a }
  view b = z { a -> 1, a }
  let cat = concat(a, b; axis = 0)
  let add = add(cat, x)
})";
  EXPECT_NE(simplified(text).find("input x: f32[2, N]"), std::string::npos) << simplified(text);
}

}  // namespace
}  // namespace solar::ir

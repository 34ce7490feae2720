#include "exec/limits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/executor.h"
#include "ir/verify.h"

namespace solar::exec {
namespace {

/// y[a0] += x[a0, .., an] over `loops` loops of extent 1.
std::string program(int loops) {
  std::string extents, variables, subscripts;
  for (int i = 0; i < loops; ++i) {
    extents += i == 0 ? "1" : ", 1";
    variables += fmt::format("{}a{}:1", i == 0 ? "" : ", ", i);
    subscripts += fmt::format("{}a{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "program p(input x: f32[{}]) -> (y) {{ kernel y: f32[1] {{ for {}   y[a0] += x[{}] }} }}",
      extents, variables, subscripts);
}

TEST(Limits, MoreLoopsThanAWordHasBitsAreRefused) {
  for (const auto& executor : {interpreter(), jit()}) {
    const auto largest = ir::verify_text(program(64));
    ASSERT_TRUE(largest.has_value());
    const std::vector<double> two = {2.0};
    Inputs inputs;
    inputs.emplace("x",
                   *TensorData::from_doubles(ElementType::F32, std::vector<int64_t>(64, 1), two));
    const auto outputs = executor->run(*largest, inputs);
    ASSERT_TRUE(outputs.has_value());
    EXPECT_EQ(outputs->outputs[0].get(0), 2.0);

    const auto larger = ir::verify_text(program(65));
    ASSERT_TRUE(larger.has_value());
    inputs.insert_or_assign(
        "x", *TensorData::from_doubles(ElementType::F32, std::vector<int64_t>(65, 1), two));
    const auto refused = executor->run(*larger, inputs);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().front().kind, DiagnosticKind::NotSupported);
    EXPECT_EQ(refused.error().size(), 2u);  // the tensor and the kernel
  }
}

}  // namespace
}  // namespace solar::exec

// Programs that run but are too large in some way to be counted.

#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

TEST(Limits, MoreLoopsThanCanBeCounted) {
  std::string loops;
  std::string extents;
  std::string subscripts;
  for (int i = 0; i < 70; ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    loops += comma + "n" + std::to_string(i) + ":1";
    extents += comma + "1";
    subscripts += comma + "n" + std::to_string(i);
  }
  const auto program =
      ir::verify_text("program p(input x: f32[]) -> (y) { kernel y: f32[" + extents + "] { for " +
                      loops + "   y[" + subscripts + "] = x } }");
  ASSERT_TRUE(program) << messages(program.error());
  const auto graph = lift(*program);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().at(0).kind, DiagnosticKind::NotSupported);
}

}  // namespace
}  // namespace solar::einsum

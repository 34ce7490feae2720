#include "ir/statement_count.h"

#include <gtest/gtest.h>

#include "ir/parser.h"

namespace solar::ir {
namespace {

TEST(CountStatements, BodiesAndFunctionsCountOnceGroupsDoNot) {
  const auto file = parse_text("t", R"(
fn twice(x: f32[4]) -> (y) { kernel y: f32[4] { for i:4   y[i] = 2 * x[i] } }
program p(input x: f32[4], input c: bool[]) -> (z) {
  dims N = 4
  require N > 1
  op "a" {
    let u = repeat t:3 with (v = x) { let w = twice(v) next w }
  }
  let z = if c { let s = twice(u) next s } else { next u }
})");
  ASSERT_TRUE(file);
  // The function's kernel; repeat, its let and next; if, let, next, next.
  EXPECT_EQ(count_statements(*file), 1 + 3 + 4);
  EXPECT_EQ(count_statements({}), 0);
}

}  // namespace
}  // namespace solar::ir

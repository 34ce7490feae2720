#include "bound/tiling_program.h"

#include <gtest/gtest.h>

#include "bound/curve.h"
#include "bound/random_einsum.h"
#include "bound/single_cases.h"
#include "bound/solver.h"

namespace solar::bound {
namespace {

TEST(Solver, SolvesAKnapsack) {
  // 60 + 100 + 120 with weights 10, 20, 30 in 50: the last two.
  Program program{.columns = {{.cost = -60}, {.cost = -100}, {.cost = -120}},
                  .rows = {{.upper = 50, .terms = {{0, 10}, {1, 20}, {2, 30}}}}};
  const Solution best = solve(program);
  EXPECT_EQ(best.status, Solution::Status::Optimal);
  EXPECT_EQ(best.values, (std::vector<int64_t>{0, 1, 1}));
  program.rows.push_back({.lower = 4, .terms = {{0, 1}, {1, 1}, {2, 1}}});
  EXPECT_EQ(solve(program).status, Solution::Status::Infeasible);
}

TEST(TilingProgram, EqualsColumns) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const bool many = seed % 4 == 0;
    const Einsum einsum = random_einsum(
        random, {.dims = 3, .largest = 9, .inputs = many ? 3 : 2, .widths = seed % 2 == 0});
    const Curve curve = traffic_curve(einsum, {.thorough = 0});
    for (size_t i = 0; i < curve.size(); i += 1 + curve.size() / 3)
      EXPECT_EQ(least_traffic_by_program(einsum, curve[i].capacity), curve[i].traffic) << i;
    EXPECT_EQ(least_traffic_by_program(einsum, curve[0].capacity - 1), std::nullopt);
  }
}

}  // namespace
}  // namespace solar::bound

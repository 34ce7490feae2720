// Single accesses under guards against plain enumeration.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "einsum/brute_force_macs_test_util.h"
#include "einsum/lift_test_util.h"
#include "einsum/random_access_test_util.h"

namespace solar::einsum {
namespace {

int64_t row_major(const std::vector<int64_t>& shape, const std::vector<AccessExpr>& subscripts,
                  const std::vector<int64_t>& loops) {
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    at = at * shape[axis] + subscripts[axis].value(loops);
  return at;
}

// SOLAR_SEED replays one of them.
TEST(Access, TwentyThousandEqualEnumeration) {
  constexpr uint32_t kCount = 20000;
  const char* const replay = std::getenv("SOLAR_SEED");
  const auto only = replay == nullptr ? 0 : static_cast<uint32_t>(std::atoll(replay));
  int64_t points_of_all = 0, empty = 0, cut = 0;
  for (uint32_t seed = replay ? only : 1; seed <= (replay ? only : kCount) && !HasFailure();
       ++seed) {
    const RandomAccess random(seed);
    const std::string text = fmt::format(" SOLAR_SEED={}\n{}", seed, random.text());
    const auto program = ir::verify_text(random.text());
    ASSERT_TRUE(program) << messages(program.error()) << text;
    const auto graph = lift(*program);
    ASSERT_TRUE(graph) << messages(graph.error()) << text;
    int64_t points = 0, box = 1;
    std::vector<bool> touched(static_cast<size_t>(ir::element_count(random.shape)), false);
    random.each_point([&](const std::vector<int64_t>& at) {
      ++points;
      for (const auto& read : random.reads)
        touched[static_cast<size_t>(row_major(random.shape, read, at))] = true;
    });
    for (const int64_t extent : random.extents) box *= extent;
    points_of_all += points;
    empty += points == 0;
    cut += points > 0 && points < box;
    const auto footprint = std::count(touched.begin(), touched.end(), true);
    EXPECT_TRUE(graph->exact) << text;
    EXPECT_EQ(read_bytes(*graph, 0), 4 * footprint) << text;
    EXPECT_EQ(read_bytes(*graph, 1), 4 * points) << text;
    // Reads alike are read, but not added, once: every addition as written.
    EXPECT_EQ(graph->totals.elementwise_ops, points * static_cast<int64_t>(random.reads.size() + 1))
        << text;
  }
  if (replay) return;
  std::cout << fmt::format("seeds 1 .. {}: {} points, {} nests empty, {} cut by guards\n", kCount,
                           points_of_all, empty, cut);
  EXPECT_LT(empty, kCount / 4);
  EXPECT_GT(cut, kCount / 4);
}

// Of a product of two reads, the multiply-accumulates.
TEST(Access, ProductsEqualEnumeration) {
  constexpr uint32_t kCount = 3000;
  const char* const replay = std::getenv("SOLAR_SEED");
  const auto only = replay == nullptr ? 0 : static_cast<uint32_t>(std::atoll(replay));
  int compared = 0;
  for (uint32_t seed = replay ? only : 1; seed <= (replay ? only : kCount) && !HasFailure();
       ++seed) {
    const RandomAccess random(
        seed, {.most_points = 300, .most_extent = 8, .least_reads = 2, .derived = false});
    if (random.reads.size() != 2) continue;
    const std::string text = fmt::format(" SOLAR_SEED={}\n{}", seed, random.product_text());
    const auto program = ir::verify_text(random.product_text());
    ASSERT_TRUE(program) << messages(program.error()) << text;
    const auto graph = lift(*program);
    ASSERT_TRUE(graph) << messages(graph.error()) << text;
    if (graph->nodes.size() != 1 || !graph->nodes[0].is_contraction) continue;
    const BruteForce truth(**program);
    const auto& kernel = std::get<ir::Kernel>((*program)->statements[0].body);
    const auto macs = BruteForceMacs::count(truth, **program, 0, kernel);
    if (!macs) continue;
    ++compared;
    EXPECT_EQ(graph->nodes[0].macs_useful.value, *macs) << text;
  }
  if (replay) return;
  std::cout << compared << " products compared\n";
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace solar::einsum

#include "bound/curve.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "bound/exhaustive_tilings.h"
#include "bound/merge.h"
#include "bound/random_einsum.h"
#include "bound/replay.h"
#include "bound/single_cases.h"
#include "bound/tiling_program.h"

namespace solar::bound {
namespace {

constexpr SearchEffort kEvery{.ways = INT64_MAX, .thorough = INT64_MAX};
constexpr SearchEffort kQuick{.thorough = 0};

using Points = std::vector<std::pair<int64_t, int64_t>>;

Points points_of(const Curve& curve) {
  Points points;
  for (const Point& point : curve) points.emplace_back(point.capacity, point.traffic);
  return points;
}

Points points_of(const Skyline<Mapping>& skyline) {
  Points points;
  for (const auto& entry : skyline.entries()) points.emplace_back(entry.capacity, entry.traffic);
  return points;
}

// How many random nests; more where the environment says so.
uint64_t nests(uint64_t usual) {
  const char* more = std::getenv("SOLAR_TILINGS");
  return more == nullptr ? usual : std::strtoull(more, nullptr, 10);
}

void expect_replayed(const Einsum& given, const Curve& curve, uint64_t seed) {
  const Einsum einsum = merge_dims(given);
  for (const Point& point : curve) {
    const Replay ran = replay(einsum, point.mapping, seed);
    ASSERT_EQ(ran.fault, "") << describe(einsum, point.mapping);
    ASSERT_EQ(ran.cost.capacity, point.capacity) << describe(einsum, point.mapping);
    ASSERT_EQ(ran.cost.traffic, point.traffic) << describe(einsum, point.mapping);
  }
}

int64_t traffic_at(const Curve& curve, int64_t capacity) {
  int64_t traffic = INT64_MAX;
  for (const Point& point : curve)
    if (point.capacity <= capacity) traffic = point.traffic;
  return traffic;
}

TEST(Curve, EqualsProgramExhaustiveSearchAndReplay) {
  for (uint64_t seed = 1; seed <= nests(100); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const bool many = seed % 4 == 0;
    const Einsum einsum =
        merge_dims(random_einsum(random, {.dims = many ? 2 : 3,
                                          .largest = 3 + static_cast<int64_t>(seed % 2),
                                          .inputs = many ? 3 : 2,
                                          .widths = seed % 2 == 0}));
    const Curve curve = traffic_curve(einsum, kEvery);
    ASSERT_EQ(points_of(curve), points_of(exhaustive_skyline(einsum)));
    expect_replayed(einsum, curve, seed);
    // The program knows no savings that only ragged tiles bring; neither does the quick search.
    const Curve quick = traffic_curve(einsum, kQuick);
    expect_replayed(einsum, quick, seed);
    const Point& somewhere =
        quick[static_cast<size_t>(random.in(0, static_cast<int64_t>(quick.size()) - 1))];
    ASSERT_EQ(least_traffic_by_program(einsum, somewhere.capacity), somewhere.traffic);
  }
}

TEST(Curve, OfWindowsEqualsExhaustiveSearchAndReplay) {
  for (uint64_t seed = 1; seed <= nests(100); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Einsum einsum =
        merge_dims(random_einsum(random, {.dims = 3,
                                          .largest = 3 + static_cast<int64_t>(seed % 2),
                                          .inputs = 2,
                                          .windows = true,
                                          .widths = seed % 2 == 0}));
    const Curve curve = traffic_curve(einsum, kEvery);
    ASSERT_EQ(points_of(curve), points_of(exhaustive_skyline(einsum)));
    expect_replayed(einsum, curve, seed);
    expect_replayed(einsum, traffic_curve(einsum, kQuick), seed);
  }
}

TEST(Curve, ReachesWhatIsKnown) {
  for (const SingleCase& one : single_cases()) {
    SCOPED_TRACE(one.name);
    const Curve curve = traffic_curve(one.einsum);
    for (auto [capacity, traffic] : one.reached)
      EXPECT_LE(traffic_at(curve, capacity), traffic) << capacity;
    int64_t points = 1;
    for (const Dim& dim : one.einsum.dims) points *= dim.extent;
    if (points <= 5'000) expect_replayed(one.einsum, curve, 1);
  }
}

}  // namespace
}  // namespace solar::bound

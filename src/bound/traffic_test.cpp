#include "bound/traffic.h"

#include <gtest/gtest.h>

#include "bound/random_einsum.h"
#include "bound/replay.h"

namespace solar::bound {
namespace {

void expect_replayed(uint64_t seed, const Shape& shape) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Einsum einsum = random_einsum(random, shape);
  for (int i = 0; i < 5; ++i) {
    const Mapping mapping = random_mapping(random, einsum);
    const Replay ran = replay(einsum, mapping, seed);
    const Cost formula = cost(einsum, mapping);
    ASSERT_EQ(ran.fault, "");
    ASSERT_EQ(ran.cost.tensors, formula.tensors) << describe(einsum, mapping);
    ASSERT_EQ(ran.cost.traffic, formula.traffic) << describe(einsum, mapping);
    ASSERT_EQ(ran.cost.capacity, formula.capacity) << describe(einsum, mapping);
  }
}

TEST(Traffic, EqualsReplayOfRandomMappings) {
  for (uint64_t seed = 1; seed <= 300; ++seed)
    expect_replayed(seed, {.dims = 2 + static_cast<int64_t>(seed % 3),
                           .largest = 7,
                           .inputs = 1 + static_cast<int64_t>(seed % 3),
                           .widths = true});
}

TEST(Traffic, EqualsReplayOfRandomMappingsOfWindows) {
  for (uint64_t seed = 1; seed <= 400; ++seed)
    expect_replayed(seed, {.dims = 2 + static_cast<int64_t>(seed % 3),
                           .largest = 7,
                           .inputs = 2,
                           .windows = true,
                           .widths = true});
}

}  // namespace
}  // namespace solar::bound

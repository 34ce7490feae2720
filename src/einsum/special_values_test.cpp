// Against a look at every element.

#include "einsum/special_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "ir/core.h"

namespace solar::einsum {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool contains(const Region& region, const std::vector<int64_t>& at) {
  if (region.empty()) return false;
  for (const RegionGroup& group : region.groups()) {
    int64_t index = 0;
    for (const int32_t axis : group.axes) {
      const auto a = static_cast<size_t>(axis);
      index = index * region.shape()[a] + at[a];
    }
    if (!group.set->contains(index)) return false;
  }
  return true;
}

TEST(SpecialValues, EqualALookAtEveryElement) {
  std::mt19937 random(7);
  const std::vector<double> choices = {
      0, -0.0, -kInfinity, 1, kInfinity, -65504, std::numeric_limits<double>::quiet_NaN()};
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<int64_t> shape;
    for (size_t axis = random() % 4; axis > 0; --axis)
      shape.push_back(1 + static_cast<int64_t>(random() % 4));
    // The values of a smaller tensor, repeated along some axes.
    const auto kept = random();
    const size_t kinds = 1 + random() % choices.size();
    std::vector<double> values;
    std::vector<std::vector<int64_t>> places;
    std::vector<double> table(256);
    for (double& v : table) v = choices[random() % kinds];
    for (int64_t i = 0; i < ir::element_count(shape); ++i) {
      std::vector<int64_t> at(shape.size());
      int64_t rest = i;
      size_t key = 0;
      for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
        at[axis] = rest % shape[axis];
        if (kept >> axis & 1) key = key * 4 + static_cast<size_t>(at[axis]);
      }
      values.push_back(table[key]);
      places.push_back(std::move(at));
    }
    const auto found = special_elements(shape, ir::ElementType::F16,
                                        [&](int64_t i) { return values[static_cast<size_t>(i)]; });
    ASSERT_TRUE(found);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(contains(found->not_zero, places[i]), values[i] != 0) << trial;
      const bool masked = found->lowest_masks && values[i] == -65504;
      EXPECT_EQ(contains(found->not_minus_infinity, places[i]), values[i] != -kInfinity && !masked);
      EXPECT_EQ(contains(found->not_nonzero, places[i]), values[i] == 0) << trial;
    }
  }
}

TEST(SpecialValues, AxesAlongWhichNothingChangesAreWhole) {
  const auto found = special_elements({4, 3, 3}, ir::ElementType::Bool,
                                      [](int64_t i) { return i / 3 % 3 >= i % 3 ? 1.0 : 0.0; });
  ASSERT_TRUE(found);
  ASSERT_EQ(found->not_zero.groups().size(), 1u);
  EXPECT_EQ(found->not_zero.groups()[0].axes.size(), 2u);
  EXPECT_EQ(found->not_zero.count(), 4 * 6);
}

}  // namespace
}  // namespace solar::einsum

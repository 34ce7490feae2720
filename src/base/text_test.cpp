#include "base/text.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace solar {
namespace {

/// The definition, without a table.
size_t by_definition(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view a1 = a.substr(0, a.size() - 1);
  const std::string_view b1 = b.substr(0, b.size() - 1);
  size_t best = std::min({by_definition(a1, b) + 1, by_definition(a, b1) + 1,
                          by_definition(a1, b1) + (a.back() == b.back() ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a.back() == b1.back() && a1.back() == b.back()) {
    best =
        std::min(best, by_definition(a1.substr(0, a1.size() - 1), b1.substr(0, b1.size() - 1)) + 1);
  }
  return best;
}

TEST(Text, TheEditDistanceIsItsDefinition) {
  std::mt19937 random(5);
  const auto word = [&] {
    std::string text(random() % 6, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string a = word();
    const std::string b = word();
    EXPECT_EQ(edit_distance(a, b), by_definition(a, b)) << a << " " << b;
  }
}

TEST(Text, NearNamesAreThoseThatWereMeant) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_names("wegith", {"bias", "weight", "width"}), Names({"weight"}));
  EXPECT_EQ(nearest_names("tanh_", {"tanh", "tan"}), Names({"tanh"}));
  EXPECT_EQ(nearest_names("X", {"c", "w", "x"}), Names({"x"}));  // no other letter
  EXPECT_EQ(nearest_names("q", {"c", "w", "x"}), Names());
  EXPECT_EQ(counted(1, "value") + ", " + counted(2, "value"), "1 value, 2 values");
}

}  // namespace
}  // namespace solar

#include "ir/rebind.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/parser.h"

namespace solar::ir {
namespace {

std::vector<Rebinding> rebindings(const std::string& text) {
  const auto file = parse_text("<text>", text);
  EXPECT_TRUE(file.has_value());
  const auto result = rebind(*file);
  EXPECT_TRUE(result.has_value());
  return result ? *result : std::vector<Rebinding>{};
}

TEST(Rebind, AProgramOverFreeFactorsHoldsEverywhere) {
  const auto found = rebindings(R"(
    program p(input x: f32[N, C]) -> (y) {
      dims N = 3, G = 2, I = 4, C = G*I
      view s = x { n, (g:G, i) -> n, g, i }
      kernel y: f32[N, G] { for n:N, g:G, i:I   y[n,g] += s[n,g,i] }
    })");
  EXPECT_EQ(found.size(), 6u);
  EXPECT_TRUE(coincidences(found).empty());
}

TEST(Rebind, ADivisionThatHoldsByCoincidenceIsFound) {
  const auto found = coincidences(rebindings(R"(
    program p(input x: f32[N, C]) -> (y) {
      dims N = 3, C = 8
      view s = x { n, (g:2, i) -> n, g, i }
      kernel y: f32[N, 2] { for n:N, g:2, i:4   y[n,g] += s[n,g,i] }
    })"));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, DiagnosticKind::BadView);
  EXPECT_EQ(found[0].severity, Severity::Warning);
  EXPECT_EQ(found[0].message.substr(0, 12), "with C = 9: ");
}

TEST(Rebind, RequireChoosesTheValues) {
  const auto found = rebindings(R"(
    program p(input x: f32[C]) -> (y) {
      dims C = 8
      require C % 2 == 0
      view s = x { (g:2, i) -> g, i }
      kernel y: f32[2] { for g:2, i:C // 2   y[g] += s[g,i] }
    })");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].value, 16);
  EXPECT_EQ(found[1].value, 24);
  EXPECT_TRUE(coincidences(found).empty());
}

TEST(Rebind, APinnedDimIsLeftOut) {
  EXPECT_TRUE(rebindings(R"(
    program p(input x: f32[C]) -> (y) {
      dims C = 8
      require C == 8
      kernel y: f32[8] { for c:8   y[c] = x[c] }
    })")
                  .empty());
}

}  // namespace
}  // namespace solar::ir

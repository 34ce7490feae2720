#include "base/apply_fixes.h"

#include <gtest/gtest.h>

namespace solar {
namespace {

const auto kSource = std::make_shared<const Source>(Source{"a.alir", "kernel y = x + z"});

Diagnostic with_fix(int begin, int end, std::string text,
                    FixConfidence confidence = FixConfidence::Always) {
  Diagnostic diagnostic;
  diagnostic.fixes.push_back({{kSource, begin, end}, std::move(text), confidence});
  return diagnostic;
}

TEST(ApplyFixes, ReplacesInsertsAndRemovesByPosition) {
  const FixedText fixed = apply_fixes(
      *kSource, {with_fix(15, 16, "w"), with_fix(0, 6, "indexed"), with_fix(12, 12, " 1 +")},
      false);
  EXPECT_EQ(fixed.text, "indexed y = x 1 + + w");
  ASSERT_EQ(fixed.applied.size(), 3u);
  EXPECT_EQ(fixed.applied[0].replacement, "indexed");
}

TEST(ApplyFixes, OfOverlappingOnesTheFirstIsTaken) {
  const FixedText fixed = apply_fixes(
      *kSource, {with_fix(7, 10, "u ="), with_fix(9, 12, "?"), with_fix(7, 7, "v")}, false);
  EXPECT_EQ(fixed.text, "kernel u = x + z");
}

TEST(ApplyFixes, ConfidenceDecides) {
  const Diagnostics unsure = {with_fix(11, 12, "t", FixConfidence::Maybe),
                              with_fix(15, 16, "w", FixConfidence::HasPlaceholders)};
  EXPECT_EQ(apply_fixes(*kSource, unsure, false).text, kSource->text);
  EXPECT_EQ(apply_fixes(*kSource, unsure, true).text, "kernel y = t + z");
}

TEST(ApplyFixes, OtherFilesAndPlacesOutsideAreLeftAlone) {
  Diagnostic elsewhere = with_fix(0, 6, "view");
  elsewhere.fixes[0].span.source = std::make_shared<const Source>(Source{"prelude", "kernel"});
  const FixedText fixed = apply_fixes(*kSource, {elsewhere, with_fix(14, 99, "!")}, false);
  EXPECT_EQ(fixed.text, kSource->text);
  EXPECT_TRUE(fixed.applied.empty());
  // Nor is another text of the same name.
  elsewhere.fixes[0].span.source =
      std::make_shared<const Source>(Source{kSource->name, "kernel of the prelude"});
  EXPECT_TRUE(apply_fixes(*kSource, {elsewhere}, false).applied.empty());
}

}  // namespace
}  // namespace solar

#include "ir/reroll/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/corpus_test_util.h"

namespace solar::ir {
namespace {

using Symbols = std::vector<int32_t>;

bool repeats(const Symbols& symbols, size_t begin, size_t end, size_t period) {
  for (size_t i = begin; i + period < end; ++i) {
    if (symbols[i] < 0 || symbols[i] != symbols[i + period]) return false;
  }
  return true;
}

/// All maximal runs of at least `copies` shortest periods.
std::set<std::array<size_t, 3>> by_definition(const Symbols& symbols, size_t copies) {
  std::set<std::array<size_t, 3>> found;
  const size_t n = symbols.size();
  for (size_t period = 1; 2 * period <= n; ++period) {
    for (size_t begin = 0; begin + copies * period <= n; ++begin) {
      if (begin > 0 && repeats(symbols, begin - 1, begin + period, period)) continue;
      size_t end = begin + period;
      while (end < n && repeats(symbols, end - period, end + 1, period)) ++end;
      if (end - begin < copies * period) continue;
      bool shorter = false;
      for (size_t p = 1; p < period && !shorter; ++p)
        shorter = period % p == 0 && repeats(symbols, begin, end, p);
      if (!shorter) found.insert({begin, end, period});
    }
  }
  return found;
}

TEST(TandemRuns, FindsEveryRunOfThreeAndOnlyRuns) {
  auto random = seeded(7);
  for (int trial = 0; trial < 2000; ++trial) {
    Symbols symbols;
    const int64_t length = draw(random, 0, 40);
    const int64_t letters = draw(random, 1, 3);
    while (static_cast<int64_t>(symbols.size()) < length) {
      // A random block, some times over.
      Symbols block;
      for (int64_t i = draw(random, 1, 6); i > 0; --i)
        block.push_back(
            static_cast<int32_t>(draw(random, draw(random, 0, 9) == 0 ? -1 : 0, letters)));
      for (int64_t i = draw(random, 1, 4); i > 0; --i)
        symbols.insert(symbols.end(), block.begin(), block.end());
    }
    std::set<std::array<size_t, 3>> found;
    for (const TandemRun& run : tandem_runs(symbols).runs)
      found.insert({run.begin, run.end, run.period});
    const auto three = by_definition(symbols, 3);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), three.begin(), three.end()));
    for (const auto& [begin, end, period] : found) {
      EXPECT_TRUE(repeats(symbols, begin, end, period));
      EXPECT_GE(end - begin, 2 * period);
    }
  }
}

TEST(TandemRuns, TwoCopiesOfDifferentStatements) {
  EXPECT_EQ(tandem_runs({9, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 8}).runs,
            (std::vector<TandemRun>{{1, 11, 5}}));
}

TEST(TandemRuns, WorkIsProportionalToTheLength) {
  for (const size_t period : {1u, 7u, 1000u, 6666u}) {
    Symbols symbols;
    for (size_t i = 0; i < 20'000; ++i) symbols.push_back(static_cast<int32_t>(i % period));
    const TandemRuns found = tandem_runs(symbols);
    ASSERT_EQ(found.runs.size(), 1u);
    EXPECT_EQ(found.runs[0], (TandemRun{0, 20'000, period}));
    EXPECT_LE(found.steps, 64 * 20'000);
  }
  Symbols fibonacci = {0};
  for (Symbols before = {1}; fibonacci.size() < 20'000;) {
    Symbols next = fibonacci;
    next.insert(next.end(), before.begin(), before.end());
    before = std::exchange(fibonacci, std::move(next));
  }
  EXPECT_LE(tandem_runs(fibonacci).steps, 66 * static_cast<int64_t>(fibonacci.size()));
}

}  // namespace
}  // namespace solar::ir

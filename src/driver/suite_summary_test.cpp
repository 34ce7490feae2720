#include "driver/suite_summary.h"

#include <gtest/gtest.h>

namespace solar::driver {
namespace {

using report::SuiteResult;

SuiteResult passed(const std::string& problem, const std::string& method, double cpu) {
  SuiteResult r;
  r.problem = problem;
  r.status = "passed";
  r.method = method;
  r.statements = 1;
  r.macs = 1;
  r.bounds = {{"a6000", "fused", 1, "memory", 1}};
  r.cpu_s = cpu;
  r.peak_rss_bytes = static_cast<int64_t>(cpu * 100);
  return r;
}

SuiteResult not_passed(const std::string& problem, const std::string& status,
                       const std::string& kind) {
  SuiteResult r;
  r.problem = problem;
  r.status = status;
  if (status == "skipped") {
    r.reason = kind;
  } else {
    r.diagnostics = {{kind, "message"}};
  }
  return r;
}

TEST(Summarize, FoldersInNaturalOrder) {
  const auto s =
      summarize("run", {passed("level10/1.py", "full", 1), passed("level2/2.py", "full", 4),
                        passed("level2/1.py", "two-trace", 2), passed("x.py", "full", 3)});
  ASSERT_EQ(s.folders.size(), 3u);
  EXPECT_EQ(s.folders[0].folder, "");
  EXPECT_EQ(s.folders[1].folder, "level2");
  EXPECT_EQ(s.folders[2].folder, "level10");
  EXPECT_EQ(s.folders[1].passed, (std::map<std::string, int64_t>{{"full", 1}, {"two-trace", 1}}));
  EXPECT_EQ(s.folders[1].median_cpu_s, 3);
  EXPECT_EQ(s.folders[1].total_cpu_s, 6);
  EXPECT_EQ(s.total.problems, 4);
  EXPECT_EQ(s.total.median_cpu_s, 2.5);
  EXPECT_EQ(s.total.peak_rss_bytes, 400);
  EXPECT_EQ(s.total.peak_problem, "level2/2.py");
  EXPECT_TRUE(s.classes.empty());
}

TEST(Summarize, DegenerateProblemsByKind) {
  auto a = passed("10.py", "full", 1);
  a.degenerate = {{"constant-output", "y"}, {"ignored-input", "x"}, {"ignored-input", "z"}};
  auto b = not_passed("9.py", "skipped", "too large");
  b.degenerate = {{"ignored-input", "x"}};
  const auto s = summarize("run", {a, b, passed("1.py", "full", 1)});
  EXPECT_EQ(s.degenerate_problems, 2);
  ASSERT_EQ(s.degenerate.size(), 2u);
  EXPECT_EQ(s.degenerate[0].kind, "constant-output");
  EXPECT_EQ(s.degenerate[1].problems, (std::vector<std::string>{"9.py", "10.py"}));
}

TEST(Summarize, ClassesByKindTheMostFrequentFirst) {
  const auto s = summarize("run", {not_passed("a.py", "error", "source-form"),
                                   not_passed("10.py", "error", "trace-failed"),
                                   not_passed("9.py", "error", "trace-failed"),
                                   not_passed("b.py", "skipped", "too large (12 GiB)"),
                                   not_passed("c.py", "skipped", "too large (13 GiB)"),
                                   not_passed("d.py", "skipped", "too large (14 GiB)")});
  ASSERT_EQ(s.classes.size(), 3u);
  EXPECT_EQ(s.classes[0].kind, "too large");
  EXPECT_EQ(s.classes[1].kind, "trace-failed");
  EXPECT_EQ(s.classes[1].problems, (std::vector<std::string>{"9.py", "10.py"}));
  EXPECT_EQ(s.total.others, (std::map<std::string, int64_t>{{"error", 3}, {"skipped", 3}}));
  EXPECT_EQ(s.total.traced, 0);
}

}  // namespace
}  // namespace solar::driver

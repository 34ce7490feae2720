#include <gtest/gtest.h>

#include "report/suite_json.h"
#include "report/suite_text.h"

namespace solar::report {
namespace {

SuiteResult full_result() {
  SuiteResult r;
  r.problem = "level1/3_x.py";
  r.status = "passed";
  r.method = "two-trace";
  r.diagnostics = {{"worker-limit", "took long", "x.py:3"}};
  r.statements = 7;
  r.nodes = 3;
  r.macs = int64_t{1} << 62;
  r.macs_useful = 5;
  r.bounds = {{"a6000", "unfused", 0.25, "memory", 12}};
  r.wall_s = 2.34;
  r.cpu_s = 1.5;
  r.peak_rss_bytes = 1000;
  r.timings_s = Timings{1, 2, 3, 4};
  r.degenerate = {{"constant-output", "y is 0"}};
  r.warnings = {"one\ntwo"};
  return r;
}

TEST(SuiteJson, ALineComesBack) {
  SuiteResult bare;
  bare.problem = "a.py";
  for (const SuiteResult& r : {full_result(), bare}) {
    const std::string line = render_line(r);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto back = parse_line(line);
    ASSERT_TRUE(back);
    EXPECT_EQ(render_line(*back), line);
  }
  const auto back = parse_line(render_line(full_result()));
  EXPECT_EQ(back->macs, int64_t{1} << 62);
  EXPECT_EQ(back->timings_s->bound, 4);
  EXPECT_EQ(back->diagnostics, full_result().diagnostics);
  EXPECT_EQ(back->degenerate, full_result().degenerate);
}

TEST(SuiteJson, WhatIsNotALineIsRefused) {
  const std::string line = render_line(full_result());
  for (size_t n = 0; n + 2 < line.size(); ++n) EXPECT_FALSE(parse_line(line.substr(0, n))) << n;
  for (const char* text :
       {"[]", "{}", "null", R"({"schema": 1})", R"({"schema": "solar.result/1", "problem": 3})"}) {
    EXPECT_FALSE(parse_line(text)) << text;
  }
}

TEST(SuiteText, ProgressSaysHowLongItTakes) {
  SuiteResult r = full_result();
  r.diagnostics = {};
  EXPECT_EQ(progress_text(r, {12, 100, 250}),
            "[12/100] level1/3_x.py passed two-trace 2.3 s (about 4 min left)\n");
  EXPECT_EQ(progress_text(r, {12, 100, 0.1}),
            "[12/100] level1/3_x.py passed two-trace 2.3 s (about 1 s left)\n");
  r.status = "error";
  r.method = "";
  r.diagnostics = {{"source-raised", "x"}};
  EXPECT_EQ(progress_text(r, {100, 100, 0}), "[100/100] level1/3_x.py error source-raised 2.3 s\n");
}

TEST(SuiteText, OneProblemIsNotSeveral) {
  SuiteSummary s;
  s.run = "run";
  s.problems = 1;
  EXPECT_TRUE(render_text(s).starts_with("run: 1 problem\n")) << render_text(s);
  EXPECT_EQ(resumed_text(40, 100), "40 of 100 problems are done already\n");
  EXPECT_EQ(resumed_text(1, 1), "1 of 1 problem is done already\n");
}

TEST(SuiteText, TheSummaryLeavesOutWhatIsNot) {
  SuiteFolder folder;
  folder.folder = "level1";
  folder.problems = 3;
  folder.traced = 2;
  folder.counted = 2;
  folder.passed = {{"full", 1}};
  folder.others = {{"failed", 1}, {"error", 1}};
  folder.median_cpu_s = 1.25;
  folder.total_cpu_s = 123.4;
  folder.median_wall_s = 2;
  folder.total_wall_s = 3;
  folder.peak_rss_bytes = 2'000'000;
  folder.peak_problem = "level1/a.py";
  SuiteSummary s;
  s.run = "run";
  s.problems = 3;
  s.folders = {folder};
  s.total = folder;
  s.classes = {{"error", "source-form", {"level1/a.py"}},
               {"failed", "validation-failed", {"b.py"}}};
  s.degenerate_problems = 2;
  s.degenerate = {{"collapsed-product", {"level1/a.py", "level1/b.py"}},
                  {"constant-output", {"level1/b.py"}}};
  EXPECT_EQ(render_text(s),
            "run: 3 problems\n"
            "\n"
            "coverage\n"
            "  folder  problems  traced  counted  passed\n"
            "  level1         3       2        2       1\n"
            "\n"
            "validation\n"
            "  folder  full  failed  error\n"
            "  level1     1       1      1\n"
            "\n"
            "cost\n"
            "  folder  median CPU s  total  median wall s  total  peak  of\n"
            "  level1          1.25    123           2.00   3.00  2 MB  level1/a.py\n"
            "\n"
            "degenerate programs (2)\n"
            "collapsed-product (2): level1/a.py, level1/b.py\n"
            "constant-output (1): level1/b.py\n"
            "\n"
            "not passed\n"
            "error, source-form (1): level1/a.py\n"
            "failed, validation-failed (1): b.py\n");
}

}  // namespace
}  // namespace solar::report

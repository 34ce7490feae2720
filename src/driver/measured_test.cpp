#include "driver/measured.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic_text.h"

namespace solar::driver {
namespace {

/// `problem/implementation@device mean min`, a line each, in microseconds.
std::string parsed(const std::string& text) {
  const auto all = parse_measured(text, "t.json", "file");
  if (!all) return render_text(all.error());
  std::string lines;
  const auto time = [](const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.0f}", *seconds * 1e6) : std::string("-");
  };
  for (const Measured& m : *all) {
    lines += fmt::format("{}|{}@{} {} {}\n", m.problem, m.implementation, m.device, time(m.mean_s),
                         time(m.min_s));
  }
  return lines;
}

TEST(Measured, TheProjectsOwnFormat) {
  EXPECT_EQ(parsed(R"({"schema": "solar.measured/1", "device": "d",
                       "times": [{"problem": "l/a.py", "implementation": "eager", "time_s": 2e-3},
                                 {"problem": "b", "min_s": 1e-3, "device": "e"}]})"),
            "l/a.py|eager@d 2000 -\nb|file@e - 1000\n");
}

TEST(Measured, KernelBenchsOwnFilesAreInMilliseconds) {
  EXPECT_EQ(parsed(R"({"level1": {"1_x.py": {"mean": 2.5, "std": 0.1, "min": 2, "max": 3,
                       "num_trials": 100, "hardware": "h", "device": "cuda:0"}},
                       "level2": {"2_y.py": {"mean": 1}}})"),
            "level1/1_x.py|file@ 2500 2000\nlevel2/2_y.py|file@ 1000 -\n");
}

TEST(Measured, ImplementationsSideBySideWithAndWithoutADevice) {
  const std::string problem =
      R"({"l/a.py": {"eager_ms": 2, "eager_std": 0.1, "eager_min": 1.5, "compile_ms": null}})";
  EXPECT_EQ(parsed(problem), "l/a.py|eager@ 2000 1500\n");
  EXPECT_EQ(parsed(R"({"dev": )" + problem + "}"), "l/a.py|eager@dev 2000 1500\n");
}

TEST(Measured, Csv) {
  EXPECT_EQ(parsed("problem,device,eager_ms,compile_min\r\n\"l/a, b.py\",d,2,1\r\nc.py,d,3,\r\n"),
            "l/a, b.py|compile@d - 1000\nl/a, b.py|eager@d 2000 -\nc.py|eager@d 3000 -\n");
  EXPECT_EQ(parsed("problem,implementation,time_s\na,eager,0.001\n"), "a|eager@ 1000 -\n");
  EXPECT_EQ(parsed("problem,time_us,min_us\na,12,10\n"), "a|file@ 12 10\n");
}

TEST(Measured, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(parsed("\xEF\xBB\xBFproblem,time_us\na,12\n"), "a|file@ 12 -\n");
  EXPECT_EQ(parsed("\xEF\xBB\xBF{\"a.py\": {\"eager_ms\": 1}}"), "a.py|eager@ 1000 -\n");
  EXPECT_NE(parsed("\xEF\xBB\xBF").find("the file is empty"), std::string::npos);
}

TEST(Measured, AMinimumMayBeRoundedAboveItsMean) {
  EXPECT_EQ(parsed("problem,mean_ms,min_ms\na,2.66,2.662\n"), "a|file@ 2660 2662\n");
}

TEST(Measured, WhatIsWrongIsSaidWithItsPlace) {
  const auto says = [](const std::string& text, const std::string& what) {
    const std::string found = parsed(text);
    EXPECT_NE(found.find("error[source-file]"), std::string::npos) << found;
    EXPECT_NE(found.find(what), std::string::npos) << found;
  };
  says("", "the file is empty");
  says("{", "not JSON");
  says("[1]", "an object was expected");
  says("{}", "there is no measured time");
  says(R"({"times": []})", "solar.measured/1");
  says(R"({"schema": "solar.measured/1", "times": [3]})", "times[0]");
  says(R"({"schema": "solar.measured/1", "times": [{"problem": "a"}]})", "there is no time");
  says(R"({"schema": "solar.measured/1", "times": [{"time_s": 1}]})", "without a problem");
  says(R"({"a.py": {"eager_ms": -1}})", "`eager_ms` is not a positive, finite number");
  says(R"({"a.py": {"eager_ms": 1e999}})", "");
  says("a,b\n1,2\n", "the titles must hold `problem`");
  says("problem,time_s\na\n", "row 2");
  says("problem,time_s\na,fast\n", "`time_s` is not a positive, finite number");
  says("problem,time_s\n\"a,1\n", "a quote is not closed");
  says("problem,time_ms,time_us\na,1,1000\n",
       "`t.json`, line 1: the columns `time_ms` and `time_us` both give the time, one of them is");
  says("problem,eager_ms,eager_s\na,1,\n", "the columns `eager_ms` and `eager_s` both give");
  says("problem,time_ms,time_ms\na,1,1\n", "line 1: two columns are called `time_ms`");
  says("problem,problem,time_ms\na,b,1\n", "two columns are called `problem`");
  says("problem,implementation,time_ms,eager_ms\na,eager,1,1\n",
       "row 2: `time_ms` and `eager_ms` both give the time of `eager`");
  says(R"({"a.py": {"mean": 1, "time_us": 1000}})", "`a.py`: `mean` and `time_us` both give");
  says("problem,mean_ms,min_ms\na,1,1\nb,2,3\n",
       "row 3: the minimum `min_ms` is 0.003 s, above the mean `mean_ms` of 0.002 s");
  says(R"({"l": {"a.py": {"mean": 2, "min": 3}}})", "`l/a.py`: the minimum `min` is 0.003 s");
}

}  // namespace
}  // namespace solar::driver

#include "driver/headroom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/diagnostic_text.h"
#include "base/file.h"
#include "report/suite_json.h"

namespace solar::driver {
namespace {

namespace fs = std::filesystem;

/// A folder with a run of three problems, floors in ms by hand.
class HeadroomTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("solar-headroom-" + std::to_string(::getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    put("suite.json", R"({"schema": "solar.suite/1", "options": {"strict": true}})");
    put("results.jsonl",
        line("l1/a.py", 4, 1) + line("l1/b.py", 2, 2) + line("l2/a.py", 8, 4) + "{torn");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    EXPECT_TRUE(write_file(path, text));
    return path;
  }

  static std::string line(const std::string& problem, double unfused_ms, double fused_ms) {
    report::SuiteResult result;
    result.problem = problem;
    result.bounds = {{"x", "unfused", unfused_ms * 1e-3, "memory", 1},
                     {"x", "fused", fused_ms * 1e-3, "memory", 1},
                     {"y", "unfused", 1, "memory", 1},
                     {"y", "fused", 1, "memory", 1}};
    return report::render_line(result);
  }

  HeadroomOptions options(const std::string& csv) const {
    HeadroomOptions options;
    options.run = folder_;
    options.measured = {put("t.csv", csv)};
    options.arch = "x";
    return options;
  }

  fs::path folder_ = {};
};

TEST_F(HeadroomTest, RatiosAndGeometricMeans) {
  const auto found =
      headroom(options("problem,eager_ms,eager_min\nl1/a.py,9,8\nl1/b.py,4,\nl2/a,16,\n"));
  ASSERT_TRUE(found) << render_text(found.error());
  EXPECT_TRUE(found->strict);
  ASSERT_EQ(found->times.size(), 3u);
  EXPECT_EQ(found->times[0].problem, "l1/a.py");
  EXPECT_DOUBLE_EQ(found->times[0].headroom(), 8);  // the minimum where there is one
  EXPECT_DOUBLE_EQ(found->times[0].overhead(), 2);
  EXPECT_DOUBLE_EQ(found->times[0].fusion(), 4);
  ASSERT_EQ(found->groups.size(), 3u);
  EXPECT_EQ(found->groups[0].folder, "l1");
  EXPECT_DOUBLE_EQ(found->groups[0].headroom, 4);  // of 8 and 2
  EXPECT_DOUBLE_EQ(found->groups[0].overhead, 2);
  EXPECT_DOUBLE_EQ(found->groups[0].fusion, 2);
  EXPECT_EQ(found->groups[1].folder, "l2");
  EXPECT_EQ(found->groups[2].problems, 3);
  EXPECT_NEAR(found->groups[2].headroom, std::cbrt(8 * 2 * 4), 1e-12);
  EXPECT_DOUBLE_EQ(found->groups[2].median_share, 0.25);
  EXPECT_TRUE(found->violations.empty());
}

TEST_F(HeadroomTest, TimesBelowTheFloorComeFirst) {
  const auto found = headroom(options("problem,eager_ms\nl1/a.py,0.9\nl1/b.py,1\nl2/a.py,4\n"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->violations.size(), 2u);
  EXPECT_EQ(found->violations[0].problem, "l1/b.py");
  EXPECT_EQ(found->violations[1].problem, "l1/a.py");
  EXPECT_NE(render_text(*found).find("violations (2)"), std::string::npos);
}

TEST_F(HeadroomTest, WhatHasNoPartnerIsListed) {
  const auto found = headroom(options("problem,eager_ms\nb,4\na.py,4\nzz,1\n"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->times.size(), 1u);  // `a.py` may be one of two
  EXPECT_EQ(found->without_floor, (std::vector<std::string>{"a.py", "zz"}));
  EXPECT_EQ(found->not_measured, (std::vector<std::string>{"l1/a.py", "l2/a.py"}));
}

TEST_F(HeadroomTest, TimesWithoutADeviceAreOfTheChosenOne) {
  const auto found = headroom(options("problem,device,eager_ms\nl1/a.py,p,9\nl1/b.py,,9\n"));
  ASSERT_TRUE(found) << found.error().front().message;
  EXPECT_EQ(found->times.size(), 2u);
}

TEST_F(HeadroomTest, ChoicesThatAreMissingAreNamed) {
  const std::string csv = "problem,device,time_ms\nl1/a.py,p,9\nl1/b.py,q,9\n";
  const auto error = [](const HeadroomOptions& asked) {
    const auto found = headroom(asked);
    return found ? std::string("found") : render_text(found.error());
  };
  HeadroomOptions asked = options(csv);
  EXPECT_NE(error(asked).find("choose one with --device"), std::string::npos) << error(asked);
  asked.device = "r";
  EXPECT_NE(error(asked).find("the devices are `p` or `q`"), std::string::npos) << error(asked);
  asked.device = "q";
  EXPECT_EQ(error(asked), "found");
  asked.arch.reset();
  EXPECT_NE(error(asked).find("choose one with --arch"), std::string::npos) << error(asked);
  asked.arch = "x";
  asked.measured.push_back(asked.measured.front());
  EXPECT_NE(error(asked).find("is measured twice"), std::string::npos) << error(asked);
  asked.measured = {put("none.csv", "problem,time_s\nzz,1\n")};
  asked.device.reset();
  EXPECT_NE(error(asked).find("none of the measured problems"), std::string::npos) << error(asked);
  asked.run = folder_ / "nowhere";
  EXPECT_NE(error(asked).find("is not the folder of a run"), std::string::npos) << error(asked);
}

}  // namespace
}  // namespace solar::driver

#include "driver/headroom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

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

  static std::string line(const std::string& problem, double unfused_ms, double fused_ms,
                          double algebraic_ms = 0) {
    report::SuiteResult result;
    result.problem = problem;
    result.bounds = {{"x", "unfused", unfused_ms * 1e-3, "memory", 1},
                     {"x", "fused", fused_ms * 1e-3, "memory", 1},
                     {"y", "unfused", 1, "memory", 1},
                     {"y", "fused", 1, "memory", 1}};
    if (algebraic_ms > 0) {
      result.bounds.push_back({"x", "algebraic", algebraic_ms * 1e-3, "memory", 1});
      result.bounds.push_back({"y", "algebraic", 1, "memory", 1});
    }
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

TEST_F(HeadroomTest, TheAlgorithmIsTheThirdStep) {
  put("results.jsonl", line("l1/a.py", 4, 2, 0.5) + line("l1/b.py", 4, 2, 2) +
                           line("l1/c.py", 4, 1, 1) + line("l1/d.py", 2, 2, 1) +
                           line("l1/e.py", 2, 2));
  const auto found = headroom(
      options("problem,eager_ms\nl1/a.py,4\nl1/b.py,12\nl1/c.py,4\nl1/d.py,2\nl1/e.py,2\n"));
  ASSERT_TRUE(found) << render_text(found.error());
  EXPECT_TRUE(found->algebraic);
  std::map<std::string, report::HeadroomTime> by_name;
  for (const auto& time : found->times) by_name[time.problem] = time;
  EXPECT_DOUBLE_EQ(by_name["l1/a.py"].algorithm(), 4);
  EXPECT_DOUBLE_EQ(by_name["l1/a.py"].headroom(), 2);  // stays measured / fused
  EXPECT_DOUBLE_EQ(by_name["l1/e.py"].algorithm(), 1);
  EXPECT_FALSE(by_name["l1/e.py"].algebraic_s);
  ASSERT_EQ(found->groups.size(), 1u);
  EXPECT_DOUBLE_EQ(found->groups[0].algorithm, std::pow(4 * 1 * 1 * 2 * 1, 0.2));

  const std::string text = render_text(*found);
  const auto next = [&](const std::string& problem) {
    const size_t at = text.find("  " + problem);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(next("l1/a.py").find("algorithm"), std::string::npos) << text;
  EXPECT_NE(next("l1/b.py").find("kernels and launches"), std::string::npos) << text;
  EXPECT_NE(next("l1/c.py").find("fusion"), std::string::npos) << text;
  EXPECT_NE(next("l1/d.py").find("algorithm"), std::string::npos) << text;  // at the fused floor
  EXPECT_NE(next("l1/e.py").find("at the floor"), std::string::npos) << text;

  const auto json = nlohmann::json::parse(render_json(*found));
  EXPECT_EQ(json["times"][0]["algorithm"], 1);
  EXPECT_EQ(json["times"].back().contains("algorithm"),
            json["times"].back()["problem"] != "l1/e.py");
  EXPECT_NEAR(json["groups"][0]["algorithm"], std::pow(8, 0.2), 1e-12);
  const std::string csv = render_csv(*found);
  EXPECT_TRUE(csv.starts_with(
      "problem,implementation,measured_s,unfused_s,fused_s,limiter,headroom,overhead,fusion,"
      "algebraic_s,algorithm\r\n"));
  EXPECT_NE(csv.find("l1/a.py,eager,0.004,0.004,0.002,memory,2,1,2,0.0005,4\r\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("l1/e.py,eager,0.002,0.002,0.002,memory,1,1,1,,\r\n"), std::string::npos)
      << csv;
}

TEST_F(HeadroomTest, ProblemsInNoFolderCountOnce) {
  put("results.jsonl", line("a.py", 4, 1) + line("l1/b.py", 2, 2) + line("l1/c.py", 2, 2));
  const auto found = headroom(options("problem,eager_ms\na.py,8\nl1/b.py,4\nl1/c.py,4\n"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->groups.size(), 2u);
  EXPECT_EQ(found->groups.front().problems, 2);
  EXPECT_EQ(found->groups.back().folder, "");
  EXPECT_EQ(found->groups.back().problems, 3);
}

TEST_F(HeadroomTest, WithoutAlgebraThereIsNoAlgorithm) {
  const auto found = headroom(options("problem,eager_ms\nl1/a.py,9\n"));
  ASSERT_TRUE(found);
  for (const std::string& text : {render_text(*found), render_json(*found), render_csv(*found)}) {
    EXPECT_EQ(text.find("algorithm"), std::string::npos) << text;
    EXPECT_EQ(text.find("algebraic"), std::string::npos) << text;
  }
}

TEST_F(HeadroomTest, ViolationsAreLeftOutOfTheMeans) {
  const auto found = headroom(options("problem,eager_ms\nl1/a.py,0.5\nl1/b.py,4\nl2/a.py,2\n"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->groups.size(), 3u);
  EXPECT_EQ(found->groups[0].problems, 2);
  EXPECT_EQ(found->groups[0].violations, 1);
  EXPECT_DOUBLE_EQ(found->groups[0].headroom, 2);
  EXPECT_DOUBLE_EQ(found->groups[0].median_share, 0.5);
  EXPECT_EQ(found->groups[1].violations, 1);
  const auto json = nlohmann::json::parse(render_json(*found));
  EXPECT_EQ(json["groups"][0]["violations"], 1);
  EXPECT_FALSE(json["groups"][1].contains("headroom"));  // nothing is left
  const std::string text = render_text(*found);
  EXPECT_NE(text.find("violations are left out"), std::string::npos) << text;
  EXPECT_NE(text.find("left out  headroom"), std::string::npos) << text;
  EXPECT_NE(text.find("  next"), std::string::npos) << text;
  EXPECT_NE(text.find("below the floor"), std::string::npos) << text;
}

TEST_F(HeadroomTest, NextStaysBesideEveryOtherColumn) {
  put("results.jsonl",
      line("level1/13_ConvTranspose3d_Mean_Add_Softmax_Tanh_Scaling.py", 4, 2, 0.5) +
          line("level1/2_b.py", 4, 2, 2));
  const auto found =
      headroom(options("problem,compile_ms\n"
                       "level1/13_ConvTranspose3d_Mean_Add_Softmax_Tanh_Scaling.py,"
                       "1234.5\nlevel1/2_b.py,1.2345\n"));
  ASSERT_TRUE(found);
  const std::string text = render_text(*found);
  EXPECT_NE(text.find("  next"), std::string::npos) << text;
  EXPECT_NE(text.find("kernels and launches"), std::string::npos) << text;
  EXPECT_NE(text.find("below the floor"), std::string::npos) << text;
}

TEST_F(HeadroomTest, TimesOfAnotherDeviceAreWarnedOf) {
  const auto warned = [&](const std::string& arch, const std::string& device) {
    put("results.jsonl",
        R"({"schema":"solar.result/1","problem":"a.py","status":"passed","diagnostics":[],)"
        R"("bounds":[{"arch":")" +
            arch +
            R"(","mode":"fused","time_s":1},)"
            R"({"arch":")" +
            arch +
            R"(","mode":"unfused","time_s":1}]})"
            "\n");
    HeadroomOptions asked = options("problem,device,time_s\na.py," + device + ",2\n");
    asked.arch = arch;
    asked.known_archs = {"a100-sxm-80gb", "a6000",    "gaudi-3",   "h100-pcie",
                         "h100-sxm",      "h200-sxm", "orin-64gb", "rtx-4090"};
    const auto found = headroom(asked);
    EXPECT_TRUE(found) << render_text(found.error());
    return found && found->warnings.size() == 1 ? found->warnings[0] : std::string();
  };
  EXPECT_EQ(warned("a6000", "H100 PCIe"),
            "the times are of `H100 PCIe`, which is h100-pcie, the floors of a6000");
  EXPECT_NE(warned("h100-sxm", "NVIDIA H100 PCIe"), "");
  EXPECT_NE(warned("a6000", "NVIDIA A100-SXM4-80GB"), "");
  EXPECT_NE(warned("h100-sxm", "H200"), "");
  for (const auto& [arch, device] :
       std::vector<std::pair<std::string, std::string>>{{"h100-pcie", "NVIDIA H100 PCIe"},
                                                        {"h100-sxm", "NVIDIA H100 80GB HBM3"},
                                                        {"h100-pcie", "h100"},
                                                        {"a100-sxm-80gb", "NVIDIA A100-SXM4-80GB"},
                                                        {"a6000", "NVIDIA RTX A6000"},
                                                        {"a6000", "cuda:3"},
                                                        {"a6000", "mine"},
                                                        {"my-chip", "H100 PCIe"},
                                                        {"a6000", "NVIDIA RTX 6000"}}) {
    EXPECT_EQ(warned(arch, device), "") << arch << " " << device;
  }
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

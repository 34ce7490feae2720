#include "driver/suite_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "frontend/temporary_folder.h"
#include "report/suite_json.h"

namespace solar::driver {
namespace {

using Json = nlohmann::ordered_json;

const Json kOptions = {
    {"arch", Json::array({"a6000"})}, {"timeout_s", 300.0}, {"memory_limit_gib", nullptr}};

report::SuiteResult result(const std::string& problem) {
  report::SuiteResult r;
  r.problem = problem;
  r.status = "passed";
  return r;
}

class SuiteFolderTest : public testing::Test {
 protected:
  Result<SuiteFolder> open(bool resume, const Json& options = kOptions) const {
    return SuiteFolder::open(path_, options, resume);
  }
  /// A run with these results, closed again.
  void run(const std::vector<std::string>& problems) {
    auto folder = open(false);
    ASSERT_TRUE(folder);
    for (const std::string& problem : problems) ASSERT_TRUE(folder->add(result(problem)));
  }
  std::vector<std::string> resumed() {
    std::vector<std::string> names;
    auto folder = open(true);
    EXPECT_TRUE(folder);
    if (!folder) return names;
    for (const report::SuiteResult& r : folder->results()) names.push_back(r.problem);
    return names;
  }
  std::string text() const { return *read_file(path_ + "/results.jsonl"); }

  Result<frontend::TemporaryFolder> folder_ = frontend::TemporaryFolder::make();
  std::string path_ = folder_->file("run");
};

using Names = std::vector<std::string>;

TEST_F(SuiteFolderTest, ResultsAreThereAgain) {
  run({"a.py", "b/\xff.py"});
  EXPECT_EQ(resumed().front(), "a.py");
  EXPECT_EQ(resumed().size(), 2u);
}

TEST_F(SuiteFolderTest, ATornLineIsDroppedAtEveryByte) {
  run({"a.py", "b.py"});
  const std::string whole = text();
  const size_t second = whole.find('\n') + 1;
  for (size_t cut = second; cut < whole.size(); ++cut) {
    std::ofstream(path_ + "/results.jsonl", std::ios::trunc) << whole.substr(0, cut);
    EXPECT_EQ(resumed(), Names{"a.py"}) << cut;
    EXPECT_EQ(text(), whole.substr(0, second)) << cut;
  }
  auto folder = open(true);
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->add(result("b.py")));
  EXPECT_EQ(text(), whole);
}

TEST_F(SuiteFolderTest, ZerosAfterALossOfPowerAreATornLine) {
  run({"a.py"});
  const std::string whole = text();
  std::ofstream(path_ + "/results.jsonl", std::ios::app) << std::string(100, '\0');
  EXPECT_EQ(resumed(), Names{"a.py"});
  EXPECT_EQ(text(), whole);
}

TEST_F(SuiteFolderTest, WhatIsNoResultInTheMiddleIsAnError) {
  run({"a.py", "b.py"});
  const std::string whole = text();
  std::ofstream(path_ + "/results.jsonl", std::ios::trunc) << "{}\n" << whole;
  const auto broken = open(true);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error()[0].message.find("line 1"), std::string::npos);
  std::ofstream(path_ + "/results.jsonl", std::ios::trunc) << whole << whole;
  const auto doubled = open(true);
  ASSERT_FALSE(doubled);
  EXPECT_NE(doubled.error()[0].message.find("second result of `a.py`"), std::string::npos);
}

TEST_F(SuiteFolderTest, ARunIsNotOverwritten) {
  run({"a.py"});
  const auto again = open(false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error()[0].kind, DiagnosticKind::Usage);
  EXPECT_EQ(resumed(), Names{"a.py"});
}

TEST_F(SuiteFolderTest, OtherOptionsAreNamed) {
  run({"a.py"});
  Json other = kOptions;
  other["arch"] = Json::array({"b200"});
  const auto folder = open(true, other);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error()[0].message.find(R"(`arch` was ["a6000"], is ["b200"])"),
            std::string::npos)
      << folder.error()[0].message;
  EXPECT_EQ(folder.error()[0].message.find("timeout"), std::string::npos);
}

TEST_F(SuiteFolderTest, ARunFromBeforeTheAlgebraMayGoOn) {
  run({"a.py"});
  Json now = kOptions;
  now["algebra"] = true;
  EXPECT_TRUE(open(true, now));
  now["algebra"] = false;
  EXPECT_TRUE(open(true, now));
  now["params"] = "runtime";
  EXPECT_TRUE(open(true, now));
  now["params"] = "frozen";
  EXPECT_FALSE(open(true, now));
  now["params"] = "runtime";
  now["new"] = 1;
  EXPECT_FALSE(open(true, now));
}

TEST_F(SuiteFolderTest, TheAlgebraIsAnOptionOfTheRun) {
  Json now = kOptions;
  now["algebra"] = true;
  EXPECT_TRUE(open(false, now));
  EXPECT_TRUE(open(true, now));
  now["algebra"] = false;
  const auto other = open(true, now);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error()[0].message.find("`algebra` was true, is false"), std::string::npos);
}

TEST_F(SuiteFolderTest, TwoRunsDoNotShareAFolder) {
  const auto first = open(false);
  ASSERT_TRUE(first);
  const auto second = open(true);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error()[0].message.find("at work"), std::string::npos);
}

TEST_F(SuiteFolderTest, AnotherFolderIsLeftAlone) {
  ASSERT_TRUE(write_file(folder_->file("mine.txt"), "x"));
  const auto folder = SuiteFolder::open(folder_->path(), kOptions, true);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error()[0].kind, DiagnosticKind::Usage);
}

TEST_F(SuiteFolderTest, ResumeWithoutARunStartsOne) { EXPECT_EQ(resumed(), Names{}); }

}  // namespace
}  // namespace solar::driver

#include "driver/suite_problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "frontend/temporary_folder.h"

namespace solar::driver {
namespace {

std::vector<std::string> names_of(const std::vector<Problem>& problems) {
  std::vector<std::string> names;
  for (const Problem& problem : problems) names.push_back(problem.name);
  return names;
}

void touch(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "x";
}

TEST(NaturalOrder, NumbersCountByTheirValue) {
  const std::vector<std::string> ordered = {"1_a.py",
                                            "2_a.py",
                                            "02_b.py",
                                            "10_a.py",
                                            "99999999999999999999_a.py",
                                            "100000000000000000000_a.py",
                                            "a/1.py",
                                            "a-b/1.py",
                                            "a.py",
                                            "a1/2.py",
                                            "a1/10.py",
                                            "a10/1.py"};
  std::vector<std::string> sorted(ordered.rbegin(), ordered.rend());
  std::sort(sorted.begin(), sorted.end(), natural_less);
  EXPECT_EQ(sorted, ordered);
}

TEST(NaturalOrder, IsAnOrder) {
  const std::vector<std::string> names = {"",    "1",    "01", "001", "1a",   "a1",    "a01",
                                          "a/1", "a/01", "a",  "b",   "a1b2", "a1b10", "a01b2"};
  for (const std::string& a : names) {
    EXPECT_FALSE(natural_less(a, a));
    for (const std::string& b : names) {
      if (a != b) {
        EXPECT_NE(natural_less(a, b), natural_less(b, a)) << a << " and " << b;
      }
      for (const std::string& c : names) {
        if (natural_less(a, b) && natural_less(b, c)) {
          EXPECT_TRUE(natural_less(a, c)) << a << ", " << b << ", " << c;
        }
      }
    }
  }
}

TEST(FindProblems, NamesAreRelativeToTheFolderThatHoldsThem) {
  const auto folder = frontend::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  for (const char* name : {"level1/10_b.py", "level1/2_a.py", "level2/x.alir", "level2/x.txt",
                           ".hidden/y.py", "top.py"}) {
    touch(folder->file(name));
  }
  const auto all = find_problems({folder->path()});
  ASSERT_TRUE(all);
  EXPECT_EQ(names_of(*all), (std::vector<std::string>{"level1/2_a.py", "level1/10_b.py",
                                                      "level2/x.alir", "top.py"}));
  const auto some = find_problems(
      {folder->file("level2"), folder->file("level1"), folder->file("level1/2_a.py")});
  ASSERT_TRUE(some);
  EXPECT_EQ(names_of(*some),
            (std::vector<std::string>{"level1/2_a.py", "level1/10_b.py", "level2/x.alir"}));
  const auto one = find_problems({folder->file("level2/x.txt")});
  ASSERT_TRUE(one);
  EXPECT_EQ(names_of(*one), (std::vector<std::string>{"x.txt"}));
}

TEST(FindProblems, MembersAndModelsAreProblemsToo) {
  const auto folder = frontend::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  touch(folder->file("a/x.py"));
  const auto found = find_problems(
      {"hf:gpt2", folder->file("a/x.py:scale"), folder->file("a"), folder->file("a/x.py:scale")});
  ASSERT_TRUE(found);
  EXPECT_EQ(names_of(*found), (std::vector<std::string>{"hf:gpt2", "x.py", "x.py:scale"}));
  EXPECT_EQ(found->front().source, "hf:gpt2");
  EXPECT_TRUE(found->back().source.ends_with("a/x.py:scale"));
  const auto alone = find_problems({"hf:gpt2"});
  ASSERT_TRUE(alone);
  EXPECT_EQ(names_of(*alone), (std::vector<std::string>{"hf:gpt2"}));
}

TEST(FindProblems, NothingFoundIsAnError) {
  const auto folder = frontend::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto none = find_problems({folder->path()});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error()[0].kind, DiagnosticKind::Usage);
  const auto missing = find_problems({folder->file("missing")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].kind, DiagnosticKind::SourceFile);
}

}  // namespace
}  // namespace solar::driver

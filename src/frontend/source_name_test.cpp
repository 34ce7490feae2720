#include "frontend/source_name.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "frontend/temporary_folder.h"

namespace solar::frontend {
namespace {

TEST(SourceName, AFileOrAMemberOfOne) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  for (const char* name : {"a.py", "with space.py", "a:b.py", "a.pt2"})
    std::ofstream(folder->file(name)) << "\n";
  for (const char* name : {"a.py", "a.py:f", "with space.py", "a:b.py", "a:b.py:f", "a.pt2"}) {
    EXPECT_TRUE(check_source_name(folder->file(name))) << name;
  }
  EXPECT_TRUE(check_source_name("hf:gpt2"));
}

TEST(SourceName, WhatIsNoneIsRefusedWithAReason) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::ofstream(folder->file("a.txt")) << "\n";
  std::ofstream(folder->file("a.pt2")) << "\n";
  std::ofstream(folder->file("\xff.py")) << "\n";
  ASSERT_EQ(::mkdir(folder->file("d.py").c_str(), 0700), 0);
  ASSERT_EQ(::mkfifo(folder->file("p.py").c_str(), 0600), 0);
  const std::pair<const char*, const char*> cases[] = {
      {"none.py", "no such file"},
      {"none.py:f", "no such file"},
      {"a.txt", "unknown kind of source"},
      {"a.txt:f", "unknown kind of source"},
      {"a.pt2:f", "unknown kind of source"},
      {"d.py", "not a file but a directory"},
      {"p.py", "not a file but a named pipe"},
      {"a.txt/b.py", "Not a directory"},
      {"\xff.py", "is not UTF-8"},
  };
  for (const auto& [name, said] : cases) {
    const auto checked = check_source_name(folder->file(name));
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().front().kind, DiagnosticKind::SourceFile);
    EXPECT_NE(checked.error().front().message.find(said), std::string::npos)
        << checked.error().front().message;
  }
}

}  // namespace
}  // namespace solar::frontend

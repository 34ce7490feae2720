#include "frontend/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace solar::frontend {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsRemovedWithAllItHolds) {
  std::string path;
  {
    const auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.has_value());
    path = folder->path();
    fs::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/c") << "x";
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, AHandlerRemovesIt) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.has_value());
  const fs::path outside = fs::path(testing::TempDir()) / "solar-outside";
  std::ofstream(outside) << "kept";
  const fs::path path = folder->path();
  fs::create_directories(path / "a" / "b" / "c");
  fs::create_symlink(outside, path / "link");
  fs::create_symlink(outside.parent_path(), path / "folder link");
  for (int i = 0; i < 500; ++i)
    std::ofstream(path / "a" / ("a long name of a file " + std::to_string(i)));
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int) {
      TemporaryFolder::remove_in_handler();
      ::_exit(0);
    });
    std::raise(SIGTERM);
    ::_exit(1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(outside));
  fs::remove(outside);
}

TEST(TemporaryFolder, WhatIsGoneIsLeftAlone) {
  std::string path;
  {
    const auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.has_value());
    path = folder->path();
  }
  fs::create_directory(path);  // somebody else's, by the same name
  TemporaryFolder::remove_in_handler();
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

}  // namespace
}  // namespace solar::frontend

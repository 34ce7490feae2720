#include "exec/jit/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"

namespace solar::exec::native {
namespace {

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "solar-cache-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~DiskCacheTest() override { std::filesystem::remove_all(folder_); }

  static std::string key(int i) { return "text of kernel " + std::to_string(i); }
  /// What is stored for a key: long enough that a half-written file would show.
  static std::string object(int i) {
    return std::string(20000, static_cast<char>('a' + i % 26)) + std::to_string(i);
  }

  std::string folder_;
};

TEST_F(DiskCacheTest, FindsWhatWasPut) {
  const DiskCache cache(folder_ + "/made/when/needed");
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
  cache.put(key(1), object(1));
  cache.put(key(2), "");
  EXPECT_EQ(cache.find(key(1)), object(1));
  EXPECT_EQ(cache.find(key(2)), "");
  EXPECT_EQ(cache.find(key(3)), std::nullopt);
}

TEST_F(DiskCacheTest, WithoutAFolderNothingIsKept) {
  const DiskCache cache("");
  cache.put(key(1), object(1));
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
}

TEST_F(DiskCacheTest, DamagedFilesCountAsMissingAndAreWrittenAnew) {
  const DiskCache cache(folder_);
  const std::string small = "an object";
  cache.put(key(1), small);
  const std::string whole = *read_file(cache.path_of(key(1)));
  const auto damaged = [&](const std::string& content) {
    std::ofstream(cache.path_of(key(1)), std::ios::binary | std::ios::trunc) << content;
    return cache.find(key(1));
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    ASSERT_EQ(damaged(flipped), std::nullopt) << "byte " << at;
    ASSERT_EQ(damaged(whole.substr(0, at)), std::nullopt) << "cut off at " << at;
  }
  ASSERT_EQ(damaged(whole + "x"), std::nullopt);
  cache.put(key(1), small);
  EXPECT_EQ(cache.find(key(1)), small);
}

TEST_F(DiskCacheTest, ProcessesAtTheSameTimeSeeWholeObjectsOrNone) {
  constexpr int kProcesses = 4, kKeys = 8, kRounds = 200;
  const DiskCache cache(folder_);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    std::mt19937 random(static_cast<unsigned>(process));
    bool good = true;
    for (int round = 0; round < kRounds; ++round) {
      const int i = static_cast<int>(random() % kKeys);
      if (random() % 2 == 0) cache.put(key(i), object(i));
      const auto found = cache.find(key(i));
      good = good && (!found || *found == object(i));
    }
    ::_exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "process " << child;
  }
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(cache.find(key(i)), object(i));
}

}  // namespace
}  // namespace solar::exec::native

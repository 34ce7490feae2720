#include "frontend/temporary_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

namespace solar::frontend {
namespace {

constexpr const char* kPrefix = "solar-run-";
constexpr time_t kLeftAloneSeconds = 60;  // a folder is not locked at once when it is made

/// What a signal handler may look at: the path of the last folder made, empty once it is gone.
char in_use[4096] = "";

/// An entry of getdents64, as the kernel writes it.
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  unsigned char type;
  char name[1];
};

/// Everything in a folder. Async-signal-safe, unlike readdir.
void empty_folder(int folder, int depth) noexcept {
  constexpr int kDeepest = 8;
  constexpr int kPasses = 8;  // an entry may be passed over while its neighbours are removed
  alignas(Entry) char buffer[4096];
  for (int pass = 0; pass < kPasses; ++pass) {
    bool removed = false;
    ::lseek(folder, 0, SEEK_SET);
    for (long n; (n = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;) {
      for (long at = 0; at < n;) {
        const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
        const char* name = buffer + at + offsetof(Entry, name);
        at += entry->length;
        if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
        const int inner =
            depth < kDeepest
                ? ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                : -1;
        if (inner >= 0) {
          empty_folder(inner, depth + 1);
          ::close(inner);
        }
        removed |= ::unlinkat(folder, name, inner >= 0 ? AT_REMOVEDIR : 0) == 0;
      }
    }
    if (!removed) return;
  }
}

int lock_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

/// Removes what commands left behind that were killed: their folders are no longer locked.
void remove_abandoned(const std::string& base) {
  std::error_code error;
  std::filesystem::directory_iterator at(base, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string path = at->path().string();
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (info.st_uid != ::geteuid() || ::time(nullptr) - info.st_mtime < kLeftAloneSeconds) continue;
    const int fd = lock_folder(path);
    if (fd < 0) continue;
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    ::close(fd);
  }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  const char* given = std::getenv("TMPDIR");
  const std::string base = given != nullptr && *given != '\0' ? given : "/tmp";
  remove_abandoned(base);
  std::string pattern = fmt::format("{}/{}XXXXXX", base, kPrefix);
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::string message =
        fmt::format("cannot make a folder like `{}`: {}", pattern, std::strerror(errno));
    Diagnostic error = {.kind = DiagnosticKind::OutputFile, .message = std::move(message)};
    error.hint = "set TMPDIR to a folder that can be written";
    return error;
  }
  TemporaryFolder folder(std::move(pattern));
  folder.lock_ = lock_folder(folder.path_);
  if (folder.path_.size() < sizeof in_use) std::strcpy(in_use, folder.path_.c_str());
  return folder;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (!path_.empty() && path_ == in_use) in_use[0] = '\0';
  if (lock_ >= 0) ::close(lock_);
}

void TemporaryFolder::remove_in_handler() noexcept {
  if (in_use[0] == '\0') return;
  const int folder = ::open(in_use, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  empty_folder(folder, 0);
  ::close(folder);
  ::rmdir(in_use);
}

}  // namespace solar::frontend

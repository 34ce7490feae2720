#include "frontend/temporary_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

namespace solar::frontend {
namespace {

constexpr const char* kPrefix = "solar-run-";
constexpr time_t kLeftAloneSeconds = 60;  // a folder is not locked at once when it is made

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
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace solar::frontend

#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

namespace solar {
namespace {

constexpr off_t kLargestFile = off_t{1} << 30;     // places in a file have 32 bits
constexpr int64_t kPipesOfTheSystem = 0x50495045;  // PIPEFS_MAGIC
constexpr const char* kTooLarge = "it is larger than 1 GiB";

Diagnostic file_error(DiagnosticKind kind, const std::string& path, const char* doing, int error) {
  return {.kind = kind,
          .message = fmt::format("cannot {} `{}`: {}", doing, path, std::strerror(error))};
}

bool write_all(int fd, const std::string& content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::string_view kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Why what stands at `path` is not opened; empty if it may be read. Named pipes and devices may
/// never end; what was given as standard input, or made by a shell, is what the user wants.
std::string unreadable(const std::string& path, const struct stat& info) {
  if (S_ISREG(info.st_mode)) return info.st_size > kLargestFile ? kTooLarge : "";
  if (S_ISDIR(info.st_mode)) return std::strerror(EISDIR);
  struct stat standard_input = {};
  if (::fstat(STDIN_FILENO, &standard_input) == 0 && standard_input.st_dev == info.st_dev &&
      standard_input.st_ino == info.st_ino)
    return "";
  struct statfs system = {};
  if (S_ISFIFO(info.st_mode) && ::statfs(path.c_str(), &system) == 0 &&
      static_cast<int64_t>(system.f_type) == kPipesOfTheSystem)
    return "";
  return fmt::format("it is {}, not a file", kind_of(info.st_mode));
}

Diagnostic refusal(const std::string& path, std::string_view why) {
  return {.kind = DiagnosticKind::SourceFile,
          .message = fmt::format("cannot read `{}`: {}", path, why)};
}

Result<std::string> read_open(int fd, const std::string& path) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) info = {};
  std::string content;
  if (S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size <= kLargestFile)
    content.reserve(static_cast<size_t>(info.st_size));
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(DiagnosticKind::SourceFile, path, "read", errno);
    if (n == 0) return content;
    content.append(buffer, static_cast<size_t>(n));
    if (content.size() > static_cast<size_t>(kLargestFile)) return refusal(path, kTooLarge);
  }
}

}  // namespace

std::string_view irregular_kind(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? kind_of(info.st_mode) : "";
}

bool is_regular_file(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return read_open(STDIN_FILENO, "standard input");
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    const std::string why = unreadable(path, info);
    if (!why.empty()) return refusal(path, why);
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file_error(DiagnosticKind::SourceFile, path, "read", errno);
  auto content = read_open(fd, path);
  ::close(fd);
  return content;
}

Result<Done> write_file(const std::string& path, const std::string& content) {
  if (path == "-") {
    if (!write_all(STDOUT_FILENO, content)) {
      return file_error(DiagnosticKind::OutputFile, "standard output", "write to", errno);
    }
    return Done{};
  }
  std::error_code error_code;
  if (std::filesystem::is_symlink(path, error_code)) {
    const std::filesystem::path target = std::filesystem::canonical(path, error_code);
    if (!error_code) return write_file(target.string(), content);  // the link stays a link
  }
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    // A device, pipe or terminal is written in place; a directory fails in open below.
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return file_error(DiagnosticKind::OutputFile, path, "write", errno);
    const bool ok = write_all(fd, content);
    const int error = errno;
    ::close(fd);
    if (!ok) return file_error(DiagnosticKind::OutputFile, path, "write", error);
    return Done{};
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return file_error(DiagnosticKind::OutputFile, path, "write", errno);
  if (exists && ::fchmod(fd, info.st_mode & 07777) != 0) errno = 0;  // its owner may be another
  const bool written = write_all(fd, content);
  int error = errno;
  ::close(fd);
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return Done{};
  if (written) error = errno;
  ::unlink(temporary.c_str());
  return file_error(DiagnosticKind::OutputFile, path, "write", error);
}

}  // namespace solar

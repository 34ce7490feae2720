#include "frontend/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace solar::frontend {

Result<TemporaryFolder> TemporaryFolder::make() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = fmt::format("{}/solar-XXXXXX", base && *base ? base : "/tmp");
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::string message =
        fmt::format("cannot make a folder like `{}`: {}", pattern, std::strerror(errno));
    Diagnostic error = {.kind = DiagnosticKind::OutputFile, .message = std::move(message)};
    error.hint = "set TMPDIR to a folder that can be written";
    return error;
  }
  return TemporaryFolder(std::move(pattern));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace solar::frontend

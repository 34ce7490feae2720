#pragma once
// A folder for the files of one command, removed with all it holds.

#include <string>

#include "base/result.h"

namespace solar::frontend {

class TemporaryFolder {
 public:
  /// A new folder under $TMPDIR, or /tmp.
  static Result<TemporaryFolder> make();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  /// A path inside the folder.
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace solar::frontend

#pragma once
// A folder for the files of one command, removed with all it holds.

#include <string>

#include "base/result.h"

namespace solar::frontend {

class TemporaryFolder {
 public:
  /// A new folder under $TMPDIR, or /tmp. Removes folders that a killed command left there.
  static Result<TemporaryFolder> make();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  /// Removes the last folder made, if it is still there. For a signal handler that ends the
  /// process: async-signal-safe, takes no memory.
  static void remove_in_handler() noexcept;

  const std::string& path() const { return path_; }
  /// A path inside the folder.
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  int lock_ = -1;  // held for as long as the folder is in use
};

}  // namespace solar::frontend

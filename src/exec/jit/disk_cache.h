#pragma once
// Compiled objects on disk, one file each, found by the whole text they were compiled from. Safe
// for processes at the same time: files appear by a rename, and one that is cut off, damaged or of
// another text counts as missing and is written anew.

#include <cstdint>
#include <optional>
#include <string>

namespace solar::exec::native {

class DiskCache {
 public:
  /// An empty folder name: nothing is kept.
  explicit DiskCache(std::string folder) : folder_(std::move(folder)) {}

  std::optional<std::string> find(const std::string& key) const;
  /// Failures are silent: the cache is only there to save time.
  void put(const std::string& key, const std::string& object) const;
  std::string path_of(const std::string& key) const;

 private:
  std::string folder_;
};

/// $XDG_CACHE_HOME/solar/kernels, or the like under ~/.cache, or empty.
std::string default_cache_folder();

/// 128 bits of FNV-1a, as hexadecimal.
std::string hash_of(const std::string& text);

}  // namespace solar::exec::native

#include "exec/jit/disk_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/file.h"

namespace solar::exec::native {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'s', 'o', 'l', 'a', 'r', 'k', '0', '1'};
constexpr size_t kMostFiles = 20000;

struct Header {
  char magic[8];
  uint64_t key_size;
  uint64_t object_size;
  uint64_t checksum;
};

uint64_t fnv(const std::string& text, uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<uint8_t>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

uint64_t checksum_of(const std::string& key, const std::string& object) {
  return fnv(object, fnv(key, 0xcbf29ce484222325U));
}

/// Removes the older half of a folder that has grown too large.
void prune(const std::string& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto time = entry.last_write_time(error);
    if (!error) files.emplace_back(time, entry.path());
  }
  if (files.size() <= kMostFiles) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i < files.size() / 2; ++i) fs::remove(files[i].second, error);
}

}  // namespace

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}{:016x}", fnv(text, 0xcbf29ce484222325U),
                     fnv(text, 0x9ae16a3b2f90404fU));
}

std::string default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return fmt::format("{}/solar/kernels", cache);
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return fmt::format("{}/.cache/solar/kernels", home);
  return {};
}

std::string DiskCache::path_of(const std::string& key) const {
  return fmt::format("{}/{}", folder_, hash_of(key));
}

std::optional<std::string> DiskCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const auto content = read_file(path_of(key));
  Header header = {};
  if (!content || content->size() < sizeof header) return std::nullopt;
  std::memcpy(&header, content->data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key_size != key.size() ||
      content->size() - sizeof header != header.key_size + header.object_size ||
      content->compare(sizeof header, key.size(), key) != 0) {
    return std::nullopt;
  }
  std::string object = content->substr(sizeof header + key.size());
  if (header.checksum != checksum_of(key, object)) return std::nullopt;
  return object;
}

void DiskCache::put(const std::string& key, const std::string& object) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_size = key.size();
  header.object_size = object.size();
  header.checksum = checksum_of(key, object);
  const std::string path = path_of(key);
  static_cast<void>(write_file(
      path, std::string(reinterpret_cast<const char*>(&header), sizeof header) + key + object));
  // One file in so many looks whether it is time to clear up.
  if (path.ends_with("00")) prune(folder_);
}

}  // namespace solar::exec::native

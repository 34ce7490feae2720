#include "arch/nearest.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace solar::arch {
namespace {

std::string normalised(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '_' || c == ' ') {
      result += '-';
    } else {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

/// 0 is best; negative: not near.
int badness(const std::string& name, const std::string& candidate) {
  if (name == candidate) return 0;
  if (name.empty()) return -1;
  if (candidate.starts_with(name)) return 1;
  if (name.size() >= 2 && candidate.find(name) != std::string::npos) return 2;
  if (candidate.size() >= 2 && name.find(candidate) != std::string::npos) return 3;
  const int distance = static_cast<int>(edit_distance(name, candidate));
  const int allowed = std::max(1, static_cast<int>(std::min(name.size(), candidate.size())) / 3);
  return distance <= allowed ? 3 + distance : -1;
}

}  // namespace

std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates,
                                 size_t limit) {
  constexpr size_t kLongestName = 100;  // a longer text is no mistyped name, and would cost time
  if (name.size() > kLongestName) return {};
  std::vector<std::pair<int, std::string>> found;
  const std::string wanted = normalised(name);
  for (const std::string& candidate : candidates) {
    const int rank = badness(wanted, normalised(candidate));
    if (rank >= 0) found.emplace_back(rank, candidate);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > limit) found.resize(limit);
  std::vector<std::string> result;
  for (auto& [rank, candidate] : found) result.push_back(std::move(candidate));
  return result;
}

}  // namespace solar::arch

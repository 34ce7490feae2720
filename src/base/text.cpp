#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace solar {

namespace {

constexpr size_t kMaxName = 100;  // longer ones are not typed

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  std::vector<size_t> above = row;
  std::vector<size_t> before_above = row;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_above, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, std::string>> scored;
  if (name.size() > kMaxName) return {};
  for (const std::string& candidate : names) {
    if (candidate.size() > 2 * kMaxName) continue;
    // Every letter is one change away from every other.
    const bool one_letter = name.size() == 1 && candidate.size() == 1;
    if (one_letter && std::tolower(static_cast<unsigned char>(name[0])) !=
                          std::tolower(static_cast<unsigned char>(candidate[0]))) {
      continue;
    }
    const bool prefix = !name.empty() && candidate.starts_with(name);
    const size_t distance = prefix ? 0 : edit_distance(name, candidate);
    if (prefix || distance <= std::max<size_t>(1, name.size() / 3)) {
      scored.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (const auto& [distance, candidate] : scored) {
    if (nearest.size() < 3) nearest.push_back(candidate);
  }
  return nearest;
}

std::string quoted_choices(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += '`' + names[i] + '`';
  }
  return out;
}

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace solar

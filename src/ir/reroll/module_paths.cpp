#include "ir/reroll/module_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace solar::ir {
namespace {

using PathSteps = std::vector<std::string>;

PathSteps steps_of(const std::string& path) {
  PathSteps steps;
  std::istringstream in(path);
  for (std::string step; std::getline(in, step, '.');) steps.push_back(step);
  return steps;
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "." + b;
}

std::string joined(PathSteps::const_iterator begin, PathSteps::const_iterator end) {
  return fmt::format("{}", fmt::join(begin, end, "."));
}

}  // namespace

bool ModulePaths::add(const std::vector<std::string>& paths) {
  const auto is_first = [&](const std::string& path) { return path == paths.front(); };
  const auto is_pattern = [](const std::string& path) { return path.find('*') != path.npos; };
  if (std::any_of(paths.begin(), paths.end(), is_pattern)) return false;
  if (std::all_of(paths.begin(), paths.end(), is_first)) {
    paths_.push_back({paths.front(), "", "", false});
    return true;
  }
  std::vector<PathSteps> steps;
  for (const std::string& path : paths) steps.push_back(steps_of(path));
  const PathSteps& first = steps.front();
  size_t start = first.size();
  for (const PathSteps& other : steps) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
    start = std::min(start, static_cast<size_t>(a - first.begin()));
  }
  size_t tail = first.size() - start;
  for (const PathSteps& other : steps) {
    const auto [a, b] = std::mismatch(first.rbegin(), first.rend(), other.rbegin(), other.rend());
    tail = std::min({tail, static_cast<size_t>(a - first.rbegin()), other.size() - start});
  }
  std::vector<std::string> parts;
  for (const PathSteps& one : steps) {
    const auto from = one.begin() + static_cast<std::ptrdiff_t>(start);
    const auto to = one.end() - static_cast<std::ptrdiff_t>(tail);
    if (from == to) return false;
    parts.push_back(joined(from, to));
  }
  if (parts_.empty()) parts_ = parts;
  if (parts_ != parts) return false;
  paths_.push_back({"", joined(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(start)),
                    joined(first.end() - static_cast<std::ptrdiff_t>(tail), first.end()), true});
  return true;
}

/// Whether all paths that differ are the same up to there: then the call gives the whole path.
bool ModulePaths::same_start() const {
  const std::string* start = nullptr;
  for (const Path& path : paths_) {
    if (!path.differs) continue;
    if (start != nullptr && *start != path.before) return false;
    start = &path.before;
  }
  return true;
}

std::string ModulePaths::in_function(size_t i) const {
  const Path& path = paths_[i];
  if (!path.differs) return path.whole;
  return joined(same_start() ? "*" : joined(path.before, "*"), path.after);
}

std::vector<std::string> ModulePaths::of_calls() const {
  std::vector<std::string> calls = parts_;
  const auto differing =
      std::find_if(paths_.begin(), paths_.end(), [](const Path& path) { return path.differs; });
  if (differing == paths_.end() || !same_start()) return calls;
  for (std::string& call : calls) call = joined(differing->before, call);
  return calls;
}

}  // namespace solar::ir

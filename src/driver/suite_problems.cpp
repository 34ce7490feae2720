#include "driver/suite_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/printable.h"
#include "frontend/source_name.h"

namespace solar::driver {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The digits that `text` starts with, without leading zeros; `text` loses them all.
std::string_view take_number(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Below, equal to or above 0.
int compare(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y)) return order;
      continue;
    }
    // A folder's end comes before any other character: what is in `a/` stays together.
    const int x = a.front() == '/' ? -1 : static_cast<unsigned char>(a.front());
    const int y = b.front() == '/' ? -1 : static_cast<unsigned char>(b.front());
    if (x != y) return x < y ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() ? (b.empty() ? 0 : -1) : 1;
}

Diagnostic source_error(const fs::path& path, const std::error_code& error) {
  return {.kind = DiagnosticKind::SourceFile,
          .message = fmt::format("cannot read `{}`: {}", path.string(), error.message())};
}

bool is_problem(const fs::path& path) {
  const fs::path ending = path.extension();
  return ending == ".py" || ending == ".pt2" || ending == ".alir";
}

Result<Done> add_folder(const fs::path& folder, std::vector<fs::path>& found) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      if (at->path().filename().string().starts_with(".")) at.disable_recursion_pending();
    } else if (at->is_regular_file(ignored) && is_problem(at->path())) {
      found.push_back(at->path());
    }
  }
  if (error) return source_error(folder, error);
  return Done{};
}

/// The longest path that both lie under.
fs::path common_folder(const fs::path& a, const fs::path& b) {
  fs::path common;
  auto x = a.begin();
  auto y = b.begin();
  for (; x != a.end() && y != b.end() && *x == *y; ++x, ++y) common /= *x;
  return common;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const int order = compare(a, b);
  return order != 0 ? order < 0 : a < b;
}

Result<std::vector<Problem>> find_problems(const std::vector<std::string>& sources) {
  std::vector<fs::path> found;
  std::vector<Problem> problems;
  fs::path base;
  for (const std::string& source : sources) {
    if (frontend::is_model(source)) {
      problems.push_back({printable_line(source), source});
      continue;
    }
    std::error_code error;
    const auto [file, member] = frontend::split_source_name(source);
    fs::path path = fs::canonical(file, error);
    if (error) return source_error(file, error);
    const bool is_folder = fs::is_directory(path, error);
    path += member;
    if (is_folder) {
      SOLAR_TRY([[maybe_unused]] const Done added, add_folder(path, found));
    } else {
      found.push_back(path);
    }
    const fs::path folder = is_folder ? path : path.parent_path();
    base = base.empty() ? folder : common_folder(base, folder);
  }
  if (found.empty() && problems.empty()) {
    return Diagnostic{
        .kind = DiagnosticKind::Usage,
        .message = fmt::format("no .py, .pt2 or .alir file under {}", fmt::join(sources, ", "))};
  }
  for (const fs::path& path : found) {
    problems.push_back({printable_line(path.lexically_relative(base).string()), path.string()});
  }
  std::sort(problems.begin(), problems.end(),
            [](const Problem& a, const Problem& b) { return natural_less(a.name, b.name); });
  const auto same = [](const Problem& a, const Problem& b) { return a.name == b.name; };
  problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
  return problems;
}

}  // namespace solar::driver

#include "driver/sizes_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/checked.h"

namespace solar::driver {
namespace {

constexpr size_t kMostValues = 10'000;

Diagnostic wrong(const std::string& text, const std::string& what) {
  return {.kind = DiagnosticKind::Usage,
          .message = fmt::format("`--bind {}`: {}", text, what),
          .hint =
              "for instance `--bind N=1,2,4..256` (4 doubled up to 256) or `N=8..32:4` (in "
              "steps of 4)"};
}

std::optional<int64_t> integer(const std::string& text) {
  int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

Result<std::vector<int64_t>> values_of(const std::string& text, const std::string& whole) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) {
    const auto value = integer(text);
    if (!value) return wrong(whole, fmt::format("`{}` is not an integer of 64 bits", text));
    return std::vector<int64_t>{*value};
  }
  const size_t colon = text.find(':', dots);
  const auto first = integer(text.substr(0, dots));
  const auto last =
      integer(text.substr(dots + 2, colon == std::string::npos ? colon : colon - dots - 2));
  const auto step = colon == std::string::npos ? 1 : integer(text.substr(colon + 1));
  if (!first || !last || !step || *first < 1 || *step < 1 || *last < *first)
    return wrong(whole, fmt::format("`{}` is not a range of sizes", text));
  std::vector<int64_t> values;
  std::optional<int64_t> next = *first;
  while (next && *next <= *last) {
    if (values.size() == kMostValues)
      return wrong(whole, fmt::format("`{}` is more than {} sizes", text, kMostValues));
    values.push_back(*next);
    next = colon == std::string::npos ? checked_mul(*next, int64_t{2}) : checked_add(*next, *step);
  }
  return values;
}

}  // namespace

Result<std::vector<DimSizes>> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<DimSizes> dims;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const bool named = equals != std::string::npos;
    if (named && equals == 0) return wrong(text, "the dim's name is missing");
    if (!named && dims.empty()) return wrong(text, "the dim's name is missing");
    SOLAR_TRY(const std::vector<int64_t> values,
              values_of(named ? text.substr(equals + 1) : text, text));
    if (named) {
      const std::string name = text.substr(0, equals);
      const bool known =
          std::any_of(dims.begin(), dims.end(), [&](const auto& dim) { return dim.first == name; });
      if (known) return wrong(text, fmt::format("`{}` is given twice", name));
      dims.emplace_back(name, std::vector<int64_t>{});
    }
    std::vector<int64_t>& all = dims.back().second;
    for (const int64_t value : values) {
      if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
    }
  }
  return dims;
}

}  // namespace solar::driver

#pragma once
// Which known names a mistyped one may have meant.

#include <string>
#include <string_view>
#include <vector>

namespace solar::arch {

/// The candidates that start with `name`, contain it or stand in it, or are a few edits away; best
/// first, at most `limit`. Case, `_` and blanks do not matter.
std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates,
                                 size_t limit = 4);

}  // namespace solar::arch

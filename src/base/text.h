#pragma once
// Small text helpers shared by every stage.

#include <string>
#include <string_view>
#include <vector>

namespace solar {

/// The edit distance between two names (insert, delete, replace, swap neighbours, each 1).
size_t edit_distance(std::string_view a, std::string_view b);

/// Those of `names` close enough to `name` to be what was meant, nearest first, at most three.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& names);

/// `a`, `b` or `c` in backquotes; empty for none.
std::string quoted_choices(const std::vector<std::string>& names);

/// "1 value", "2 values".
std::string counted(size_t count, std::string_view what);

}  // namespace solar

#pragma once
// Which problems a run is over, and in which order.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solar::driver {

struct Problem {
  std::string name;    // relative to the folder that holds all sources; what results call it
  std::string source;  // the path to open, with its member; or `hf:...`
};

/// Orders paths folder by folder, numbers in names by their value: 2_x before 10_x.
bool natural_less(std::string_view a, std::string_view b);

/// The .py, .pt2 and .alir files under the folders (but not in hidden ones), the files named
/// (`file.py:member` too) and the models named `hf:...`, in natural order, each once. A file named
/// may have any ending; what is wrong with it is its result. What is missing or unreadable, and
/// finding none, are errors.
Result<std::vector<Problem>> find_problems(const std::vector<std::string>& sources);

}  // namespace solar::driver

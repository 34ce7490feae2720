#pragma once
// The pages of docs/diagnostics/ and docs/assumptions/, embedded by the build.

#include <string>
#include <vector>

namespace solar::report {

struct Page {
  std::string name;  // `subscript-range`
  std::string text;  // Markdown
};

/// Sorted by name within each folder.
const std::vector<Page>& pages();

}  // namespace solar::report

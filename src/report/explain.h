#pragma once
// What `solar explain` knows: a page for each kind of diagnostic and each assumption.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace solar::report {

/// The page as Markdown, ending with a line break. A detail after a dot
/// (`uncertain-peak.tensor.fp8`) may be left out or not.
std::optional<std::string> explain_page(std::string_view topic);

/// All names that have a page, sorted.
std::vector<std::string> explain_topics();

/// All of them with what each is in a line of at most `width` columns: errors, then assumptions.
std::string explain_list(size_t width);

}  // namespace solar::report

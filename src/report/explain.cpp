#include "report/explain.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "report/pages.h"
#include "report/table.h"

namespace solar::report {
namespace {

/// Of a page's first paragraph, without the full stop.
std::string first_sentence(std::string_view page) {
  page.remove_prefix(std::min(page.find("\n\n") + 2, page.size()));
  std::string text(page.substr(0, page.find("\n\n")));
  std::replace(text.begin(), text.end(), '\n', ' ');
  size_t end = text.find(". ");
  while (end != std::string::npos && end > 0 && text[end - 1] == '.')
    end = text.find(". ", end + 1);
  text = text.substr(0, end);  // the dots of a range end no sentence
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

std::optional<std::string> explain_page(std::string_view topic) {
  const std::string_view name = topic.substr(0, topic.find('.'));
  for (const Page& page : pages()) {
    if (page.name == name) return page.text;
  }
  return std::nullopt;
}

std::vector<std::string> explain_topics() {
  std::vector<std::string> topics;
  for (const Page& page : pages()) topics.push_back(page.name);
  std::sort(topics.begin(), topics.end());
  return topics;
}

std::string explain_list(size_t width) {
  const std::vector<DiagnosticKind> kinds = all_diagnostic_kinds();
  Table errors({{.title = "error"}, {.title = "what it says", .shrinks_to = 20}});
  Table assumptions(
      {{.title = "assumption"}, {.title = "what it takes for granted", .shrinks_to = 20}});
  for (const std::string& topic : explain_topics()) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                   [&](DiagnosticKind k) { return slug(k) == topic; });
    if (kind != kinds.end()) {
      errors.row({topic, std::string(summary(*kind))});
    } else {
      assumptions.row({topic, first_sentence(*explain_page(topic))});
    }
  }
  return errors.render(width) + "\n" + assumptions.render(width);
}

}  // namespace solar::report

#include "report/explain.h"

#include <algorithm>

#include "report/pages.h"

namespace solar::report {

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

}  // namespace solar::report

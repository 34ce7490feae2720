#include "report/explain.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "command.h"

namespace solar::cli {
namespace {

int explain(const std::string& topic) {
  if (topic.empty()) {
    const int width = terminal_width(STDOUT_FILENO);
    fmt::print("{}\n`solar explain NAME` prints the page of one\n",
               report::explain_list(static_cast<size_t>(width)));
    return kDone;
  }
  const auto page = report::explain_page(topic);
  if (page) {
    fmt::print("{}", *page);
    return kDone;
  }
  const auto near = nearest_names(topic, report::explain_topics());
  return usage_error(fmt::format("nothing is known of `{}`", topic),
                     near.empty() ? "`solar explain` lists all kinds"
                                  : fmt::format("did you mean {}?", quoted_choices(near)));
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("explain", "a page on a kind of diagnostic or an assumption");
  auto topic = std::make_shared<std::string>();
  command->add_option("KIND", *topic, "the word in brackets after `error`; none: list all");
  command->footer("example: solar explain subscript-range");
  command->callback([&run, topic] { run = [topic] { return explain(*topic); }; });
}

}  // namespace solar::cli

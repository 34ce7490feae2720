#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/flops.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

constexpr size_t kPlacesShown = 4;

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string name_of(const FlopsRow& row) {
  const std::string indent(static_cast<size_t>(std::max<int64_t>(row.depth, 0)) * 2, ' ');
  if (row.kind == FlopsRow::Kind::Total) return "total";
  if (row.kind == FlopsRow::Kind::Module) return indent + last_part(row.module);
  return fmt::format("{}({}) {}", indent, row.module.empty() ? "without module" : "itself",
                     fmt::join(row.operators, ", "));
}

std::string table_text(const Flops& flops, const Style& style) {
  Table table({{.title = "module", .shrinks_to = 16},
               {.title = "parameters", .right = true},
               {.title = "MACs", .right = true},
               {.title = "useful", .right = true},
               {.title = "elementwise", .right = true},
               {.title = "special", .right = true, .may_go = true},
               {.title = "bytes in", .right = true},
               {.title = "bytes out", .right = true}});
  const auto count = [](int64_t n) { return n == 0 ? "-" : count_text(static_cast<double>(n)); };
  const auto bytes = [](int64_t n) { return n == 0 ? "-" : bytes_text(static_cast<double>(n)); };
  for (const FlopsRow& row : flops.rows) {
    const FlopsCounts& c = row.counts;
    table.row({name_of(row), count(c.parameters), count(c.macs), count(c.macs_useful),
               count(c.elementwise_ops), count(c.special_ops), bytes(c.bytes_in),
               bytes(c.bytes_out)});
  }
  return table.render(style.width());
}

/// What is not counted, by reason and operator, with the first places.
std::string omissions_text(const std::vector<FlopsOmission>& omissions, const Style& style) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const FlopsOmission& o : omissions) {
    auto& places = groups[{o.why, o.op}];
    places.push_back(o.at.empty() ? o.module : o.at);
  }
  std::map<std::string, std::string> texts;
  for (const auto& [key, places] : groups) {
    std::string& text = texts[key.first];
    text += fmt::format("{}{}", text.empty() ? "" : ", ", key.second);
    if (places.size() > 1) text += fmt::format(" ({} times)", places.size());
    std::vector<std::string> shown;
    for (const std::string& place : places) {
      const bool known = std::find(shown.begin(), shown.end(), place) != shown.end();
      if (!place.empty() && !known && shown.size() < kPlacesShown) shown.push_back(place);
    }
    if (!shown.empty()) text += fmt::format(" at {}", fmt::join(shown, ", "));
  }
  std::string result;
  for (const auto& [why, text] : texts) {
    result += style.titled(Tone::Heading, fmt::format("not counted, {}", why), text);
  }
  return result;
}

}  // namespace

std::string render_text(const Flops& flops, const TextOptions& options) {
  const Style style(options);
  std::string text =
      paragraph("", fmt::format("{}: {}", flops.source, flops.program), style.width(), 2);
  text += validation_text(flops.validation, style);
  text += warnings_text(flops.warnings, style);
  text += "\n" + table_text(flops, style);
  const std::string omissions = omissions_text(flops.not_counted, style);
  return omissions.empty() ? text : text + "\n" + omissions;
}

}  // namespace solar::report

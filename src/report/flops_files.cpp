#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/csv.h"
#include "report/flops.h"

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

const char* name(FlopsRow::Kind kind) {
  switch (kind) {
    case FlopsRow::Kind::Total:
      return "total";
    case FlopsRow::Kind::Module:
      return "module";
    case FlopsRow::Kind::Own:
      return "own";
  }
  return "";
}

/// The columns with their names, in order.
std::array<std::pair<const char*, int64_t>, 7> columns_of(const FlopsCounts& c) {
  return {{{"parameters", c.parameters},
           {"macs", c.macs},
           {"macs_useful", c.macs_useful},
           {"elementwise_ops", c.elementwise_ops},
           {"special_ops", c.special_ops},
           {"bytes_in", c.bytes_in},
           {"bytes_out", c.bytes_out}}};
}

}  // namespace

std::string render_json(const Flops& flops) {
  Json out = {{"schema", "solar.flops/1"}, {"source", flops.source}, {"program", flops.program}};
  out["validation"] = {{"status", flops.validation.status}};
  if (!flops.validation.method.empty()) out["validation"]["method"] = flops.validation.method;
  if (!flops.validation.reason.empty()) out["validation"]["reason"] = flops.validation.reason;
  Json& rows = out["rows"] = Json::array();
  for (const FlopsRow& row : flops.rows) {
    Json object = {{"row", name(row.kind)}, {"module", row.module}, {"depth", row.depth}};
    if (!row.operators.empty()) object["operators"] = row.operators;
    for (const auto& [column, value] : columns_of(row.counts)) object[column] = value;
    rows.push_back(std::move(object));
  }
  Json& omissions = out["not_counted"] = Json::array();
  for (const FlopsOmission& o : flops.not_counted) {
    Json object = {{"op", o.op}};
    if (!o.at.empty()) object["at"] = o.at;
    if (!o.module.empty()) object["module"] = o.module;
    object["why"] = o.why;
    omissions.push_back(std::move(object));
  }
  out["warnings"] = flops.warnings;
  return out.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string render_csv(const Flops& flops) {
  std::string text = "row,module,depth,operators";
  for (const auto& [column, value] : columns_of({})) text += fmt::format(",{}", column);
  text += "\r\n";
  for (const FlopsRow& row : flops.rows) {
    text += fmt::format("{},{},{},{}", name(row.kind), csv_cell(row.module), row.depth,
                        csv_cell(fmt::format("{}", fmt::join(row.operators, " "))));
    for (const auto& [column, value] : columns_of(row.counts)) text += fmt::format(",{}", value);
    text += "\r\n";
  }
  return text;
}

}  // namespace solar::report

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/csv.h"
#include "report/sweep.h"

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const SweepTimes& t) {
  Json out = {
      {"arch", t.arch}, {"unfused_s", t.unfused_s}, {"fused_s", t.fused_s}, {"limiter", t.limiter}};
  if (t.operational_intensity) out["operational_intensity"] = *t.operational_intensity;
  return out;
}

Json to_json(const SweepRow& row) {
  Json out = {{"bindings", Json::object()}};
  for (const auto& [dim, value] : row.sizes) out["bindings"][dim] = value;
  if (!row.error.empty()) {
    out["error"] = row.error;
    return out;
  }
  out["macs"] = row.macs;
  out["macs_useful"] = row.macs_useful;
  out["traffic_bytes"] = row.traffic_bytes;
  Json& times = out["bounds"] = Json::array();
  for (const SweepTimes& t : row.times) times.push_back(to_json(t));
  return out;
}

}  // namespace

std::string render_json(const Sweep& s) {
  Json out = {{"schema", "solar.sweep/1"},
              {"source", s.source},
              {"program", s.program},
              {"precision", s.precision},
              {"strict", s.strict}};
  out["validation"] = {{"status", s.validation.status}};
  if (!s.validation.method.empty()) out["validation"]["method"] = s.validation.method;
  if (!s.validation.reason.empty()) out["validation"]["reason"] = s.validation.reason;
  out["dims"] = s.dims;
  Json& rows = out["rows"] = Json::array();
  for (const SweepRow& row : s.rows) rows.push_back(to_json(row));
  Json& crossovers = out["crossovers"] = Json::array();
  for (const Crossover& c : s.crossovers) {
    crossovers.push_back({{"arch", c.arch},
                          {"dim", c.dim},
                          {"before", c.before},
                          {"last", c.last},
                          {"after", c.after},
                          {"first", c.first}});
  }
  out["assumptions"] = s.assumptions;
  out["warnings"] = s.warnings;
  return out.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string render_csv(const Sweep& s) {
  std::string text;
  for (const std::string& dim : s.dims) text += csv_cell(dim) + ",";
  text += "arch,macs,macs_useful,traffic_bytes,unfused_s,fused_s,limiter,operational_intensity\r\n";
  for (const SweepRow& row : s.rows) {
    if (!row.error.empty()) continue;
    std::string sizes;
    for (const auto& [dim, value] : row.sizes) sizes += fmt::format("{},", value);
    for (const SweepTimes& t : row.times) {
      const std::string intensity =
          t.operational_intensity ? fmt::format("{}", *t.operational_intensity) : "";
      text += fmt::format("{}{},{},{},{},{},{},{},{}\r\n", sizes, csv_cell(t.arch), row.macs,
                          row.macs_useful, row.traffic_bytes, t.unfused_s, t.fused_s, t.limiter,
                          intensity);
    }
  }
  return text;
}

}  // namespace solar::report

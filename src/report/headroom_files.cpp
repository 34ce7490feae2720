#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/csv.h"
#include "report/headroom.h"

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const HeadroomTime& t) {
  return {{"problem", t.problem},       {"implementation", t.implementation},
          {"measured_s", t.measured_s}, {"unfused_s", t.unfused_s},
          {"fused_s", t.fused_s},       {"limiter", t.limiter},
          {"headroom", t.headroom()},   {"overhead", t.overhead()},
          {"fusion", t.fusion()}};
}

Json to_json(const HeadroomGroup& g) {
  return {{"folder", g.folder},
          {"implementation", g.implementation},
          {"problems", g.problems},
          {"headroom", g.headroom},
          {"overhead", g.overhead},
          {"fusion", g.fusion},
          {"median_share", g.median_share},
          {"above_80_percent", g.above_80_percent}};
}

template <class Value>
Json objects_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

}  // namespace

std::string render_json(const Headroom& h) {
  Json out = {{"schema", "solar.headroom/1"}, {"run", h.run},       {"arch", h.arch},
              {"precision", h.precision},     {"strict", h.strict}, {"statistic", h.statistic}};
  out["violations"] = objects_of(h.violations);
  out["groups"] = objects_of(h.groups);
  out["times"] = objects_of(h.times);
  out["without_floor"] = h.without_floor;
  out["not_measured"] = h.not_measured;
  return out.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string render_csv(const Headroom& h) {
  std::string text =
      "problem,implementation,measured_s,unfused_s,fused_s,limiter,headroom,overhead,fusion\r\n";
  for (const HeadroomTime& t : h.times) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", csv_cell(t.problem),
                        csv_cell(t.implementation), t.measured_s, t.unfused_s, t.fused_s, t.limiter,
                        t.headroom(), t.overhead(), t.fusion());
  }
  return text;
}

}  // namespace solar::report

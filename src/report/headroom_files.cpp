#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/csv.h"
#include "report/headroom.h"

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const HeadroomTime& t) {
  Json out = {{"problem", t.problem},       {"implementation", t.implementation},
              {"measured_s", t.measured_s}, {"unfused_s", t.unfused_s},
              {"fused_s", t.fused_s},       {"limiter", t.limiter},
              {"headroom", t.headroom()},   {"overhead", t.overhead()},
              {"fusion", t.fusion()}};
  if (t.algebraic_s) {
    out["algebraic_s"] = *t.algebraic_s;
    out["algorithm"] = t.algorithm();
  }
  return out;
}

Json to_json(const HeadroomGroup& g, bool algebraic) {
  Json out = {{"folder", g.folder},
              {"implementation", g.implementation},
              {"problems", g.problems},
              {"violations", g.violations}};
  if (g.violations == g.problems) return out;  // nothing is left for the means
  out["headroom"] = g.headroom;
  out["overhead"] = g.overhead;
  out["fusion"] = g.fusion;
  if (algebraic) out["algorithm"] = g.algorithm;
  out["median_share"] = g.median_share;
  out["above_80_percent"] = g.above_80_percent;
  return out;
}

template <class Value, class... More>
Json objects_of(const std::vector<Value>& values, More... more) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value, more...));
  return list;
}

}  // namespace

std::string render_json(const Headroom& h) {
  Json out = {{"schema", "solar.headroom/1"}, {"run", h.run},       {"arch", h.arch},
              {"precision", h.precision},     {"strict", h.strict}, {"statistic", h.statistic}};
  out["violations"] = objects_of(h.violations);
  out["groups"] = objects_of(h.groups, h.algebraic);
  out["times"] = objects_of(h.times);
  out["without_floor"] = h.without_floor;
  out["not_measured"] = h.not_measured;
  out["warnings"] = h.warnings;
  return out.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string render_csv(const Headroom& h) {
  std::string text =
      "problem,implementation,measured_s,unfused_s,fused_s,limiter,headroom,overhead,fusion";
  text += h.algebraic ? ",algebraic_s,algorithm\r\n" : "\r\n";
  for (const HeadroomTime& t : h.times) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}", csv_cell(t.problem),
                        csv_cell(t.implementation), t.measured_s, t.unfused_s, t.fused_s, t.limiter,
                        t.headroom(), t.overhead(), t.fusion());
    if (t.algebraic_s) {
      text += fmt::format(",{},{}", *t.algebraic_s, t.algorithm());
    } else if (h.algebraic) {
      text += ",,";
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace solar::report

#include "report/suite_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kResultSchema = "solar.result/1";
constexpr const char* kSummarySchema = "solar.summary/1";

void put(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

void put(Json& object, const char* name, double number) {
  if (std::isfinite(number)) object[name] = number;
}

void put(Json& object, const char* name, const std::optional<int64_t>& count) {
  if (count) object[name] = *count;
}

Json to_json(const SuiteDiagnostic& d) {
  Json out = {{"kind", d.kind}, {"message", d.message}};
  put(out, "at", d.at);
  return out;
}

Json to_json(const SuiteBound& b) {
  Json out = {{"arch", b.arch}, {"mode", b.mode}};
  put(out, "time_s", b.time_s);
  put(out, "limiter", b.limiter);
  out["traffic_bytes"] = b.traffic_bytes;
  return out;
}

Json to_json(const SuiteFolder& f) {
  Json out = {{"folder", f.folder},   {"problems", f.problems}, {"traced", f.traced},
              {"counted", f.counted}, {"bounded", f.bounded},   {"passed", f.passed}};
  for (const auto& [status, count] : f.others) out[status] = count;
  put(out, "median_cpu_s", f.median_cpu_s);
  put(out, "total_cpu_s", f.total_cpu_s);
  put(out, "median_wall_s", f.median_wall_s);
  put(out, "total_wall_s", f.total_wall_s);
  out["peak_rss_bytes"] = f.peak_rss_bytes;
  put(out, "peak_problem", f.peak_problem);
  return out;
}

Json to_json(const SuiteDegenerate& d) { return {{"kind", d.kind}, {"what", d.what}}; }

Json to_json(const SuiteDegenerates& d) { return {{"kind", d.kind}, {"problems", d.problems}}; }

Json to_json(const SuiteClass& c) {
  return {{"status", c.status}, {"kind", c.kind}, {"problems", c.problems}};
}

template <class Value>
Json objects_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

// Readers leave a value alone that is absent; one of another type throws (parse_line catches).

template <class Value>
void get(const Json& object, const char* name, Value& value) {
  const auto found = object.find(name);
  if (found != object.end()) found->get_to(value);
}

void get(const Json& object, const char* name, std::optional<int64_t>& value) {
  const auto found = object.find(name);
  if (found != object.end()) value = found->get<int64_t>();
}

SuiteDiagnostic diagnostic_of(const Json& object) {
  SuiteDiagnostic d = {object.at("kind"), object.at("message")};
  get(object, "at", d.at);
  return d;
}

SuiteBound bound_of(const Json& object) {
  SuiteBound b = {object.at("arch"), object.at("mode")};
  get(object, "time_s", b.time_s);
  get(object, "limiter", b.limiter);
  get(object, "traffic_bytes", b.traffic_bytes);
  return b;
}

SuiteResult result_of(const Json& object) {
  SuiteResult r;
  object.at("problem").get_to(r.problem);
  object.at("status").get_to(r.status);
  get(object, "method", r.method);
  get(object, "reason", r.reason);
  for (const Json& d : object.at("diagnostics")) r.diagnostics.push_back(diagnostic_of(d));
  get(object, "statements", r.statements);
  get(object, "nodes", r.nodes);
  get(object, "macs", r.macs);
  get(object, "macs_useful", r.macs_useful);
  for (const Json& b : object.at("bounds")) r.bounds.push_back(bound_of(b));
  get(object, "wall_s", r.wall_s);
  get(object, "cpu_s", r.cpu_s);
  get(object, "peak_rss_bytes", r.peak_rss_bytes);
  if (const auto found = object.find("timings_s"); found != object.end()) {
    Timings& t = r.timings_s.emplace();
    get(*found, "trace", t.trace);
    get(*found, "validate", t.validate);
    get(*found, "lift", t.lift);
    get(*found, "bound", t.bound);
    get(*found, "algebra", t.algebra);
    get(*found, "cache_aware", t.cache_aware);
  }
  if (const auto found = object.find("degenerate"); found != object.end()) {
    for (const Json& d : *found) r.degenerate.push_back({d.at("kind"), d.at("what")});
  }
  get(object, "warnings", r.warnings);
  return r;
}

}  // namespace

std::string render_line(const SuiteResult& r) {
  Json out = {{"schema", kResultSchema}, {"problem", r.problem}, {"status", r.status}};
  put(out, "method", r.method);
  put(out, "reason", r.reason);
  out["diagnostics"] = objects_of(r.diagnostics);
  put(out, "macs", r.macs);
  put(out, "macs_useful", r.macs_useful);
  put(out, "nodes", r.nodes);
  put(out, "statements", r.statements);
  out["bounds"] = objects_of(r.bounds);
  put(out, "wall_s", r.wall_s);
  put(out, "cpu_s", r.cpu_s);
  out["peak_rss_bytes"] = r.peak_rss_bytes;
  if (const auto& t = r.timings_s) {
    out["timings_s"] = {
        {"trace", t->trace}, {"validate", t->validate}, {"lift", t->lift}, {"bound", t->bound}};
    if (t->algebra > 0) out["timings_s"]["algebra"] = t->algebra;
    if (t->cache_aware > 0) out["timings_s"]["cache_aware"] = t->cache_aware;
  }
  if (!r.degenerate.empty()) out["degenerate"] = objects_of(r.degenerate);
  out["warnings"] = r.warnings;
  return text_of(out, -1);
}

std::optional<SuiteResult> parse_line(const std::string& line) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object() || object.value("schema", Json()) != kResultSchema) return std::nullopt;
  try {
    return result_of(object);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string render_json(const SuiteSummary& s) {
  Json out = {{"schema", kSummarySchema}, {"run", s.run}, {"problems", s.problems}};
  out["total"] = to_json(s.total);
  out["folders"] = objects_of(s.folders);
  out["classes"] = objects_of(s.classes);
  out["degenerate_problems"] = s.degenerate_problems;
  out["degenerate"] = objects_of(s.degenerate);
  return text_of(out, 1);
}

}  // namespace solar::report

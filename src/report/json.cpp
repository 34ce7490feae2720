#include "report/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "report/json_parts.h"

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

void put(Json& object, const char* name, double number) {
  if (std::isfinite(number)) object[name] = number;
}

void put(Json& object, const char* name, const std::optional<double>& number) {
  if (number) put(object, name, *number);
}

template <class Value>
Json list_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(value);
  return list;
}

Json to_json(const Dim& dim) {
  Json out = {{"name", dim.name}, {"value", dim.value}};
  put(out, "expression", dim.expression);
  return out;
}

Json to_json(const Validation& v) {
  Json out = {{"status", v.status}};
  put(out, "method", v.method);
  put(out, "reason", v.reason);
  if (v.seeds > 0) {  // something was compared
    put(out, "max_abs_error", v.max_abs_error);
    put(out, "max_rel_error", v.max_rel_error);
    put(out, "worst_tolerance_share", v.worst_tolerance_share);
    put(out, "worst_place", v.worst_place);
    put(out, "tolerance_factor", v.tolerance_factor);
  }
  if (v.first_wrong) {
    const FirstWrong& wrong = *v.first_wrong;
    Json first = {{"op", wrong.op}};
    put(first, "at", wrong.at);
    put(first, "module", wrong.module);
    put(first, "place", wrong.place);
    first["agreeing"] = wrong.agreeing;
    out["first_wrong"] = std::move(first);
  }
  if (!v.bindings.empty()) out["bindings"] = v.bindings;
  if (v.seeds > 0) out["seeds"] = v.seeds;
  if (!v.distributions.empty()) out["distributions"] = list_of(v.distributions);
  put(out, "mode", v.mode);
  if (!v.notes.empty()) out["notes"] = list_of(v.notes);
  return out;
}

Json to_json(const Totals& t) {
  Json out = {{"macs", t.macs},
              {"macs_useful", t.macs_useful},
              {"flops", t.flops},
              {"elementwise_ops", t.elementwise_ops},
              {"special_ops", t.special_ops},
              {"bytes_read_inputs", t.bytes_read_inputs},
              {"bytes_read_params", t.bytes_read_params},
              {"bytes_written_outputs", t.bytes_written_outputs}};
  if (const auto& d = t.data_dependent) {
    out["data_dependent"] = {{"min", d->min}, {"example", d->example}, {"max", d->max}};
  }
  if (t.macs_least) out["macs_least"] = *t.macs_least;
  out["exact"] = t.exact;
  return out;
}

Json to_json(const Node& node) {
  Json out = {{"id", node.id}, {"op", node.op}};
  put(out, "at", node.at);
  put(out, "module", node.module);
  put(out, "einsum", node.einsum);
  out["macs"] = node.macs;
  out["macs_useful"] = node.macs_useful;
  out["elementwise_ops"] = node.elementwise_ops;
  out["special_ops"] = node.special_ops;
  if (node.formula) put(out, "formula", *node.formula);
  out["bytes_in"] = node.bytes_in;
  out["bytes_out"] = node.bytes_out;
  return out;
}

Json to_json(const NodeTime& time, const std::vector<Node>& nodes) {
  Json out = {{"id", time.node < nodes.size() ? nodes[time.node].id : ""}};
  put(out, "time_s", time.time_s);
  put(out, "compute_s", time.compute_s);
  put(out, "memory_s", time.memory_s);
  put(out, "limiter", time.limiter);
  put(out, "operational_intensity", time.operational_intensity);
  out["traffic_bytes"] = time.traffic_bytes;
  return out;
}

Json to_json(const Edge& edge, const std::vector<Node>& nodes) {
  const auto id = [&](size_t node) { return node < nodes.size() ? nodes[node].id : ""; };
  Json out = {{"from", id(edge.from)}, {"to", id(edge.to)}, {"tensor", edge.tensor}};
  out["saves_bytes"] = edge.saves_bytes;
  out["fusibility"] = edge.fusibility;
  out["tileable_axes"] = list_of(edge.tileable_axes);
  out["obstacles"] = list_of(edge.obstacles);
  return out;
}

/// Lists as long as the program has operators: a tree of them takes kilobytes for each. In the tree
/// a discarded value stands for a list, whose text is put there once the tree is text.
class LongLists {
 public:
  /// `items` written by `write`, inside `depth` brackets.
  template <class Item, class Write>
  Json add(const std::vector<Item>& items, size_t depth, const Write& write) {
    std::string text = items.empty() ? "[]" : "[\n";
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string item = text_of(write(items[i]));
      text.append(depth + 1, ' ');
      for (const char c : item) {
        text += c;
        if (c == '\n') text.append(depth + 1, ' ');
      }
      text += i + 1 < items.size() ? ",\n" : "\n";
    }
    if (!items.empty()) text.append(depth, ' ') += ']';
    lists_.push_back(std::move(text));
    return Json(Json::value_t::discarded);
  }

  /// The tree's text with the lists in it, in the order in which they were added.
  std::string render(const Json& tree) {
    // A string ends in a quote before the end of a line, so no text can look like a mark.
    constexpr std::string_view kMark = ": <discarded>";
    const std::string text = text_of(tree);
    std::string out;
    size_t next = 0;
    for (size_t from = 0; from < text.size();) {
      const size_t end = std::min(text.find('\n', from), text.size());
      std::string_view line(text.data() + from, end - from);
      const bool more = line.ends_with(',');
      if (more) line.remove_suffix(1);
      if (line.ends_with(kMark)) {
        line.remove_suffix(kMark.size());
        out.append(line).append(": ").append(lists_[next]);
        std::string().swap(lists_[next++]);
      } else {
        out.append(line);
      }
      out.append(more ? ",\n" : "\n");
      from = end + 1;
    }
    return out;
  }

  /// Plain ASCII, so that a terminal obeys nothing in it.
  static std::string text_of(const Json& json) {
    return json.dump(1, ' ', true, Json::error_handler_t::replace);
  }

 private:
  std::vector<std::string> lists_ = {};
};

Json to_json(const PlanGroup& group) {
  Json out = {{"nodes", list_of(group.nodes)}, {"strategy", group.strategy}};
  out["schedule"] = group.schedule;
  out["capacity_bytes"] = group.capacity_bytes;
  out["traffic_bytes"] = group.traffic_bytes;
  put(out, "time_s", group.time_s);
  return out;
}

void put_cache_aware(Json& out, const CacheAware& found, LongLists& lists) {
  const auto put_bytes = [&](const char* key, const std::optional<int64_t>& bytes) {
    if (bytes) out[key] = *bytes;
  };
  put_bytes("certified_capacity_bytes", found.certified_capacity_bytes);
  out["certified_bytes"] = found.certified_bytes;
  put(out, "certified_s", found.certified_s);
  out["theorem"] = found.theorem;
  if (!found.products.empty()) out["products"] = list_of(found.products);
  put_bytes("witness_capacity_bytes", found.witness_capacity_bytes);
  put_bytes("witness_bytes", found.witness_bytes);
  put(out, "witness_s", found.witness_s);
  if (!found.notes.empty()) out["notes"] = list_of(found.notes);
  if (!found.groups.empty())
    out["groups"] =
        lists.add(found.groups, 3, [](const PlanGroup& group) { return to_json(group); });
}

Json to_json(const Bound& bound, const std::vector<Node>& nodes, LongLists& lists) {
  Json out = {{"arch", bound.arch}, {"precision", bound.precision}, {"mode", bound.mode}};
  if (bound.storage != "as-written") out["storage"] = bound.storage;
  if (bound.cache != "cold") out["cache"] = bound.cache;
  if (bound.params != "runtime") out["params"] = bound.params;
  put(out, "time_s", bound.time_s);
  put(out, "compute_s", bound.compute_s);
  put(out, "memory_s", bound.memory_s);
  out["traffic_bytes"] = bound.traffic_bytes;
  put(out, "limiter", bound.limiter);
  put(out, "operational_intensity", bound.operational_intensity);
  out["strict"] = bound.strict;
  out["assumptions"] = list_of(bound.assumptions);
  Json& without = out["without"] = Json::array();
  for (const Without& one : bound.without)
    without.push_back({{"assumption", one.assumption}, {"time_s", one.time_s}});
  if (!bound.node_times.empty()) {
    out["nodes"] =
        lists.add(bound.node_times, 3, [&](const NodeTime& time) { return to_json(time, nodes); });
  }
  if (!bound.edge_savings.empty()) {
    out["edges"] = lists.add(bound.edge_savings, 3, [](const EdgeSaving& saving) {
      return Json{{"edge", saving.edge}, {"saves_s", saving.saves_s}};
    });
  }
  if (bound.rewrites) out["rewrites"] = *bound.rewrites;
  if (bound.cache_aware) put_cache_aware(out, *bound.cache_aware, lists);
  return out;
}

Json to_json(const InverseFormat& f) {
  Json out = {{"format", f.format}, {"unit", f.unit}, {"macs", f.macs}};
  put(out, "macs_per_second", f.macs_per_second);
  return out;
}

Json to_json(const InverseMachine& m) {
  Json out = {{"arch", m.arch}};
  put(out, "name", m.name);
  put(out, "tensor", m.tensor);
  put(out, "vector", m.vector);
  put(out, "bandwidth", m.bandwidth);
  put(out, "fused", m.fused);
  put(out, "unfused", m.unfused);
  put(out, "error", m.error);
  return out;
}

template <class Value>
Json objects_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

std::string text_of(const Json& json) { return LongLists::text_of(json) + "\n"; }

}  // namespace

std::string render_json(const Report& report) {
  Json out = {{"schema", kSchema}, {"source", report.source}, {"program", report.program}};
  put(out, "mode", report.mode);
  if (!report.dims.empty()) out["dims"] = objects_of(report.dims);
  out["validation"] = to_json(report.validation);
  out["totals"] = to_json(report.totals);
  LongLists lists;
  out["nodes"] = lists.add(report.nodes, 1, [](const Node& node) { return to_json(node); });
  if (!report.edges.empty()) {
    out["edges"] =
        lists.add(report.edges, 1, [&](const Edge& edge) { return to_json(edge, report.nodes); });
  }
  Json& bounds = out["bounds"] = Json::array();
  for (const Bound& bound : report.bounds) bounds.push_back(to_json(bound, report.nodes, lists));
  out["rewrites"] = objects_of(report.rewrites);
  if (!report.algebra_notes.empty()) out["algebra_notes"] = list_of(report.algebra_notes);
  out["degenerate"] = objects_of(report.degenerate);
  out["warnings"] = list_of(report.warnings);
  const Timings& t = report.timings_s;
  out["timings_s"] = {
      {"trace", t.trace}, {"validate", t.validate}, {"lift", t.lift}, {"bound", t.bound}};
  if (t.algebra > 0) out["timings_s"]["algebra"] = t.algebra;
  if (t.cache_aware > 0) out["timings_s"]["cache_aware"] = t.cache_aware;
  return lists.render(out);
}

std::string render_json(const Inverse& inverse) {
  Json out = {{"schema", "solar.inverse/1"},
              {"source", inverse.source},
              {"program", inverse.program},
              {"validation", to_json(inverse.validation)}};
  put(out, "target_s", inverse.target_s);
  out["macs_useful"] = inverse.macs_useful;
  out["traffic_bytes"] = inverse.traffic_bytes;
  out["formats"] = objects_of(inverse.formats);
  put(out, "tensor_macs_per_second", inverse.tensor_macs_per_second);
  put(out, "vector_macs_per_second", inverse.vector_macs_per_second);
  put(out, "bandwidth_bytes_per_second", inverse.bandwidth_bytes_per_second);
  out["machines"] = objects_of(inverse.machines);
  out["assumptions"] = list_of(inverse.assumptions);
  out["warnings"] = list_of(inverse.warnings);
  return text_of(out);
}

}  // namespace solar::report

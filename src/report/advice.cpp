#include "report/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/format.h"

namespace solar::report {
namespace {

constexpr double kWorthSaying = 0.02;  // savings below this share of the time are noise

std::string fusion(const Bound& fused, const Bound& unfused) {
  const double saved = unfused.time_s - fused.time_s;
  if (unfused.time_s <= 0 || saved / unfused.time_s < kWorthSaying) {
    return "fusion gains less than 2%: most traffic is inputs and outputs, or arithmetic limits";
  }
  const double bytes =
      static_cast<double>(unfused.traffic_bytes) - static_cast<double>(fused.traffic_bytes);
  std::string text =
      fmt::format("fusion saves up to {} of {}", time_text(saved), time_text(unfused.time_s));
  if (fused.time_s > 0) text += fmt::format(" ({})", ratio_text(unfused.time_s / fused.time_s));
  if (bytes > 0) {
    text += fmt::format(": {} of {} DRAM traffic is intermediates", bytes_text(bytes),
                        bytes_text(static_cast<double>(unfused.traffic_bytes)));
  }
  return text;
}

bool assumes(const Bound& bound, std::string_view assumption) {
  return std::find(bound.assumptions.begin(), bound.assumptions.end(), assumption) !=
         bound.assumptions.end();
}

/// How much the limiter alone would have to grow before the other side takes over.
std::string until(double limiting, double other) {
  return other > 0
             ? fmt::format("up to {} until the other side limits", ratio_text(limiting / other))
             : "nothing else limits";
}

/// The options that show the time at other rates.
std::string other_rates(const Bound& fused) {
  const bool vector = fused.limiter == "vector";
  std::string text;
  if (fused.precision == "as-written" && !fused.strict) {
    text += vector ? "; `--precision tf32` or `bf16` shows the times on tensor units"
                   : "; `--precision bf16` or `fp8` shows the times in narrower types";
  }
  if (vector && assumes(fused, "no-fp32-emulation")) {
    text += "; `--strict` shows those of fp32 emulated on tensor units";
  }
  return text;
}

std::string fused_limit(const Bound& fused) {
  if (fused.time_s <= 0) return "";
  if (fused.limiter == "memory") {
    return fmt::format(
        "fused, memory limits: {} of traffic takes {}, the arithmetic {}. More bandwidth ({}), "
        "narrower storage types or smaller tensors help; faster arithmetic does not",
        bytes_text(static_cast<double>(fused.traffic_bytes)), time_text(fused.memory_s),
        time_text(fused.compute_s), until(fused.memory_s, fused.compute_s));
  }
  return fmt::format(
      "fused, the {} units limit: arithmetic takes {}, traffic {}. A higher {} rate helps ({}){}",
      fused.limiter, time_text(fused.compute_s), time_text(fused.memory_s), fused.limiter,
      until(fused.compute_s, fused.memory_s), other_rates(fused));
}

std::string largest_operator(const Report& report, const Bound& unfused) {
  if (unfused.node_times.size() < 2 || unfused.time_s <= 0) return "";
  const auto most =
      std::max_element(unfused.node_times.begin(), unfused.node_times.end(),
                       [](const NodeTime& a, const NodeTime& b) { return a.time_s < b.time_s; });
  const double share = most->time_s / unfused.time_s;
  if (share < 0.25 || most->node >= report.nodes.size()) return "";
  const Node& node = report.nodes[most->node];
  return fmt::format("one operator, {}{}, takes {} of the time operator by operator ({}-limited)",
                     node.op, node.at.empty() ? "" : " at " + node.at, percent_text(share),
                     most->limiter);
}

std::string best_edge(const Report& report, const Bound& unfused) {
  if (unfused.edge_savings.empty() || unfused.time_s <= 0) return "";
  const EdgeSaving& best = unfused.edge_savings.front();
  if (best.saves_s / unfused.time_s < kWorthSaying || best.edge >= report.edges.size()) return "";
  const Edge& edge = report.edges[best.edge];
  if (edge.from >= report.nodes.size() || edge.to >= report.nodes.size()) return "";
  const auto place = [&](size_t node) {
    const Node& n = report.nodes[node];
    return n.at.empty() ? n.op : fmt::format("{} at {}", n.op, n.at);
  };
  std::string how = "element by element";
  if (edge.fusibility == "tileable") {
    how = fmt::format("tile by tile along {} of its axes ({})", edge.tileable_axes.size(),
                      fmt::join(edge.obstacles, ", "));
  } else if (edge.fusibility == "whole") {
    how = fmt::format("with all of it on chip ({})", fmt::join(edge.obstacles, ", "));
  }
  return fmt::format("the best single fusion, {} into {}, saves {}: `{}` goes over {}",
                     place(edge.from), place(edge.to), time_text(best.saves_s), edge.tensor, how);
}

std::string useless_work(const Totals& t) {
  if (t.macs_useful >= t.macs || t.macs == 0) return "";
  const double share = 1 - static_cast<double>(t.macs_useful) / static_cast<double>(t.macs);
  if (share < kWorthSaying) return "";
  return fmt::format(
      "{} of the nominal multiply-accumulates touch padding, masked{} or dead elements; the bounds "
      "leave them out, so a kernel must skip them to get near",
      percent_text(share), t.sparse_weights ? ", sparse" : "");
}

}  // namespace

std::vector<std::string> advice(const Report& report, const ArchBounds& arch) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) {
    if (!line.empty()) lines.push_back(std::move(line));
  };
  if (arch.fused != nullptr && arch.unfused != nullptr && arch.unfused->node_times.size() > 1) {
    add(fusion(*arch.fused, *arch.unfused));
  }
  if (arch.fused != nullptr) add(fused_limit(*arch.fused));
  if (arch.unfused != nullptr) add(best_edge(report, *arch.unfused));
  if (arch.unfused != nullptr) add(largest_operator(report, *arch.unfused));
  add(useless_work(report.totals));
  return lines;
}

}  // namespace solar::report

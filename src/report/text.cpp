#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice.h"
#include "report/format.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

constexpr size_t kNodesShown = 10;
constexpr size_t kDimsShown = 8;

std::string sentence(const ArchBounds& a, const Style& style) {
  std::string text;
  if (a.fused != nullptr) {
    text += fmt::format("at least {} fused ({})", time_text(a.fused->time_s),
                        limited_by(a.fused->limiter));
  }
  if (a.unfused != nullptr) {
    text += fmt::format("{}{} operator by operator (mostly {})", text.empty() ? "at least " : ", ",
                        time_text(a.unfused->time_s), limited_by(a.unfused->limiter));
  }
  if (a.algebraic != nullptr && a.algebraic->rewrites.value_or(0) > 0) {
    text += fmt::format(", {} after algebra ({})", time_text(a.algebraic->time_s),
                        limited_by(a.algebraic->limiter));
  }
  return style.titled(Tone::Heading, a.arch, text);
}

std::string useful_text(const Totals& t) {
  if (t.macs == t.macs_useful) {
    return t.macs == 0 ? "none"
                       : fmt::format("{}, all useful", macs_text(static_cast<double>(t.macs)));
  }
  const double nominal = static_cast<double>(t.macs);
  const double useful = static_cast<double>(t.macs_useful);
  std::string text = fmt::format("{} nominal, {} useful", macs_text(nominal), macs_text(useful));
  if (useful < nominal) {
    text +=
        fmt::format(" ({} padding, masked{} or dead)", percent_text((nominal - useful) / nominal),
                    t.sparse_weights ? ", sparse" : "");
  }
  return text;
}

std::string dims_text(const std::vector<Dim>& dims) {
  std::string text;
  for (size_t i = 0; i < dims.size() && i < kDimsShown; ++i) {
    const Dim& d = dims[i];
    text += d.expression.empty() ? fmt::format("{}={} ", d.name, d.value)
                                 : fmt::format("{}={}={} ", d.name, d.expression, d.value);
  }
  if (dims.size() > kDimsShown) text += fmt::format("and {} more", dims.size() - kDimsShown);
  return text;
}

std::string reads_text(const DataDependent& d) {
  const auto bytes = [](int64_t count) { return bytes_text(static_cast<double>(count)); };
  const std::string example =
      d.example_known ? fmt::format("{} at the example inputs, ", bytes(d.example)) : "";
  return fmt::format(
      "inputs and parameters together: at least {}, which all traffic and times here take, {}at "
      "most {}",
      bytes(d.min), example, bytes(d.max));
}

std::string totals_text(const Report& report, const std::vector<ArchBounds>& archs,
                        const Style& style) {
  const Totals& t = report.totals;
  constexpr size_t kIndent = 25;
  std::string text = style.heading("totals");
  const auto field = [&](std::string_view label, const std::string& value) {
    text += paragraph(fmt::format("  {:<23}", label), value, style.width(), kIndent);
  };
  if (!report.dims.empty()) field("dims", dims_text(report.dims));
  field("multiply-accumulates", useful_text(t));
  if (t.macs_least) {
    field("", fmt::format("{} of them go into what is multiplied by a zero; the fused bound leaves "
                          "them out",
                          macs_text(static_cast<double>(t.macs_useful - *t.macs_least))));
  }
  field("other arithmetic", fmt::format("{} elementwise, {} special functions (not in the bounds)",
                                        count_text(static_cast<double>(t.elementwise_ops)),
                                        count_text(static_cast<double>(t.special_ops))));
  const LeastTraffic least = t.least.value_or(
      LeastTraffic{t.bytes_read_inputs, t.bytes_read_params, t.bytes_written_outputs});
  const double inputs = static_cast<double>(least.inputs);
  const double params = static_cast<double>(least.params);
  const double outputs = static_cast<double>(least.outputs);
  field("compulsory traffic", fmt::format("{}: {} inputs, {} parameters, {} outputs",
                                          bytes_text(inputs + params + outputs), bytes_text(inputs),
                                          bytes_text(params), bytes_text(outputs)));
  if (const auto& d = t.data_dependent) {
    field("data-dependent reads", reads_text(*d));
  }
  if (!archs.empty() && archs.front().fused != nullptr &&
      archs.front().fused->operational_intensity) {
    field("operational intensity",
          fmt::format("{} at DRAM when fused",
                      si_text(*archs.front().fused->operational_intensity, "flop/byte")));
  }
  if (!t.exact) field("exactness", "proved minima, not exact counts; the bounds stay valid");
  return text + "\n";
}

/// `net.py:12 blocks.0.fc`; of a model whose files the user does not have, `blocks.0.fc net.py`.
std::string place_of(const Report& report, const Node& node) {
  const std::string at = node.at.substr(node.at.rfind('/') + 1);
  if (at.empty()) return node.module;
  if (node.module.empty()) return at;
  if (!report.source.starts_with("hf:")) return fmt::format("{} {}", at, node.module);
  return fmt::format("{} {}", node.module, at.substr(0, at.rfind(':')));
}

/// Whether some operator moves other bytes at the example inputs than its time is for. With a warm
/// cache the bytes of the example, which are those of a cold one, tell nothing.
bool example_differs(const Report& report, const Bound& unfused) {
  if (unfused.cache != "cold") return false;
  const auto& d = report.totals.data_dependent;
  if (d && !d->example_known) return false;
  return std::any_of(unfused.node_times.begin(), unfused.node_times.end(),
                     [&](const NodeTime& time) {
                       if (time.node >= report.nodes.size()) return false;
                       const Node& node = report.nodes[time.node];
                       return time.traffic_bytes - node.bytes_in != node.bytes_out;
                     });
}

std::string nodes_text(const Report& report, const ArchBounds& a, const Style& style) {
  if (a.unfused == nullptr || a.unfused->node_times.empty()) return "";
  std::vector<const NodeTime*> order;
  for (const NodeTime& time : a.unfused->node_times) {
    if (time.node < report.nodes.size()) order.push_back(&time);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const NodeTime* x, const NodeTime* y) { return x->time_s > y->time_s; });
  const size_t shown = order.size() > kNodesShown + 1 ? kNodesShown : order.size();
  Table table({{.title = "operator", .shrinks_to = 12},
               {.title = "place",
                .shrinks_to = 10,
                .may_go = true,
                .keeps_end = report.source.starts_with("hf:")},
               {.title = "MACs", .right = true, .may_go = true},
               {.title = "bytes", .right = true, .may_go = true},
               {.title = "at example", .right = true, .may_go = true},
               {.title = "time", .right = true},
               {.title = "share", .right = true},
               {.title = "limiter"}});
  const double whole = a.unfused->time_s;
  const auto share = [&](double time) { return whole > 0 ? percent_text(time / whole) : ""; };
  double macs = 0;
  double bytes = 0;
  double example = 0;
  double seconds = 0;
  const bool examples = example_differs(report, *a.unfused);
  const auto example_text = [&](double count) { return examples ? bytes_text(count) : ""; };
  for (size_t i = 0; i < order.size(); ++i) {
    const NodeTime& time = *order[i];
    const Node& node = report.nodes[time.node];
    const double node_macs = static_cast<double>(node.macs_useful);
    const double node_bytes = static_cast<double>(time.traffic_bytes);
    const double node_example =
        static_cast<double>(node.bytes_in) + static_cast<double>(node.bytes_out);
    if (i < shown) {
      table.row({node.op, place_of(report, node),
                 node.macs_useful == 0 ? "-" : macs_text(node_macs), bytes_text(node_bytes),
                 example_text(node_example), time_text(time.time_s), share(time.time_s),
                 time.limiter});
    } else {
      macs += node_macs;
      bytes += node_bytes;
      example += node_example;
      seconds += time.time_s;
    }
  }
  if (shown < order.size()) {
    table.row({fmt::format("{} others", order.size() - shown), "",
               macs == 0 ? "-" : macs_text(macs), bytes_text(bytes), example_text(example),
               time_text(seconds), share(seconds), ""});
  }
  return style.heading(fmt::format("operator by operator on {}", a.arch)) +
         table.render(style.width()) + "\n";
}

std::string arch_table(const Report& report, std::vector<ArchBounds> archs, const Style& style) {
  Table table({{.title = "arch", .shrinks_to = 12},
               {.title = "fused", .right = true},
               {.title = "limiter"},
               {.title = "op by op", .right = true},
               {.title = "limiter"},
               {.title = "fusion", .right = true, .may_go = true},
               {.title = "vs best", .right = true, .may_go = true},
               {.title = "machine", .shrinks_to = 12, .may_go = true}});
  const auto fused = [](const ArchBounds& a) { return a.fused == nullptr ? 0 : a.fused->time_s; };
  std::stable_sort(archs.begin(), archs.end(),
                   [&](const ArchBounds& x, const ArchBounds& y) { return fused(x) < fused(y); });
  const double fastest = archs.empty() ? 0 : fused(archs.front());
  for (const ArchBounds& a : archs) {
    if (a.fused == nullptr || a.unfused == nullptr) continue;
    const double time = a.fused->time_s;
    const auto name = report.arch_names.find(a.arch);
    table.row({a.arch, time_text(time), a.fused->limiter, time_text(a.unfused->time_s),
               a.unfused->limiter, time > 0 ? ratio_text(a.unfused->time_s / time) : "-",
               fastest > 0 ? ratio_text(time / fastest) : "-",
               name == report.arch_names.end() ? "" : name->second});
  }
  return table.render(style.width());
}

std::string advice_text(const Report& report, const ArchBounds& a, const Style& style) {
  std::string text;
  for (const std::string& line : advice(report, a)) {
    text += paragraph("  - ", line, style.width(), 4);
  }
  if (text.empty()) return "";
  return style.heading(fmt::format("what would help on {}", a.arch)) + text + "\n";
}

std::string without_last_break(std::string text) {
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace

std::string render_text(const Report& report, const TextOptions& options) {
  const Style style(options);
  const std::vector<ArchBounds> archs = by_arch(report);
  std::string text = title_text(report, style);
  for (const ArchBounds& a : archs) text += sentence(a, style);
  if (archs.empty()) {
    text += paragraph("", "no architecture given, so counts without times", style.width(), 2);
  }
  text += validation_text(report.validation, style);
  text += assumptions_text(report, style);
  text += without_text(archs, style);
  text += degenerate_text(report.degenerate, style);
  text += warnings_text(report.warnings, style) + "\n";
  if (archs.size() > 1) {
    text += style.heading("comparison") + arch_table(report, archs, style) + "\n";
  }
  text += totals_text(report, archs, style);
  if (!archs.empty()) {
    text += nodes_text(report, archs.front(), style);
    text += algebra_text(report, archs, style);
    text += cache_text(archs, style);
    text += advice_text(report, archs.front(), style);
  }
  return without_last_break(std::move(text));
}

std::string render_compare(const Report& report, const TextOptions& options) {
  const Style style(options);
  const std::vector<ArchBounds> archs = by_arch(report);
  std::string text = title_text(report, style);
  text += archs.empty() ? std::string("no architecture given\n") : arch_table(report, archs, style);
  text += "\n" + validation_text(report.validation, style);
  text += assumptions_text(report, style);
  text += degenerate_text(report.degenerate, style);
  text += warnings_text(report.warnings, style);
  return text;
}

}  // namespace solar::report

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

std::string rate_text(double macs_per_second) {
  return fmt::format("{} ({})", si_text(macs_per_second, "MAC/s"),
                     si_text(2 * macs_per_second, "flop/s"));
}

/// The formats that run on a unit class: `bf16 1.2 TMAC/s, fp8 0.4 TMAC/s`, if there are several.
std::string mix_text(const Inverse& inverse, std::string_view unit) {
  std::vector<std::string> parts;
  for (const InverseFormat& f : inverse.formats) {
    if (f.unit != unit) continue;
    parts.push_back(fmt::format("{} of {}", macs_text(static_cast<double>(f.macs)), f.format));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string need_text(const Inverse& inverse, const Style& style) {
  std::string text;
  const auto field = [&](std::string_view label, const std::string& value) {
    text += paragraph(fmt::format("  {:<17}", label), value, style.width(), 19);
  };
  const auto units = [&](std::string_view label, std::string_view unit, double rate) {
    if (rate <= 0) return;
    field(label, fmt::format("{} for {}", rate_text(rate), mix_text(inverse, unit)));
  };
  units("tensor units", "tensor", inverse.tensor_macs_per_second);
  units("vector units", "vector", inverse.vector_macs_per_second);
  if (inverse.bandwidth_bytes_per_second > 0) {
    field("DRAM bandwidth",
          fmt::format("{} for {}", si_text(inverse.bandwidth_bytes_per_second, "B/s"),
                      bytes_text(static_cast<double>(inverse.traffic_bytes))));
  }
  if (text.empty()) field("nothing", "no multiply-accumulates and no traffic");
  return text;
}

std::string factor_text(const std::optional<double>& factor) {
  return factor ? ratio_text(*factor) : "-";
}

std::string verdict(const InverseMachine& m) {
  if (m.fused && *m.fused < 1) return "too slow";
  return m.unfused && *m.unfused < 1 ? "if fused" : "yes";
}

std::string machines_text(const Inverse& inverse, const Style& style) {
  std::vector<const InverseMachine*> order;
  for (const InverseMachine& m : inverse.machines) {
    if (m.error.empty()) order.push_back(&m);
  }
  const auto rank = [](const InverseMachine* m) {
    return m->fused.value_or(std::numeric_limits<double>::infinity());
  };
  std::stable_sort(
      order.begin(), order.end(),
      [&](const InverseMachine* a, const InverseMachine* b) { return rank(a) > rank(b); });
  Table table({{.title = "arch", .shrinks_to = 12},
               {.title = "holds it"},
               {.title = "fused", .right = true},
               {.title = "op by op", .right = true},
               {.title = "tensor", .right = true, .may_go = true},
               {.title = "vector", .right = true, .may_go = true},
               {.title = "bandwidth", .right = true, .may_go = true},
               {.title = "machine", .shrinks_to = 12, .may_go = true}});
  for (const InverseMachine* m : order) {
    table.row({m->arch, verdict(*m), factor_text(m->fused), factor_text(m->unfused),
               factor_text(m->tensor), factor_text(m->vector), factor_text(m->bandwidth), m->name});
  }
  std::string text;
  if (!order.empty()) {
    text = style.heading("known machines: have / need (below 1: too slow)");
    text += table.render(style.width());
  }
  for (const InverseMachine& m : inverse.machines) {
    if (!m.error.empty()) text += paragraph("  " + m.arch + ": ", m.error, style.width(), 4);
  }
  return text;
}

}  // namespace

std::string render_text(const Inverse& inverse, const TextOptions& options) {
  const Style style(options);
  std::string rate;
  if (inverse.target_s > 0) rate = fmt::format(" ({})", si_text(1 / inverse.target_s, "Hz"));
  std::string text = style.titled(Tone::Heading, inverse.source,
                                  fmt::format("{} in {}{} needs at least, fused:", inverse.program,
                                              time_text(inverse.target_s), rate));
  text += need_text(inverse, style);
  text += validation_text(inverse.validation, style);
  text += assumptions_text(inverse.assumptions, style);
  text += warnings_text(inverse.warnings, style);
  const std::string machines = machines_text(inverse, style);
  return machines.empty() ? text : text + "\n" + machines;
}

}  // namespace solar::report

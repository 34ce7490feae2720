// The algebraic mode in the text report.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/format.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

constexpr size_t kRewritesShown = 12;

/// ` saves 1.2 GMAC and 3 MB`, ` costs 2 kB`.
std::string saves_text(const Rewrite& r) {
  std::vector<std::string> saves;
  std::vector<std::string> costs;
  const auto add = [&](const std::optional<int64_t>& count, const auto& text) {
    if (!count || *count == 0) return;
    (*count > 0 ? saves : costs).push_back(text(std::abs(static_cast<double>(*count))));
  };
  add(r.saves_macs, [](double count) { return macs_text(count); });
  add(r.saves_bytes, [](double count) { return bytes_text(count); });
  std::string text;
  if (!saves.empty()) text += fmt::format("; saves {}", fmt::join(saves, " and "));
  if (saves.empty() && costs.empty() && r.saves_macs) text += "; saves nothing by itself";
  if (!costs.empty()) text += fmt::format("; costs {}", fmt::join(costs, " and "));
  return text;
}

}  // namespace

std::string name_of(const Rewrite& r) {
  const std::string at = r.at.substr(r.at.rfind('/') + 1);
  const std::string place = at.empty() ? r.module : at;
  return place.empty() ? r.kind : fmt::format("{} at {}", r.kind, place);
}

std::string degenerate_text(const std::vector<Degenerate>& degenerate, const Style& style) {
  std::string text;
  for (const Degenerate& d : degenerate) {
    const std::string at = d.at.substr(d.at.rfind('/') + 1);
    text += style.titled(Tone::Failure, "DEGENERATE PROGRAM",
                         at.empty() ? d.what : fmt::format("{} ({})", d.what, at));
  }
  return text;
}

std::string rewrites_text(const std::vector<Rewrite>& rewrites,
                          const std::vector<std::string>& notes, const Style& style) {
  std::string text;
  for (size_t i = 0; i < rewrites.size() && i < kRewritesShown; ++i) {
    const Rewrite& r = rewrites[i];
    text += paragraph("  - ", fmt::format("{}: {}{}", name_of(r), r.what, saves_text(r)),
                      style.width(), 4);
  }
  if (rewrites.size() > kRewritesShown)
    text += fmt::format("  - and {} more\n", rewrites.size() - kRewritesShown);
  if (!rewrites.empty() && !rewrites.front().validated.empty())
    text += paragraph(
        "  ", fmt::format("validated by running before and after: {}", rewrites.front().validated),
        style.width(), 4);
  for (const std::string& note : notes) text += paragraph("  note: ", note, style.width(), 4);
  return text;
}

std::string algebra_text(const Report& report, const std::vector<ArchBounds>& archs,
                         const Style& style) {
  if (report.rewrites.empty() && report.algebra_notes.empty()) return "";
  std::string text = style.heading("what the algebra allows");
  for (const ArchBounds& a : archs) {
    if (a.algebraic == nullptr || a.fused == nullptr || report.rewrites.empty()) continue;
    const double time = a.algebraic->time_s;
    const size_t rewrites = a.algebraic->rewrites.value_or(0);
    std::string line =
        rewrites == 0
            ? fmt::format("{} as fused; no rewrite makes it faster", time_text(time))
            : fmt::format("at least {} ({}) after {} of {} rewrites", time_text(time),
                          limited_by(a.algebraic->limiter), rewrites, report.rewrites.size());
    if (rewrites > 0 && time > 0)
      line += fmt::format(", {} faster than fused", ratio_text(a.fused->time_s / time));
    text += paragraph(fmt::format("  {}: ", a.arch), line, style.width(), 4);
  }
  return text + rewrites_text(report.rewrites, report.algebra_notes, style) + "\n";
}

}  // namespace solar::report

#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/headroom.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

constexpr size_t kShown = 10;
constexpr size_t kNamesShown = 5;

/// What makes most of the distance.
std::string next_fix(const HeadroomTime& time) {
  if (time.headroom() < 1) return "the floor or the measurement is wrong";
  if (time.headroom() < 1.25) return "at the floor";
  if (time.overhead() >= time.fusion()) return "kernels and launches";
  return "fusion";
}

std::string groups_table(const Headroom& headroom, const Style& style) {
  Table table({{.title = "folder", .shrinks_to = 6},
               {.title = "measured", .shrinks_to = 8},
               {.title = "problems", .right = true},
               {.title = "headroom", .right = true},
               {.title = "overhead", .right = true},
               {.title = "fusion", .right = true},
               {.title = "median of floor", .right = true},
               {.title = "80% or more", .right = true, .may_go = true}});
  for (const HeadroomGroup& g : headroom.groups) {
    table.row({g.folder.empty() ? "all" : g.folder, g.implementation, std::to_string(g.problems),
               ratio_text(g.headroom), ratio_text(g.overhead), ratio_text(g.fusion),
               percent_text(g.median_share), std::to_string(g.above_80_percent)});
  }
  return table.render(style.width());
}

std::string times_table(const std::vector<HeadroomTime>& times, size_t count, const Style& style) {
  Table table({{.title = "problem", .shrinks_to = 20},
               {.title = "measured"},
               {.title = "time", .right = true},
               {.title = "fused", .right = true},
               {.title = "headroom", .right = true},
               {.title = "overhead", .right = true},
               {.title = "fusion", .right = true},
               {.title = "next", .may_go = true}});
  for (size_t i = 0; i < std::min(count, times.size()); ++i) {
    const HeadroomTime& t = times[i];
    table.row({t.problem, t.implementation, time_text(t.measured_s), time_text(t.fused_s),
               ratio_text(t.headroom()), ratio_text(t.overhead()), ratio_text(t.fusion()),
               next_fix(t)});
  }
  return table.render(style.width());
}

std::string names_text(const char* what, const std::vector<std::string>& names,
                       const Style& style) {
  if (names.empty()) return "";
  std::string text;
  for (size_t i = 0; i < std::min(kNamesShown, names.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return style.titled(Tone::Warning, fmt::format("{} ({})", what, names.size()), text);
}

}  // namespace

std::string render_text(const Headroom& headroom, const TextOptions& options) {
  const Style style(options);
  const std::string rates = headroom.strict ? "strict" : "datasheet";
  std::string text = paragraph(
      "",
      fmt::format("{}: {} times against {}, {} rates, precision {}, {} of the runs", headroom.run,
                  headroom.times.size(), headroom.arch, rates, headroom.precision,
                  headroom.statistic == "min" ? "the fastest" : "the mean"),
      style.width(), 2);
  if (headroom.violations.empty()) {
    text += style.titled(Tone::Good, "violations", "none, no time is below its fused floor");
  } else {
    text += style.titled(Tone::Failure, fmt::format("violations ({})", headroom.violations.size()),
                         "measured below the fused floor");
    text += times_table(headroom.violations, headroom.violations.size(), style);
  }
  text += names_text("measured, no floor", headroom.without_floor, style);
  text += names_text("not measured", headroom.not_measured, style);
  text += "\n" +
          style.titled(Tone::Heading, "geometric means",
                       "headroom = measured / fused; of it, overhead = measured / unfused "
                       "(kernels, launches), fusion = unfused / fused") +
          groups_table(headroom, style);
  text +=
      "\n" + style.heading("farthest from the floor") + times_table(headroom.times, kShown, style);
  return text;
}

}  // namespace solar::report

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

constexpr double kClose = 1.25;  // a factor that is not worth an attempt

/// What makes most of the distance.
std::string next_fix(const HeadroomTime& time) {
  if (time.headroom() < 1) return "below the floor";
  const double fusion = std::min(time.fusion(), time.headroom());  // some may be had already
  if (time.headroom() < kClose) return time.algorithm() < kClose ? "at the floor" : "algorithm";
  if (time.algorithm() > std::max(time.overhead(), fusion)) return "algorithm";
  return time.overhead() >= fusion ? "kernels and launches" : "fusion";
}

std::string groups_table(const Headroom& headroom, const Style& style) {
  Table table({{.title = "folder", .shrinks_to = 6},
               {.title = "measured", .shrinks_to = 8},
               {.title = "problems", .right = true},
               {.title = "left out", .right = true},
               {.title = "headroom", .right = true},
               {.title = "overhead", .right = true},
               {.title = "fusion", .right = true},
               {.title = "algorithm", .right = true},
               {.title = "median of floor", .right = true},
               {.title = "80% or more", .right = true, .may_go = true}});
  for (const HeadroomGroup& g : headroom.groups) {
    const bool none = g.violations == g.problems;
    const auto mean = [&](const std::string& text) { return none ? std::string("-") : text; };
    table.row({g.folder.empty() ? "all" : g.folder, g.implementation, std::to_string(g.problems),
               g.violations > 0 ? std::to_string(g.violations) : "", mean(ratio_text(g.headroom)),
               mean(ratio_text(g.overhead)), mean(ratio_text(g.fusion)),
               headroom.algebraic ? mean(ratio_text(g.algorithm)) : "",
               mean(percent_text(g.median_share)), mean(std::to_string(g.above_80_percent))});
  }
  return table.render(style.width());
}

std::string times_table(const std::vector<HeadroomTime>& times, size_t count, const Style& style) {
  Table table({{.title = "problem", .shrinks_to = 16},
               {.title = "measured", .shrinks_to = 8},
               {.title = "time", .right = true},
               {.title = "headroom", .right = true},
               {.title = "overhead", .right = true},
               {.title = "fusion", .right = true},
               {.title = "algorithm", .right = true},
               {.title = "next", .may_go = true},
               {.title = "fused floor", .right = true, .may_go = true}});
  for (size_t i = 0; i < std::min(count, times.size()); ++i) {
    const HeadroomTime& t = times[i];
    table.row({t.problem, t.implementation, time_text(t.measured_s), ratio_text(t.headroom()),
               ratio_text(t.overhead()), ratio_text(t.fusion()),
               t.algebraic_s ? ratio_text(t.algorithm()) : "", next_fix(t), time_text(t.fused_s)});
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
      fmt::format("{}: {} {} against {}, {} rates, precision {}, {} of the runs", headroom.run,
                  headroom.times.size(), headroom.times.size() == 1 ? "time" : "times",
                  headroom.arch, rates, headroom.precision,
                  headroom.statistic == "min" ? "the fastest" : "the mean"),
      style.width(), 2);
  if (headroom.violations.empty()) {
    text += style.titled(Tone::Good, "violations", "none, no time is below its fused floor");
  } else {
    const auto explained = std::count_if(
        headroom.violations.begin(), headroom.violations.end(),
        [](const HeadroomTime& t) { return t.algebraic_s && t.measured_s >= *t.algebraic_s; });
    text += style.titled(Tone::Failure, fmt::format("violations ({})", headroom.violations.size()),
                         explained == 0 ? "measured below the fused floor"
                                        : fmt::format("measured below the fused floor; {} of them "
                                                      "not below the algebraic one",
                                                      explained));
    text += times_table(headroom.violations, headroom.violations.size(), style);
  }
  text += names_text("measured, no floor", headroom.without_floor, style);
  text += names_text("not measured", headroom.not_measured, style);
  text += warnings_text(headroom.warnings, style);
  std::string means =
      "headroom = measured / fused; of it, overhead = measured / unfused (kernels, launches), "
      "fusion = unfused / fused";
  if (headroom.algebraic) means += "; beyond it, algorithm = fused / algebraic";
  if (!headroom.violations.empty()) means += "; violations are left out";
  text +=
      "\n" + style.titled(Tone::Heading, "geometric means", means) + groups_table(headroom, style);
  text +=
      "\n" + style.heading("farthest from the floor") + times_table(headroom.times, kShown, style);
  return text;
}

}  // namespace solar::report

#include "report/text_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "report/format.h"
#include "report/table.h"

namespace solar::report {
namespace {

constexpr int kLeastWidth = 60;
constexpr int kMostWidth = 100;

const char* code(Tone tone) {
  switch (tone) {
    case Tone::Heading:
      return "\x1b[1m";
    case Tone::Good:
      return "\x1b[32m";
    case Tone::Warning:
      return "\x1b[1;33m";
    case Tone::Failure:
      return "\x1b[1;31m";
  }
  return "";
}

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Where an assumption holds that not every bound makes: `(operator by operator)`, `(on a6000,
/// thor)`.
std::string scope_of(const std::string& assumption, const std::vector<Bound>& bounds) {
  bool all_unfused = true;
  bool any_fused = false;
  std::vector<std::string> archs;
  for (const Bound& bound : bounds) {
    if (bound.mode == "algebraic" || bound.mode == "cache_aware") continue;
    if (has(bound.assumptions, assumption)) {
      any_fused = any_fused || bound.mode == "fused";
      if (!has(archs, bound.arch)) archs.push_back(bound.arch);
    } else if (bound.mode == "unfused") {
      all_unfused = false;
    }
  }
  if (any_fused) return fmt::format("on {}", fmt::join(archs, ", "));
  if (all_unfused) return "operator by operator";
  return fmt::format("operator by operator on {}", fmt::join(archs, ", "));
}

std::string list_text(const std::vector<std::string>& items, const Style& style) {
  if (items.empty()) return "";
  const std::string text = fmt::format("{} (`solar explain NAME`)", fmt::join(items, ", "));
  return paragraph("assuming ", text, style.width(), 9);
}

std::string comparison(const Validation& v) {
  std::string text = v.method == "full" ? "at full size"
                     : v.method == "two-trace"
                         ? "at small sizes, same program at full size (two-trace)"
                     : v.method == "per-op" ? "each operator by itself only (per-op, weaker)"
                                            : v.method;
  text += fmt::format(", {} {}", v.seeds, v.seeds == 1 ? "run" : "runs");
  if (!v.distributions.empty()) text += fmt::format(" ({})", fmt::join(v.distributions, ", "));
  if (v.max_abs_error > 0) {
    text += fmt::format(
        "; largest error {} absolute, {} relative to the value or its output's root mean square",
        small_text(v.max_abs_error), small_text(v.max_rel_error));
  } else if (v.worst_tolerance_share == 0) {
    text += "; all values are equal";
  }
  return text;
}

/// The worst place and its own error, which need not be the largest one.
std::string worst_text(const Validation& v, const Style& style) {
  if (v.worst_place.empty() || v.worst_tolerance_share == 0) return "";
  std::string text = v.worst_place;
  if (!std::isfinite(v.worst_tolerance_share)) {
    text += ", which must be equal";
  } else {
    text += fmt::format(", {} of its tolerance", small_text(v.worst_tolerance_share));
    if (v.tolerance_factor > 0) {
      text += fmt::format(" (c = {} times the rounding error that its sums may have)",
                          small_text(v.tolerance_factor));
    }
  }
  return paragraph(v.worst_tolerance_share > 1 ? "  worst: " : "  nearest to its tolerance: ", text,
                   style.width(), 4);
}

std::string bindings_text(const Validation& v) {
  constexpr size_t kShown = 8;
  std::vector<std::string> parts;
  for (const auto& [name, value] : v.bindings) {
    if (parts.size() < kShown) parts.push_back(fmt::format("{}={}", name, value));
  }
  if (v.bindings.size() > kShown) {
    parts.push_back(fmt::format("and {} more", v.bindings.size() - kShown));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace

Style::Style(const TextOptions& options)
    : width_(static_cast<size_t>(std::clamp(options.width, kLeastWidth, kMostWidth))),
      colour_(options.colour) {}

std::string Style::paint(Tone tone, std::string_view text) const {
  return colour_ ? fmt::format("{}{}\x1b[0m", code(tone), text) : std::string(text);
}

std::string Style::heading(std::string_view text) const {
  return paint(Tone::Heading, printable_line(text)) + "\n";
}

std::string Style::titled(Tone tone, std::string_view name, std::string_view text) const {
  const std::string shown = printable_line(name);
  std::string result = paragraph(shown + ": ", text, width_, 2);
  return result.replace(0, shown.size(), paint(tone, shown));
}

std::vector<ArchBounds> by_arch(const Report& report) {
  std::vector<ArchBounds> result;
  for (const Bound& bound : report.bounds) {
    auto at = std::find_if(result.begin(), result.end(),
                           [&](const ArchBounds& a) { return a.arch == bound.arch; });
    if (at == result.end()) at = result.insert(result.end(), {bound.arch});
    if (bound.mode == "unfused") at->unfused = &bound;
    if (bound.mode == "fused") at->fused = &bound;
    if (bound.mode == "algebraic") at->algebraic = &bound;
    if (bound.mode == "cache_aware") at->cache_aware = &bound;
  }
  return result;
}

std::string limited_by(std::string_view limiter) {
  return limiter.empty() ? "" : fmt::format("{}-limited", limiter);
}

std::string validation_text(const Validation& v, const Style& style) {
  std::string text;
  const auto loud = [&](Tone tone, const std::string& title, const std::string& body) {
    text = style.titled(tone, title, body);
  };
  if (v.status == "passed") {
    loud(Tone::Good, "validated", comparison(v));
    text += worst_text(v, style);
  } else if (v.status == "failed") {
    loud(Tone::Failure, "VALIDATION FAILED",
         fmt::format("{}. What follows describes a program that does not do what the source does.",
                     v.reason.empty() ? "the results differ from the original's" : v.reason));
    if (v.seeds > 0) text += paragraph("  compared ", comparison(v), style.width(), 4);
    text += worst_text(v, style);
  } else {
    loud(Tone::Warning, "NOT VALIDATED",
         fmt::format("{}. What follows holds only if the program means what its source does.",
                     v.reason.empty() ? "validation was skipped" : v.reason));
  }
  if (!v.bindings.empty()) {
    text += paragraph("  small size: ", bindings_text(v), style.width(), 4);
  }
  for (const std::string& note : v.notes) text += paragraph("  note: ", note, style.width(), 4);
  return text;
}

std::string warnings_text(const std::vector<std::string>& warnings, const Style& style) {
  std::string text;
  for (const std::string& warning : warnings) {
    if (warning.starts_with("validation failed:") || warning.starts_with("validation skipped:")) {
      continue;
    }
    text += style.titled(Tone::Warning, "warning", warning);
  }
  return text;
}

std::string without_text(const std::vector<ArchBounds>& archs, const Style& style) {
  if (archs.empty() || archs.front().fused == nullptr) return "";
  const Bound& bound = *archs.front().fused;
  if (bound.without.empty()) return "";
  std::vector<std::string> parts;
  std::vector<std::string> same;
  std::vector<std::string> unknown;
  for (const std::string& assumption : bound.assumptions) {
    const auto at =
        std::find_if(bound.without.begin(), bound.without.end(),
                     [&](const Without& without) { return without.assumption == assumption; });
    if (at == bound.without.end()) {
      unknown.push_back(assumption);
    } else if (at->time_s == bound.time_s) {
      same.push_back(assumption);
    } else {
      parts.push_back(fmt::format("{} without {}", time_text(at->time_s), assumption));
    }
  }
  if (!same.empty()) parts.push_back(fmt::format("the same without {}", fmt::join(same, " or ")));
  if (!unknown.empty())
    parts.push_back(fmt::format("not known without {}", fmt::join(unknown, " or ")));
  if (parts.empty()) return "";
  return paragraph("  ",
                   fmt::format("fused on {}, {}: {}", bound.arch, time_text(bound.time_s),
                               fmt::join(parts, ", ")),
                   style.width(), 4);
}

std::string assumptions_text(const Report& report, const Style& style) {
  std::vector<std::string> all;
  std::vector<std::string> rewritten;
  std::vector<std::string> cached;
  for (const Bound& bound : report.bounds) {
    if (bound.mode == "algebraic" || bound.mode == "cache_aware") continue;
    for (const std::string& assumption : bound.assumptions) {
      if (!has(all, assumption)) all.push_back(assumption);
    }
  }
  for (const Bound& bound : report.bounds) {
    if (bound.mode != "cache_aware") continue;
    for (const std::string& assumption : bound.assumptions) {
      if (!has(all, assumption) && !has(cached, assumption)) cached.push_back(assumption);
    }
  }
  for (const Bound& bound : report.bounds) {
    if (bound.rewrites.value_or(0) == 0) continue;
    for (const std::string& assumption : bound.assumptions) {
      if (!has(all, assumption) && !has(rewritten, assumption)) rewritten.push_back(assumption);
    }
  }
  std::vector<std::string> items;
  std::vector<std::string> partial;
  for (const std::string& assumption : all) {
    const bool everywhere =
        std::all_of(report.bounds.begin(), report.bounds.end(), [&](const Bound& b) {
          return b.mode == "algebraic" || b.mode == "cache_aware" || has(b.assumptions, assumption);
        });
    if (everywhere) {
      items.push_back(assumption);
    } else {
      partial.push_back(fmt::format("{} ({})", assumption, scope_of(assumption, report.bounds)));
    }
  }
  items.insert(items.end(), partial.begin(), partial.end());
  for (const std::string& assumption : rewritten)
    items.push_back(fmt::format("{} (after algebra)", assumption));
  for (const std::string& assumption : cached)
    items.push_back(fmt::format("{} (with caches of finite size)", assumption));
  return list_text(items, style);
}

std::string assumptions_text(const std::vector<std::string>& assumptions, const Style& style) {
  std::vector<std::string> once;
  for (const std::string& item : assumptions) {
    if (!has(once, item)) once.push_back(item);
  }
  return list_text(once, style);
}

std::string title_text(const Report& report, const Style& style) {
  const bool known = report.mode != "as exported" && !report.mode.empty();
  std::string text =
      fmt::format("{}{}{}{}, {} source {}", report.program, report.mode.empty() ? "" : ", ",
                  report.mode, known ? " mode" : "", report.nodes.size(),
                  report.nodes.size() == 1 ? "operator" : "operators");
  if (!report.bounds.empty()) {
    const Bound& bound = report.bounds.front();
    text += fmt::format(", precision {}", bound.precision);
    if (bound.storage != "as-written") text += fmt::format(", storage {}", bound.storage);
    if (bound.cache != "cold") text += fmt::format(", {} cache", bound.cache);
    if (report.bounds.back().params != "runtime")
      text += fmt::format(", parameters {} (after algebra)", report.bounds.back().params);
    if (bound.strict) text += ", strict";
  }
  return style.titled(Tone::Heading, report.source, text);
}

}  // namespace solar::report

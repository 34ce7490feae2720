#include <fmt/format.h>

#include "report/format.h"
#include "report/score.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

Tone tone_of(const std::string& verdict) {
  if (verdict == "plausible") return Tone::Good;
  return verdict == "suspicious" ? Tone::Warning : Tone::Failure;
}

}  // namespace

std::string render_text(const Score& s, const TextOptions& options) {
  const Style style(options);
  std::string text = style.titled(
      Tone::Heading, s.source,
      fmt::format("{} in {} on {}, precision {}, {} rates", s.program, time_text(s.measured_s),
                  s.arch, s.precision, s.strict ? "strict" : "datasheet"));
  text += style.titled(tone_of(s.verdict), s.verdict, s.verdict_text);
  if (s.score) {
    text += style.titled(Tone::Heading, "score",
                         fmt::format("{} (1 at the floor, 0.5 at the baseline of {})",
                                     score_text(*s.score), time_text(*s.baseline_s)));
  } else {
    text += style.titled(Tone::Heading, "no score", s.no_score);
  }
  if (!s.constant_outputs.empty()) {
    text += style.titled(Tone::Failure, "CONSTANT OUTPUTS",
                         fmt::format("{}: no change of the inputs changes them",
                                     fmt::join(s.constant_outputs, ", ")));
  }
  if (!s.ignored_inputs.empty()) {
    text += style.titled(
        Tone::Failure, "IGNORED INPUTS",
        fmt::format("{}: changing them changes no output", fmt::join(s.ignored_inputs, ", ")));
  }
  text += degenerate_text(s.degenerate, style);
  text += validation_text(s.validation, style);
  text += warnings_text(s.warnings, style);
  Table table({{.title = "floor"}, {.title = "time", .right = true}, {.title = "measured /"}});
  const auto row = [&](const char* name, double seconds) {
    table.row({name, time_text(seconds), ratio_text(s.measured_s / seconds)});
  };
  row("unfused", s.unfused_s);
  row("fused", s.sol_s);
  row("fused, strict rates", s.strict_sol_s);
  if (s.algebraic_s)
    row(s.params == "runtime" ? "algebraic" : "algebraic, parameters frozen", *s.algebraic_s);
  if (s.impossible_s) {
    table.row({"impossible below", time_text(*s.impossible_s),
               *s.impossible_s > 0 ? ratio_text(s.measured_s / *s.impossible_s) : "-"});
  }
  text += "\n" + table.render(style.width());
  if (!s.impossible_s) {
    text +=
        paragraph("  ", "what is impossible is not known: " + s.not_impossible, style.width(), 4);
  } else {
    text += paragraph(
        "  ",
        fmt::format("impossible: {} of needed inputs and outputs, less {} that may be on chip from "
                    "the run before, at the largest bandwidth",
                    bytes_text(static_cast<double>(s.live_bytes)),
                    bytes_text(static_cast<double>(s.on_chip_bytes))),
        style.width(), 4);
  }
  if (!s.rewrites.empty() || !s.algebra_notes.empty()) {
    text += "\n" + style.heading("what the algebra allows") +
            rewrites_text(s.rewrites, s.algebra_notes, style) + "\n";
  }
  return text + assumptions_text(s.assumptions, style);
}

}  // namespace solar::report

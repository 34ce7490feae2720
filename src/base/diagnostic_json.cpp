#include "base/diagnostic_json.h"

#include <nlohmann/json.hpp>

namespace solar {
namespace {

nlohmann::json place(const Span& span) {
  if (!span.source) return nullptr;
  const Position begin = position_of(*span.source, span.begin);
  const Position end = position_of(*span.source, span.end);
  return {{"file", span.source->name},
          {"line", begin.line},
          {"column", begin.column},
          {"end_line", end.line},
          {"end_column", end.column},
          {"begin", span.begin},
          {"end", span.end}};
}

const char* word(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

const char* word(FixConfidence confidence) {
  return confidence == FixConfidence::Always  ? "always"
         : confidence == FixConfidence::Maybe ? "maybe"
                                              : "has-placeholders";
}

}  // namespace

nlohmann::json to_json(const Diagnostic& d) {
  nlohmann::json out = {
      {"kind", slug(d.kind)}, {"severity", word(d.severity)}, {"message", d.message}};
  if (d.span.source) out["span"] = place(d.span);
  if (!d.hint.empty()) out["hint"] = d.hint;
  for (const Label& label : d.labels) {
    out["labels"].push_back({{"span", place(label.span)}, {"text", label.text}});
  }
  for (const Fix& fix : d.fixes) {
    out["fixes"].push_back({{"span", place(fix.span)},
                            {"replacement", fix.replacement},
                            {"confidence", word(fix.confidence)}});
  }
  return out;
}

nlohmann::json to_json(const Diagnostics& diagnostics) {
  nlohmann::json out = nlohmann::json::array();
  for (const Diagnostic& d : diagnostics) out.push_back(to_json(d));
  return out;
}

}  // namespace solar

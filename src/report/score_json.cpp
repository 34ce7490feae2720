#include <nlohmann/json.hpp>

#include "report/json_parts.h"
#include "report/score.h"

namespace solar::report {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json objects_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

}  // namespace

std::string render_json(const Score& s) {
  Json out = {{"schema", "solar.score/1"}, {"source", s.source},
              {"program", s.program},      {"arch", s.arch},
              {"precision", s.precision},  {"strict", s.strict}};
  out["validation"] = {{"status", s.validation.status}};
  if (!s.validation.method.empty()) out["validation"]["method"] = s.validation.method;
  if (!s.validation.reason.empty()) out["validation"]["reason"] = s.validation.reason;
  out["measured_s"] = s.measured_s;
  if (s.baseline_s) out["baseline_s"] = *s.baseline_s;
  out["sol_s"] = s.sol_s;
  out["unfused_s"] = s.unfused_s;
  if (s.algebraic_s) out["algebraic_s"] = *s.algebraic_s;
  if (s.params != "runtime") out["params"] = s.params;
  out["strict_sol_s"] = s.strict_sol_s;
  out["limiter"] = s.limiter;
  if (s.score) out["score"] = *s.score;
  if (!s.no_score.empty()) out["no_score"] = s.no_score;
  out["verdict"] = s.verdict;
  out["verdict_text"] = s.verdict_text;
  if (s.impossible_s) {
    out["impossible_s"] = *s.impossible_s;
    out["live_bytes"] = s.live_bytes;
    out["on_chip_bytes"] = s.on_chip_bytes;
  } else {
    out["not_impossible"] = s.not_impossible;
  }
  out["constant_outputs"] = s.constant_outputs;
  out["ignored_inputs"] = s.ignored_inputs;
  out["assumptions"] = s.assumptions;
  if (s.algebraic_s) {
    out["rewrites"] = objects_of(s.rewrites);
    out["rewrites_used"] = s.rewrites_used;
    if (!s.algebra_notes.empty()) out["algebra_notes"] = s.algebra_notes;
    out["degenerate"] = objects_of(s.degenerate);
  }
  out["warnings"] = s.warnings;
  return out.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace solar::report

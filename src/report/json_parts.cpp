#include "report/json_parts.h"

namespace solar::report {

nlohmann::ordered_json to_json(const Rewrite& r) {
  nlohmann::ordered_json out = {{"kind", r.kind}};
  if (!r.op.empty()) out["op"] = r.op;
  if (!r.at.empty()) out["at"] = r.at;
  if (!r.module.empty()) out["module"] = r.module;
  if (!r.tensor.empty()) out["tensor"] = r.tensor;
  if (!r.what.empty()) out["what"] = r.what;
  if (r.saves_macs) out["saves_macs"] = *r.saves_macs;
  if (r.saves_bytes) out["saves_bytes"] = *r.saves_bytes;
  if (!r.validated.empty()) out["validated"] = r.validated;
  return out;
}

nlohmann::ordered_json to_json(const Degenerate& d) {
  nlohmann::ordered_json out = {{"kind", d.kind}, {"tensor", d.tensor}, {"what", d.what}};
  if (!d.at.empty()) out["at"] = d.at;
  return out;
}

}  // namespace solar::report

#include "roofline/inverse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace solar::roofline {

using arch::Machine;
using arch::UnitClass;

namespace {

Diagnostic failure(DiagnosticKind kind, std::string message, std::string hint) {
  Diagnostic diagnostic{.kind = kind};
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

Result<Need> need_of(const Work& graph, Seconds target, const Policy& policy) {
  Need need;
  if (!total_macs(graph)) {
    return failure(DiagnosticKind::CountOverflow,
                   "the number of multiply-accumulates does not fit 64 bits", "bind smaller dims");
  }
  for (const MacsOf& part : graph.macs) {
    if (part.macs.value == 0) continue;
    const arch::NumberFormat format = format_of(part.type, part.convolution, policy);
    auto same = std::find_if(need.formats.begin(), need.formats.end(),
                             [&](const FormatNeed& other) { return other.format == format; });
    if (same == need.formats.end()) {
      need.formats.push_back({.format = format, .unit = usual_unit(format)});
      same = std::prev(need.formats.end());
    }
    same->macs.value += part.macs.value;  // cannot overflow: the total fits
  }
  for (FormatNeed& part : need.formats) {
    part.rate = {static_cast<double>(part.macs.value) / target.value};
    MacsPerSecond& unit = part.unit == UnitClass::Tensor ? need.tensor : need.vector;
    unit.value += part.rate.value;
  }
  need.bandwidth = {static_cast<double>(graph.traffic.value) / target.value};
  return need;
}

std::optional<double> factor(Seconds target, Seconds time) {
  if (time.value <= 0) return std::nullopt;
  return target.value / time.value;
}

MachineFactor factors_of(std::span<const Work> operators, const Work& graph, Seconds target,
                         const Machine& machine, const Policy& policy) {
  MachineFactor result{.machine = machine.id};
  Result<Bounds> found = bounds(operators, graph, machine, policy);
  if (!found) {
    result.error = std::move(found.error());
    return result;
  }
  result.bounds = std::move(*found);
  const Time& fused = result.bounds.fused.time;
  result.tensor = factor(target, fused.tensor);
  result.vector = factor(target, fused.vector);
  result.bandwidth = factor(target, fused.memory);
  result.fused = factor(target, fused.total);
  result.unfused = factor(target, result.bounds.unfused.time.total);
  return result;
}

}  // namespace

Result<Inverse> inverse(std::span<const Work> operators, const Work& graph, Seconds target,
                        std::span<const Machine> machines, const Policy& policy) {
  if (!std::isfinite(target.value) || target.value <= 0) {
    return failure(DiagnosticKind::Usage, "the target must be a positive, finite time or rate",
                   "write it like `--target 2ms` or `--rate 500Hz`");
  }
  Inverse result{.target = target};
  SOLAR_TRY(result.need, need_of(graph, target, policy));
  // The need itself knows no machine, so no peaks are assumed; the factors rest on more.
  result.assumptions = {"as-written-graph", "classical-products", "cold-cache"};
  for (const FormatNeed& part : result.need.formats) {
    if (part.format == arch::NumberFormat::Tf32) add_once(result.assumptions, {"tf32-allowed"});
  }
  for (const Machine& machine : machines) {
    result.machines.push_back(factors_of(operators, graph, target, machine, policy));
    const Bounds& found = result.machines.back().bounds;
    add_once(result.assumptions, found.fused.assumptions);
    add_once(result.assumptions, found.unfused.assumptions);
  }
  return result;
}

}  // namespace solar::roofline

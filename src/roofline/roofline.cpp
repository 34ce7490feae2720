#include "roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace solar::roofline {

using arch::Machine;
using arch::UnitClass;

namespace {

/// The work of `work` as far as it is in the time: the assumptions behind the rates it used.
struct Priced {
  Time time = {};
  std::vector<std::string> assumptions = {};
};

Diagnostic overflow(std::string_view what) {
  Diagnostic diagnostic{.kind = DiagnosticKind::CountOverflow};
  diagnostic.message = fmt::format("the number of {} does not fit 64 bits", what);
  diagnostic.hint = "bind smaller dims";
  return diagnostic;
}

Diagnostic endless(const Machine& machine) {
  Diagnostic diagnostic{.kind = DiagnosticKind::ArchUnit};
  diagnostic.message =
      fmt::format("the rates of `{}` are so low that times are not finite", machine.id);
  diagnostic.hint = "`solar arch show` prints them";
  return diagnostic;
}

std::optional<FlopsPerByte> intensity(Macs macs, Bytes traffic) {
  if (traffic.value == 0) return std::nullopt;
  return FlopsPerByte{2 * static_cast<double>(macs.value) / static_cast<double>(traffic.value)};
}

Diagnostic capacity_missing(const Machine& machine) {
  Diagnostic diagnostic{.kind = DiagnosticKind::MissingCapacity};
  diagnostic.message = fmt::format("how much a warm cache of `{}` holds is not known", machine.id);
  diagnostic.hint = fmt::format("`solar arch show {}` prints what is missing", machine.id);
  return diagnostic;
}

/// What must cross the DRAM interface of `whole` (a program that is run again and again), or of one
/// of its operators.
Result<Bytes> traffic_of(const Work& work, bool whole, const Machine& machine,
                         const Policy& policy) {
  if (!policy.warm_cache) return work.traffic;
  const auto on_chip = machine.on_chip();
  if (!on_chip) return capacity_missing(machine);
  // Each byte on chip saves at most one transfer at the boundary of two runs; state that the next
  // run overwrites need not be written either. An operator finds what others left, and leaves what
  // it wrote to be written while others run.
  const int64_t kept = std::min(on_chip->value, whole ? work.rewritten.value : INT64_MAX);
  int64_t left = work.traffic.value;
  left -= std::min(left, on_chip->value);
  left -= std::min(left, kept);
  return Bytes{left};
}

Result<Priced> price(const Work& work, bool whole, const Machine& machine, const Policy& policy) {
  Priced priced;
  Time& time = priced.time;
  const auto macs = total_macs(work);
  if (!macs) return overflow("multiply-accumulates");
  time.macs = *macs;
  SOLAR_TRY(time.traffic, traffic_of(work, whole, machine, policy));
  time.operational_intensity = intensity(time.macs, time.traffic);
  for (const MacsOf& part : work.macs) {
    if (part.macs.value == 0) continue;
    SOLAR_TRY(const ChosenRate rate, rate_of(part.type, part.convolution, machine, policy));
    Seconds& unit = rate.unit == UnitClass::Tensor ? time.tensor : time.vector;
    unit = unit + part.macs / rate.rate;
    add_once(priced.assumptions, rate.assumptions);
  }
  if (time.traffic.value > 0) {
    const ChosenBandwidth bandwidth = bandwidth_of(machine, policy);
    time.memory = time.traffic / bandwidth.rate;
    add_once(priced.assumptions, bandwidth.assumptions);
  }
  time.compute = std::max(time.tensor, time.vector);
  time.total = std::max(time.compute, time.memory);
  if (!std::isfinite(time.total.value)) return endless(machine);
  if (time.memory < time.compute) {
    time.limiter = time.tensor >= time.vector ? Limiter::Tensor : Limiter::Vector;
  }
  return priced;
}

std::vector<std::string> assumptions_of(const Policy& policy, bool fused,
                                        const std::vector<std::string>& used) {
  std::vector<std::string> result = {"as-written-graph", "classical-products",
                                     policy.warm_cache ? "warm-cache" : "cold-cache"};
  if (!fused) result.emplace_back("no-fusion");
  result.emplace_back(policy.strict ? "strict-peaks" : "datasheet-peaks");
  add_once(result, used);
  return result;
}

Limiter longest(const std::array<Seconds, 3>& limited) {
  size_t best = 0;
  for (size_t i = 1; i < limited.size(); ++i) {
    if (limited[i] > limited[best]) best = i;
  }
  return static_cast<Limiter>(best);
}

/// Whether `a` is the lower time, by total and then by compute.
bool lower(const Time& a, const Time& b) {
  return a.total < b.total || (a.total == b.total && a.compute < b.compute);
}

Result<Bounds> bounds_as(std::span<const Work> operators, const Work& graph, const Machine& machine,
                         const Policy& policy) {
  Bounds result;
  SOLAR_TRY(const Priced fused, price(graph, true, machine, policy));
  result.fused = {fused.time, assumptions_of(policy, true, fused.assumptions)};

  Time sum;
  std::vector<std::string> used = fused.assumptions;
  std::array<Seconds, 3> limited = {};
  for (const Work& work : operators) {
    SOLAR_TRY(const Priced priced, price(work, false, machine, policy));
    const Time& time = priced.time;
    sum.total = sum.total + time.total;
    sum.compute = sum.compute + time.compute;
    sum.memory = sum.memory + time.memory;
    sum.tensor = sum.tensor + time.tensor;
    sum.vector = sum.vector + time.vector;
    Seconds& mine = limited[static_cast<size_t>(time.limiter)];
    mine = mine + time.total;
    const auto macs = checked_add(sum.macs, time.macs);
    if (!macs) return overflow("multiply-accumulates");
    const auto traffic = checked_add(sum.traffic, time.traffic);
    if (!traffic) return overflow("bytes");
    sum.macs = *macs;
    sum.traffic = *traffic;
    add_once(used, priced.assumptions);
    result.operators.push_back(time);
  }
  sum.limiter = longest(limited);
  sum.operational_intensity = intensity(sum.macs, sum.traffic);
  // Running the operators one by one also does the graph's work, so its floor holds here too. It is
  // the higher one only where the graph writes what no operator computes, or by the rounding of the
  // sum.
  if (result.fused.time.total > sum.total) {
    const double slack = result.fused.time.total.value - sum.total.value;
    if (slack <= sum.total.value * 1e-9) {
      sum.total = result.fused.time.total;
    } else {
      sum = result.fused.time;
    }
  }
  result.unfused = {sum, assumptions_of(policy, false, used)};
  return result;
}

}  // namespace

std::string_view name(Limiter limiter) {
  switch (limiter) {
    case Limiter::Memory:
      return "memory";
    case Limiter::Tensor:
      return "tensor";
    case Limiter::Vector:
      return "vector";
  }
  return "?";
}

std::optional<Macs> total_macs(const Work& work) {
  std::optional<Macs> total = Macs{};
  for (const MacsOf& part : work.macs) {
    total = checked_add(*total, part.macs);
    if (!total) return std::nullopt;
  }
  return total;
}

Result<Work> sum_of(std::span<const Work> operators) {
  Work sum;
  for (const Work& work : operators) {
    const auto traffic = checked_add(sum.traffic, work.traffic);
    if (!traffic) return overflow("bytes");
    sum.traffic = *traffic;
    sum.rewritten = {};  // what the operators' own are of the sum is not known
    for (const MacsOf& part : work.macs) {
      const auto same = std::find_if(sum.macs.begin(), sum.macs.end(), [&](const MacsOf& other) {
        return other.type == part.type && other.convolution == part.convolution;
      });
      if (same == sum.macs.end()) {
        sum.macs.push_back(part);
        continue;
      }
      const auto macs = checked_add(same->macs, part.macs);
      if (!macs) return overflow("multiply-accumulates");
      same->macs = *macs;
    }
  }
  return sum;
}

Result<Time> time_of(const Work& work, const Machine& machine, const Policy& policy) {
  Result<Priced> priced = price(work, true, machine, policy);
  if (policy.strict && policy.split_fp32) {
    Policy unsplit = policy;
    unsplit.split_fp32 = false;
    Result<Priced> other = price(work, true, machine, unsplit);
    if (other && (!priced || lower(other->time, priced->time))) priced = std::move(other);
  }
  if (!priced) return std::move(priced.error());
  return priced->time;
}

namespace {

Result<Bounds> best_bounds(std::span<const Work> operators, const Work& graph,
                           const Machine& machine, const Policy& policy) {
  SOLAR_TRY(Bounds result, bounds_as(operators, graph, machine, policy));
  const bool splits = policy.strict ? policy.split_fp32 : policy.emulated_fp32;
  if (!splits) return result;
  // Split products share the tensor units with everything else there: where those are the busier
  // ones, fp32 is better left on its own units. Each bound takes one choice for the whole graph, so
  // fused stays below unfused.
  Policy unsplit = policy;
  unsplit.split_fp32 = false;
  unsplit.emulated_fp32 = false;
  Result<Bounds> other = bounds_as(operators, graph, machine, unsplit);
  if (!other) return result;
  if (lower(other->fused.time, result.fused.time)) result.fused = std::move(other->fused);
  if (lower(other->unfused.time, result.unfused.time)) {
    result.unfused = std::move(other->unfused);
    result.operators = std::move(other->operators);
  }
  return result;
}

bool has(const Bound& bound, std::string_view assumption) {
  return std::find(bound.assumptions.begin(), bound.assumptions.end(), assumption) !=
         bound.assumptions.end();
}

/// The policy under which `assumption` is not made; nullopt where no policy is.
std::optional<Policy> policy_without(std::string_view assumption, const Machine& machine,
                                     Policy policy) {
  if (assumption == "cold-cache" && machine.on_chip()) {
    policy.warm_cache = true;
  } else if (assumption == "warm-cache") {
    policy.warm_cache = false;
  } else if (assumption == "datasheet-peaks" && machine.strict_peak_scale &&
             machine.strict_dram_bandwidth) {
    policy.strict = true;
    policy.split_fp32 = false;
  } else if (assumption == "no-fp32-emulation") {
    policy.emulated_fp32 = true;
  } else if (assumption == "fp32-as-split-products") {
    policy.split_fp32 = false;
  } else if (assumption == "tf32-allowed" && policy.precision == Precision::AsWritten) {
    policy.tf32_convolutions = false;
    policy.tf32_matmul = false;
  } else {
    return std::nullopt;
  }
  return policy;
}

void add_without(Bounds& bounds, std::span<const Work> operators, const Work& graph,
                 const Machine& machine, const Policy& policy) {
  for (const std::string& assumption : std::vector<std::string>(bounds.unfused.assumptions)) {
    if (assumption == "no-fusion") {
      bounds.unfused.without.push_back({assumption, bounds.fused.time.total});
      continue;
    }
    const auto other = policy_without(assumption, machine, policy);
    if (!other) continue;
    const auto times = best_bounds(operators, graph, machine, *other);
    if (!times) continue;
    if (has(bounds.fused, assumption))
      bounds.fused.without.push_back({assumption, times->fused.time.total});
    bounds.unfused.without.push_back({assumption, times->unfused.time.total});
  }
}

}  // namespace

Result<Bounds> bounds(std::span<const Work> operators, const Work& graph, const Machine& machine,
                      const Policy& policy) {
  SOLAR_TRY(Bounds result, best_bounds(operators, graph, machine, policy));
  add_without(result, operators, graph, machine, policy);
  return result;
}

FlopsPerByte ridge_point(MacsPerSecond rate, BytesPerSecond bandwidth) {
  return {2 * rate.value / bandwidth.value};
}

}  // namespace solar::roofline

#pragma once
// Speed-of-light times from exact work: how long the arithmetic and the DRAM traffic take at a
// machine's peaks. Pure functions; counts are exact until they are divided by a rate.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/machine.h"
#include "base/result.h"
#include "base/units.h"
#include "ir/types.h"
#include "roofline/rates.h"

namespace solar::roofline {

struct MacsOf {
  ir::ElementType type = ir::ElementType::F32;
  bool convolution = false;
  Macs macs = {};
};

/// What an operator or a whole graph has to do.
struct Work {
  std::vector<MacsOf> macs = {};
  Bytes traffic = {};
  Bytes rewritten = {};  // of it, state that is read and written: in a warm cache it may stay there
};

/// All MACs of `work`; absent if they do not fit 64 bits.
std::optional<Macs> total_macs(const Work& work);

/// The whole of the operators: MACs by type added up, traffic added up.
Result<Work> sum_of(std::span<const Work> operators);

enum class Limiter : uint8_t { Memory, Tensor, Vector };
std::string_view name(Limiter limiter);

/// Of one operator or one graph: total = max(compute, memory), compute = max(tensor, vector). Of a
/// sum of operators (`Bounds::unfused`): each field is the sum of the operators', and the limiter
/// is what limits most of the time; there compute may exceed neither total nor tensor + vector, but
/// is no maximum of the two.
struct Time {
  Seconds total = {};
  Seconds compute = {};
  Seconds memory = {};
  Seconds tensor = {};
  Seconds vector = {};
  Limiter limiter = Limiter::Memory;
  std::optional<FlopsPerByte> operational_intensity = {};  // at DRAM; absent without traffic
  Macs macs = {};
  Bytes traffic = {};
};

/// The time where one assumption does not hold and all others do.
struct Without {
  std::string assumption;
  Seconds time = {};
};

struct Bound {
  Time time = {};
  std::vector<std::string> assumptions = {};  // it holds if all of these do
  std::vector<Without> without = {};  // as far as counts and rates tell; higher times are possible
};

struct Bounds {
  Bound unfused;  // every operator alone
  Bound fused;    // the graph with an unlimited on-chip buffer; never above unfused
  std::vector<Time> operators = {};
};

/// The time of one piece of work on its own. Failure: MissingRate, CountOverflow.
Result<Time> time_of(const Work& work, const arch::Machine& machine, const Policy& policy);

/// Both bounds. `graph` is the work of the whole: the operators' MACs and the compulsory traffic.
Result<Bounds> bounds(std::span<const Work> operators, const Work& graph,
                      const arch::Machine& machine, const Policy& policy);

/// The operational intensity at which compute at `rate` and memory at `bandwidth` take equally
/// long.
FlopsPerByte ridge_point(MacsPerSecond rate, BytesPerSecond bandwidth);

}  // namespace solar::roofline

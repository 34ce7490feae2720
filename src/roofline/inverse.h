#pragma once
// The inverse roofline: the hardware that a wanted latency needs, and how far known machines are
// from it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/machine.h"
#include "base/result.h"
#include "roofline/roofline.h"

namespace solar::roofline {

/// The MACs of one number format and the rate they need if nothing else ran on their units.
struct FormatNeed {
  arch::NumberFormat format = arch::NumberFormat::Fp32;
  arch::UnitClass unit = arch::UnitClass::Vector;  // where the format usually runs
  Macs macs = {};
  MacsPerSecond rate = {};
};

/// What any machine needs to do `work` in `target`. A unit class whose MACs are all of one format
/// needs exactly `tensor` (`vector`); with several formats that is the mean rate it must reach over
/// the mix.
struct Need {
  std::vector<FormatNeed> formats = {};
  MacsPerSecond tensor = {};
  MacsPerSecond vector = {};
  BytesPerSecond bandwidth = {};
};

/// A machine against the need: have / need. At least 1: enough. Absent: nothing of that kind is
/// needed. The fused factors are exact: the machine holds the target iff each is at least 1.
/// `unfused` is the factor for running operator by operator: scaling all rates of the machine by
/// its inverse meets the target exactly.
struct MachineFactor {
  std::string machine;
  std::optional<double> tensor = {};
  std::optional<double> vector = {};
  std::optional<double> bandwidth = {};
  std::optional<double> fused = {};
  std::optional<double> unfused = {};
  Bounds bounds = {};
  Diagnostics error = {};  // a missing rate; then nothing else is filled
};

struct Inverse {
  Seconds target = {};
  Need need = {};
  std::vector<std::string> assumptions = {};  // of the need and of all factors
  std::vector<MachineFactor> machines = {};   // in the given order
};

/// Failure: a target that is not positive and finite (Usage), counts that overflow. A machine
/// without a needed rate is an entry with `error`, not a failure. For a rate in 1/s pass its
/// inverse.
Result<Inverse> inverse(std::span<const Work> operators, const Work& graph, Seconds target,
                        std::span<const arch::Machine> machines, const Policy& policy);

}  // namespace solar::roofline

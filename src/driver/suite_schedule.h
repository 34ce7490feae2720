#pragma once
// Hands problems out to lanes, watches them, and replaces those that are lost.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/suite_lane.h"

namespace solar::driver {

struct ScheduleOptions {
  int lanes = 1;
  double problem_seconds = 1800;  // after which a lane is killed
  int64_t memory_bytes = 0;       // resident, of the lane itself; 0: not watched
  const std::atomic<bool>* cancel = nullptr;
};

/// Why a problem has no answer.
struct Loss {
  enum class Cause { Ended, TimeLimit, MemoryLimit } cause = Cause::Ended;
  LaneEnd end = {};
  double wall_seconds = 0;
};

struct ScheduleEvents {
  std::function<Result<Done>(size_t problem, const std::string& answer)> answered;
  std::function<Result<Done>(size_t problem, const Loss& loss)> lost;
};

/// One event for each of `problems`, which are handed out in this order. Ends early with the
/// failure of an event, or as Interrupted. No process is left when it returns.
Result<Done> run_lanes(const std::vector<size_t>& problems, const MakeWork& make_work,
                       const ScheduleOptions& options, const ScheduleEvents& events);

}  // namespace solar::driver

#pragma once
// How the loops of a nest are ordered in compiled code: what is shared out between threads, what
// runs inside a task, and which loop is innermost, the lane loop.

#include <cstdint>
#include <vector>

#include "exec/nest.h"

namespace solar::exec::native {

/// How the row under the target loops is computed.
enum class RowShape : uint8_t {
  Map,      // no reduction: each lane stores its value
  Strip,    // a reduction whose lane is a target loop: a strip of accumulators in memory
  Point,    // a reduction whose lane is reduced (or missing): one accumulator in a register
  Window,   // a reduction over few points, written out for each lane: one accumulator a lane
  Ordered,  // a recurrence: a strip of previous values
};

struct LoopOrder {
  RowShape shape = RowShape::Map;
  int lane = -1;
  bool lane_is_target = true;
  std::vector<int> parallel = {};  // target loops that make up the task number, outermost first
  std::vector<int> outer = {};     // other target loops but lane and ordered
  std::vector<int> inner = {};     // reduced loops but the lane, or the ordered loop
  int64_t strip = 1;               // lanes a strip, of a target lane
  int64_t strips = 1;
  int64_t tasks = 1;  // parallel points times strips
  int64_t points_per_task = 1;
};

/// Deterministic: depends on nothing but the nest.
LoopOrder choose_order(const Nest& nest);

}  // namespace solar::exec::native

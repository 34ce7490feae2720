#pragma once
// How strips walk a kernel: which loop is the lane loop, which are outside and inside of it.

#include <optional>
#include <vector>

#include "exec/nest.h"
#include "exec/strip.h"

namespace solar::exec {

struct KernelPlan {
  const Nest* nest = nullptr;
  int lane = -1;
  bool lane_is_target = true;
  int width = 1;                // elements of the output that a strip gives
  std::vector<int> outer = {};  // target loops but the lane and the ordered one
  std::vector<int> inner = {};  // reduced loops but the lane in written order, or the ordered loop
  int64_t strips = 1;           // of a target lane loop
  int64_t tasks = 1;            // outer points times strips
  int64_t points_per_task = 1;
  bool product = false;  // a float sum of products: the roots are the two factors
  StripProgram value = {};
  std::optional<StripProgram> init = {}, otherwise = {};
};

/// The nest must stay where it is.
KernelPlan make_plan(const Nest& nest);

inline bool is_arg_reduction(ir::Reduction reduction) {
  return reduction == ir::Reduction::ArgMax || reduction == ir::Reduction::ArgMin;
}

}  // namespace solar::exec

#include "exec/kernel_plan.h"

#include <algorithm>
#include <limits>

#include "exec/kernel_run.h"

namespace solar::exec {
namespace {

using ir::Reduction;

/// The roots that give the value; a sum of float products is not multiplied out.
std::vector<int32_t> value_roots(const ir::Kernel& kernel, bool& product) {
  const ir::ScalarNode& value = kernel.nodes[static_cast<size_t>(kernel.value)];
  product =
      kernel.reduction == Reduction::Sum && value.op == ScalarOp::Mul && ir::is_float(value.type);
  if (product) return {value.a, value.b};
  if (is_arg_reduction(kernel.reduction)) return {kernel.value, kernel.second_value};
  return {kernel.value};
}

int choose_lane(const Nest& nest, const std::vector<int32_t>& roots) {
  int last_reduced = -1;
  const uint64_t ranges = range_loops(nest);  // each of their values has a range of its own
  for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
    if (!nest.target[loop] && nest.extents[loop] > 1) last_reduced = static_cast<int>(loop);
  }
  int best = -1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    const bool target = nest.target[static_cast<size_t>(loop)];
    if (extent(nest, loop) == 1 || loop == nest.ordered || ((ranges >> loop) & 1U) != 0) continue;
    if (nest.ordered >= 0 && !target) continue;
    if (is_arg_reduction(nest.kernel->reduction) && !target && loop != last_reduced)
      continue;  // keeps the order of ties
    const double cost = lane_cost(nest, loop, roots);
    if (cost < best_cost) {
      best = loop;
      best_cost = cost;
    }
  }
  return best;
}

/// The points that the ragged loops of a task visit on average, if their ranges share the extent
/// out; counted in `points` as whole loops.
int64_t without_ranges(const Nest& nest, int64_t points) {
  if (!nest.has_ragged) return points;
  const uint64_t ranges = range_loops(nest);
  int64_t shared = 1;
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    if (((ranges >> loop) & 1U) != 0) shared *= extent(nest, loop);
  }
  return std::max<int64_t>(points / shared, 1);
}

}  // namespace

KernelPlan make_plan(const Nest& nest) {
  KernelPlan plan;
  plan.nest = &nest;
  const ir::Kernel& kernel = *nest.kernel;
  const auto roots = value_roots(kernel, plan.product);
  plan.lane = choose_lane(nest, roots);
  plan.lane_is_target = plan.lane < 0 || nest.target[static_cast<size_t>(plan.lane)];
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    const bool ragged = nest.has_ragged && nest.ragged[static_cast<size_t>(loop)] != nullptr;
    if (loop == plan.lane || (extent(nest, loop) == 1 && !ragged)) continue;
    const bool outer = nest.target[static_cast<size_t>(loop)] && loop != nest.ordered;
    (outer ? plan.outer : plan.inner).push_back(loop);
  }
  plan.points_per_task = extent(nest, plan.lane);
  if (plan.lane_is_target) {
    plan.points_per_task = std::min<int64_t>(plan.points_per_task, kStripLanes);
    plan.width = static_cast<int>(plan.points_per_task);
  }
  if (plan.lane_is_target) plan.strips = (extent(nest, plan.lane) + kStripLanes - 1) / kStripLanes;
  plan.tasks = plan.strips;
  for (const int loop : plan.outer) plan.tasks *= extent(nest, loop);
  for (const int loop : plan.inner) plan.points_per_task *= extent(nest, loop);
  plan.points_per_task = without_ranges(nest, plan.points_per_task);
  plan.value = compile_strip(
      nest,
      {.lane = plan.lane, .guards = nest.guards, .data_guard = kernel.data_guard, .roots = roots});
  if (kernel.init >= 0)
    plan.init = compile_strip(nest, {.lane = plan.lane, .roots = {kernel.init}});
  if (kernel.otherwise >= 0)
    plan.otherwise = compile_strip(nest, {.lane = plan.lane, .roots = {kernel.otherwise}});
  return plan;
}

}  // namespace solar::exec

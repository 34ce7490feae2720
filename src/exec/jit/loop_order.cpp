#include "exec/jit/loop_order.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "exec/kernel_run.h"

namespace solar::exec::native {
namespace {

using ir::Reduction;

constexpr int64_t kMapStrip = 16384;     // lanes of a task
constexpr int64_t kAccumulators = 1024;  // of a strip: they stay in the nearest cache
constexpr int64_t kWindow = 32;          // reduced points that are written out one after another
constexpr int64_t kTasks = 64;           // enough to share out evenly

std::vector<int32_t> roots_of(const ir::Kernel& kernel) {
  std::vector<int32_t> roots = {kernel.value};
  if (kernel.second_value >= 0) roots.push_back(kernel.second_value);
  if (kernel.data_guard >= 0) roots.push_back(kernel.data_guard);
  return roots;
}

bool is_arg(const ir::Kernel& kernel) {
  return kernel.reduction == Reduction::ArgMax || kernel.reduction == Reduction::ArgMin;
}

int64_t reduced_points(const Nest& nest) {
  int64_t points = 1;
  for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
    if (!nest.target[loop]) points *= nest.extents[loop];
  }
  return points;
}

double cost_of_stride(int64_t stride, ElementType type) {
  if (stride == 0) return 0.01;
  if (stride == 1) return 0.1;
  return std::abs(stride) * memory_bytes(type) <= 64 ? 0.6 : 1.5;
}

/// Rough cycles a point with `lane` innermost; only the order of the choices matters.
double lane_cost_compiled(const Nest& nest, int lane, const std::vector<int32_t>& accesses,
                          const std::vector<uint64_t>& atom_loops) {
  const auto l = static_cast<size_t>(lane);
  double cost = 6.0 / static_cast<double>(nest.extents[l]);
  for (const int32_t index : accesses) {
    const NestAccess& access = nest.accesses[static_cast<size_t>(index)];
    int64_t stride = 0;
    bool affine = true;
    for (const ir::Term& term : access.position.terms) {
      const auto atom = static_cast<size_t>(term.atom);
      if (term.atom == lane) {
        stride = term.coefficient;
      } else if (nest.atoms[atom].kind != ir::Atom::Kind::Loop) {
        affine = affine && ((atom_loops[atom] >> lane) & 1U) == 0;
      }
    }
    cost += affine ? cost_of_stride(stride, access.from.type) : 2.5;
  }
  if (nest.target[l]) {
    const auto reduced = static_cast<double>(reduced_points(nest));
    cost += cost_of_stride(nest.output_strides[l], nest.output.type) * 2 / reduced;
    if (reduced > kWindow) cost += 0.1;  // accumulators in memory
  }
  return cost;
}

int choose_lane(const Nest& nest) {
  const ir::Kernel& kernel = *nest.kernel;
  const auto accesses = accesses_under(nest, roots_of(kernel));
  const auto atom_loops = loops_of_atoms(nest.atoms);
  int last_reduced = -1;
  for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
    if (!nest.target[loop] && nest.extents[loop] > 1) last_reduced = static_cast<int>(loop);
  }
  int best = -1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    const bool target = nest.target[static_cast<size_t>(loop)];
    if (extent(nest, loop) == 1 || loop == nest.ordered) continue;
    if (is_arg(kernel) && !target && loop != last_reduced) continue;  // keeps the order of ties
    const double cost = lane_cost_compiled(nest, loop, accesses, atom_loops);
    if (cost < best_cost) best = loop, best_cost = cost;
  }
  // A recurrence that walks memory forward is best left innermost, one value in a register.
  if (nest.ordered >= 0 && best >= 0 &&
      std::abs(nest.output_strides[static_cast<size_t>(nest.ordered)]) == 1 &&
      std::abs(nest.output_strides[static_cast<size_t>(best)]) != 1) {
    return -1;
  }
  return best;
}

RowShape shape_of(const Nest& nest, const LoopOrder& order) {
  const ir::Kernel& kernel = *nest.kernel;
  if (nest.ordered >= 0) return RowShape::Ordered;
  if (kernel.reduction == Reduction::None) return RowShape::Map;
  if (!order.lane_is_target || order.lane < 0) return RowShape::Point;
  if (reduced_points(nest) <= kWindow && !is_arg(kernel)) return RowShape::Window;
  return RowShape::Strip;
}

void sort_by_stride(std::vector<int>& loops, const std::vector<int64_t>& strides) {
  std::stable_sort(loops.begin(), loops.end(), [&](int a, int b) {
    return std::abs(strides[static_cast<size_t>(a)]) > std::abs(strides[static_cast<size_t>(b)]);
  });
}

}  // namespace

LoopOrder choose_order(const Nest& nest) {
  LoopOrder order;
  order.lane = choose_lane(nest);
  order.lane_is_target = order.lane < 0 || nest.target[static_cast<size_t>(order.lane)];
  order.shape = shape_of(nest, order);
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    if (loop == order.lane || extent(nest, loop) == 1) continue;
    const bool outer = nest.target[static_cast<size_t>(loop)] && loop != nest.ordered;
    (outer ? order.outer : order.inner).push_back(loop);
  }
  sort_by_stride(order.outer, nest.output_strides);
  if (order.lane_is_target && order.lane >= 0) {
    const bool accumulates = order.shape == RowShape::Strip || order.shape == RowShape::Ordered;
    order.strip = std::min(extent(nest, order.lane), accumulates ? kAccumulators : kMapStrip);
    order.strips = (extent(nest, order.lane) + order.strip - 1) / order.strip;
  }
  order.tasks = order.strips;
  while (!order.outer.empty() && order.tasks < kTasks * order.strips) {
    order.tasks *= extent(nest, order.outer.front());
    order.parallel.push_back(order.outer.front());
    order.outer.erase(order.outer.begin());
  }
  const int64_t points = loop_points(nest);
  order.points_per_task = std::max<int64_t>(points / order.tasks, 1);
  return order;
}

}  // namespace solar::exec::native

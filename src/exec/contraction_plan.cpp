#include "exec/contraction_plan.h"

#include <cstdlib>

#include "exec/block_product.h"
#include "exec/kernel_run.h"

namespace solar::exec {
namespace {

constexpr int64_t kRowBlock = 192, kColumnBlock = 256;
constexpr double kProductCost = 0.12;  // ns a multiply-accumulate
constexpr double kFinishCost = 1;      // ns an output element
constexpr double kStripOverPoint = 0.4;

Axes axes_of(const Nest& nest, uint64_t loops) {
  Axes axes = {.nest = &nest};
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    if (((loops >> loop) & 1U) == 0) continue;
    axes.loops.push_back(loop);
    axes.size *= nest.extents[static_cast<size_t>(loop)];
  }
  return axes;
}

/// Chooses the lane loops for packing: each side's own loop, or the summed loop that runs fastest
/// in both.
void choose_lanes(ContractionPlan& plan) {
  const Nest& nest = *plan.nest;
  const auto own = [&](const Side& side) {
    Side best = side;
    for (const int loop : side.axes.loops) {
      const double cost = lane_cost(nest, loop, {side.root});
      if (cost < best.cost) best.cost = cost, best.lane = loop;
    }
    return best;
  };
  const Side own_rows = own(plan.rows), own_columns = own(plan.columns);
  const auto with_summed = [&](const Side& side, int loop) {
    Side result = side;
    const double cost = lane_cost(nest, loop, {side.root});
    if (cost < side.cost) result.cost = cost, result.lane = loop, result.lane_is_summed = true;
    return result;
  };
  double best = std::numeric_limits<double>::infinity();
  int fastest = -1;
  for (const int loop : plan.summed.loops) {
    const Side rows = with_summed(own_rows, loop), columns = with_summed(own_columns, loop);
    const double cost =
        rows.cost * static_cast<double>(rows.axes.size * blocks(columns.axes.size, kColumnBlock)) +
        columns.cost * static_cast<double>(columns.axes.size * blocks(rows.axes.size, kRowBlock));
    if (cost >= best) continue;
    best = cost;
    fastest = loop;
    plan.rows = rows;
    plan.columns = columns;
  }
  plan.summed.make_last(fastest);
  plan.rows.axes.make_last(plan.rows.lane);
  plan.columns.axes.make_last(plan.columns.lane);
}

double cost_of(const ContractionPlan& plan) {
  const auto m = static_cast<double>(blocks(plan.rows.axes.size, kRowPanel) * kRowPanel);
  const auto n = static_cast<double>(blocks(plan.columns.axes.size, 16) * 16);
  const auto k = static_cast<double>(plan.summed.size);
  const double packing =
      k * (plan.rows.cost * m * static_cast<double>(blocks(plan.columns.axes.size, kColumnBlock)) +
           plan.columns.cost * n * static_cast<double>(blocks(plan.rows.axes.size, kRowBlock)));
  return (m * n * (k * kProductCost + kFinishCost) + packing) *
         static_cast<double>(plan.batch.size);
}

double cost_of_strips(const Nest& nest, const std::vector<int32_t>& roots) {
  double best = std::numeric_limits<double>::infinity();
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    if (nest.extents[static_cast<size_t>(loop)] > 1)
      best = std::min(best, lane_cost(nest, loop, roots));
  }
  return (best + kStripOverPoint) * static_cast<double>(loop_points(nest));
}

bool is_contraction(const Nest& nest) {
  const ir::Kernel& kernel = *nest.kernel;
  const ir::ScalarNode& value = kernel.nodes[static_cast<size_t>(kernel.value)];
  if (kernel.reduction != ir::Reduction::Sum || value.op != ScalarOp::Mul ||
      !ir::is_float(value.type))
    return false;
  if (nest.ordered >= 0 || kernel.data_guard >= 0 || nest.has_ragged) return false;
  return nest.guards.empty() ||
         std::none_of(nest.accesses.begin(), nest.accesses.end(),
                      [](const NestAccess& access) { return access.data_dependent; });
}

/// Shares the guards out; false when one ties rows, columns and summed loops together.
bool place_guards(ContractionPlan& plan, uint64_t batch, uint64_t rows, uint64_t columns,
                  uint64_t summed) {
  const Nest& nest = *plan.nest;
  const auto atom_loops = loops_of_atoms(nest.atoms);
  StripSpec row_spec = {.lane = plan.rows.lane, .roots = {plan.rows.root}};
  StripSpec column_spec = {.lane = plan.columns.lane, .roots = {plan.columns.root}};
  StripSpec output_spec = {.lane = plan.columns.axes.loops.back()};
  const uint64_t live = batch | rows | columns | summed;
  for (const ir::Guard& guard : nest.guards) {
    const uint64_t loops = loops_of(guard.value, atom_loops) & live;
    const bool over_sum = (loops & summed) != 0;
    if (over_sum && (loops & rows) != 0 && (loops & columns) != 0) return false;
    if (over_sum && nest.kernel->otherwise >= 0) return false;
    if (!over_sum) output_spec.guards.push_back(guard);
    if ((loops & columns) == 0) {
      row_spec.guards.push_back(guard);
      plan.rows.masked = plan.rows.masked || over_sum;
    } else {
      row_spec.clamp_all = true;
    }
    if ((loops & rows) == 0) {
      column_spec.guards.push_back(guard);
      plan.columns.masked = plan.columns.masked || over_sum;
    } else {
      column_spec.clamp_all = true;
    }
  }
  plan.rows.program = compile_strip(nest, row_spec);
  plan.columns.program = compile_strip(nest, column_spec);
  plan.guards = compile_strip(nest, output_spec);
  plan.guarded = !output_spec.guards.empty();
  const int lane = output_spec.lane;
  const ir::Kernel& kernel = *nest.kernel;
  if (kernel.init >= 0) plan.init = compile_strip(nest, {.lane = lane, .roots = {kernel.init}});
  if (kernel.otherwise >= 0)
    plan.otherwise = compile_strip(nest, {.lane = lane, .roots = {kernel.otherwise}});
  return true;
}

void choose_blocks(ContractionPlan& plan, int threads) {
  plan.rows.block = std::min(plan.rows.axes.size, kRowBlock);
  plan.columns.block = std::min(plan.columns.axes.size, kColumnBlock);
  const auto tasks = [&] {
    return plan.batch.size * blocks(plan.rows.axes.size, plan.rows.block) *
           blocks(plan.columns.axes.size, plan.columns.block);
  };
  while (tasks() < 4 * threads) {
    if (plan.rows.block >= 96) {
      plan.rows.block /= 2;
    } else if (plan.columns.block >= 128) {
      plan.columns.block /= 2;
    } else {
      break;
    }
  }
}

}  // namespace

std::optional<ContractionPlan> plan_contraction(const Nest& nest, int threads, bool even_if_slow) {
  if (!is_contraction(nest)) return std::nullopt;
  const ir::Kernel& kernel = *nest.kernel;
  const ir::ScalarNode& value = kernel.nodes[static_cast<size_t>(kernel.value)];
  const auto atom_loops = loops_of_atoms(nest.atoms);
  uint64_t live = 0, target = 0, fastest_out = 0;
  int64_t fastest_stride = INT64_MAX;
  for (int loop = 0; loop < static_cast<int>(nest.extents.size()); ++loop) {
    const auto l = static_cast<size_t>(loop);
    if (nest.extents[l] == 1) continue;
    live |= loop_bit(loop);
    if (!nest.target[l]) continue;
    target |= loop_bit(loop);
    if (std::abs(nest.output_strides[l]) < fastest_stride) {
      fastest_stride = std::abs(nest.output_strides[l]);
      fastest_out = loop_bit(loop);
    }
  }
  const uint64_t in_a = loops_of_node(nest, value.a, atom_loops) & live;
  const uint64_t in_b = loops_of_node(nest, value.b, atom_loops) & live;
  uint64_t rows = target & in_a & ~in_b, columns = target & in_b & ~in_a;
  const uint64_t summed = live & ~target, batch = target & ~rows & ~columns;
  if (rows == 0 || columns == 0 || summed == 0) return std::nullopt;
  const bool swap = (rows & fastest_out) != 0;
  if (swap) std::swap(rows, columns);
  ContractionPlan plan;
  plan.nest = &nest;
  plan.batch = axes_of(nest, batch);
  plan.summed = axes_of(nest, summed);
  plan.rows = {.axes = axes_of(nest, rows), .root = swap ? value.b : value.a};
  plan.columns = {.axes = axes_of(nest, columns), .root = swap ? value.a : value.b};
  choose_lanes(plan);
  if (!even_if_slow && cost_of(plan) > cost_of_strips(nest, {value.a, value.b}))
    return std::nullopt;
  if (!place_guards(plan, batch, rows, columns, summed)) return std::nullopt;
  choose_blocks(plan, threads);
  return plan;
}

}  // namespace solar::exec

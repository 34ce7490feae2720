#include "exec/contraction.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

#include "exec/block_product.h"
#include "exec/contraction_plan.h"
#include "exec/tensor.h"

namespace solar::exec {
namespace {

template <class T>
class Worker {
 public:
  explicit Worker(const ContractionPlan& plan)
      : plan_(plan),
        nest_(*plan.nest),
        rows_(plan.rows.program),
        columns_(plan.columns.program),
        guards_(plan.guards),
        loops_(nest_.extents.size(), 0) {
    if (plan.init) init_.emplace(*plan.init);
    if (plan.otherwise) otherwise_.emplace(*plan.otherwise);
    const int64_t rows = blocks(plan.rows.block, kRowPanel) * kRowPanel;
    stride_ = blocks(plan.columns.block, kColumnPanel<T>) * kColumnPanel<T>;
    depth_ = std::min(kDepthBlock, plan.summed.size);
    const auto room = [](int64_t count) {
      return allocate_bytes(count * static_cast<int64_t>(sizeof(T)));
    };
    a_ = room(rows * depth_);
    b_ = room(stride_ * depth_);
    c_ = room(rows * stride_);
    sums_.resize(kStripLanes);
    final_.resize(kStripLanes);
    positions_.resize(kStripLanes);
  }

  bool ready() const { return a_ && b_ && c_; }

  KernelStatus run(int64_t task, const RunContext& context) {
    const int64_t column_blocks = blocks(plan_.columns.axes.size, plan_.columns.block);
    const int64_t row_blocks = blocks(plan_.rows.axes.size, plan_.rows.block);
    const int64_t n0 = task % column_blocks * plan_.columns.block;
    const int64_t m0 = task / column_blocks % row_blocks * plan_.rows.block;
    plan_.batch.seek(task / column_blocks / row_blocks, loops_.data());
    const int64_t m1 = std::min(m0 + plan_.rows.block, plan_.rows.axes.size);
    const int64_t n1 = std::min(n0 + plan_.columns.block, plan_.columns.axes.size);
    const int64_t row_panels = blocks(m1 - m0, kRowPanel),
                  column_panels = blocks(n1 - n0, kColumnPanel<T>);
    std::memset(c_.get(), 0, static_cast<size_t>(row_panels * kRowPanel * stride_) * sizeof(T));
    for (int64_t k0 = 0; k0 < plan_.summed.size; k0 += depth_) {
      if (context.cancelled()) return KernelStatus::Cancelled;
      const int64_t k1 = std::min(k0 + depth_, plan_.summed.size);
      if (!pack(plan_.rows, rows_, kRowPanel, {m0, m1}, {k0, k1}, data(a_)))
        return KernelStatus::Failed;
      if (!pack(plan_.columns, columns_, kColumnPanel<T>, {n0, n1}, {k0, k1}, data(b_)))
        return KernelStatus::Failed;
      const int64_t depth = k1 - k0;
      if ((plan_.columns.masked && !all_finite(data(a_), row_panels * kRowPanel * depth)) ||
          (plan_.rows.masked && !all_finite(data(b_), column_panels * kColumnPanel<T> * depth))) {
        return KernelStatus::NotApplicable;
      }
      multiply_blocks(data(a_), data(b_), data(c_), row_panels, column_panels, depth, stride_);
    }
    for (int64_t m = m0; m < m1; ++m) {
      plan_.rows.axes.seek(m, loops_.data());
      if (!finish_row(data(c_) + (m - m0) * stride_, {n0, n1})) return KernelStatus::Failed;
    }
    return KernelStatus::Done;
  }

  const Fault& fault() const { return failed_->fault(); }

 private:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };

  static T* data(const std::shared_ptr<std::byte>& bytes) {
    return reinterpret_cast<T*>(bytes.get());
  }

  bool run_strip(StripRunner& runner, int64_t first, int64_t count) {
    if (runner.run(loops_.data(), first, static_cast<int>(count))) return true;
    failed_ = &runner;
    return false;
  }

  /// Evaluates own x depth into panels of `width` own elements, zero where guards fail and in the
  /// last panel's rest.
  bool pack(const Side& side, StripRunner& runner, int64_t width, Range own, Range depth, T* out) {
    const int64_t deep = depth.end - depth.begin;
    std::memset(out, 0,
                static_cast<size_t>(blocks(own.end - own.begin, width) * width * deep) * sizeof(T));
    const Axes& along = side.lane_is_summed ? plan_.summed : side.axes;  // the lanes
    const Axes& across = side.lane_is_summed ? side.axes : plan_.summed;
    const Range along_range = side.lane_is_summed ? depth : own,
                across_range = side.lane_is_summed ? own : depth;
    const int64_t inner = along.inner_extent();
    for (int64_t at = across_range.begin; at < across_range.end; ++at) {
      across.seek(at, loops_.data());
      const int64_t fixed = at - across_range.begin;
      for (int64_t begin = along_range.begin; begin < along_range.end;) {
        const int64_t end = std::min(along_range.end, (begin / inner + 1) * inner);
        along.seek(begin, loops_.data());
        if (!run_strip(runner, begin % inner, end - begin)) return false;
        const int64_t offset = begin - along_range.begin;
        if (side.lane_is_summed) {
          write_column(runner, out + fixed / width * width * deep + fixed % width, offset, width);
        } else {
          write_row(runner, out + fixed * width, offset, width, width * deep);
        }
        begin = end;
      }
    }
    return true;
  }

  /// Values along the depth: `step` apart.
  static void write_column(const StripRunner& runner, T* out, int64_t offset, int64_t step) {
    const Lanes& lanes = runner.lanes();
    const Operand value = runner.root(0);
    const T* from = static_cast<const T*>(value.data);
    for (int j = 0; j < lanes.count; ++j) {
      const int64_t lane = offset + (lanes.list != nullptr ? lanes.list[j] : lanes.begin + j);
      out[lane * step] = from[value.uniform ? 0 : j];
    }
  }

  /// Values along a side's own axis: `width` together, then on to the next panel.
  static void write_row(const StripRunner& runner, T* out, int64_t offset, int64_t width,
                        int64_t panel) {
    const Lanes& lanes = runner.lanes();
    const Operand value = runner.root(0);
    const T* from = static_cast<const T*>(value.data);
    if (lanes.list == nullptr) {
      int64_t lane = offset + lanes.begin, column = lane % width;
      T* to = out + lane / width * panel;
      for (int j = 0; j < lanes.count; ++j) {
        to[column] = from[value.uniform ? 0 : j];
        if (++column == width) column = 0, to += panel;
      }
      return;
    }
    for (int j = 0; j < lanes.count; ++j) {
      const int64_t lane = offset + lanes.list[j];
      out[lane / width * panel + lane % width] = from[value.uniform ? 0 : j];
    }
  }

  bool finish_row(const T* sums, Range columns) {
    const Axes& axes = plan_.columns.axes;
    const int64_t inner = axes.inner_extent();
    const auto lane = static_cast<size_t>(axes.loops.back());
    const ComputeType type = sizeof(T) == 4 ? ComputeType::F32 : ComputeType::F64;
    for (int64_t begin = columns.begin; begin < columns.end;) {
      const int64_t end = std::min(columns.end, (begin / inner + 1) * inner);
      const auto count = static_cast<int>(end - begin);
      axes.seek(begin, loops_.data());
      loops_[lane] = 0;
      int64_t position = begin % inner * nest_.output_strides[lane];
      for (size_t loop = 0; loop < loops_.size(); ++loop)
        position += loops_[loop] * nest_.output_strides[loop];
      const T* segment = sums + (begin - columns.begin);
      Operand result = {segment, false};
      if (init_ || plan_.guarded) {
        if (!finish_segment(segment, type, begin % inner, count)) return false;
        result.data = final_.data();
      }
      store_strided(nest_.output.type, nest_.output.data, position, nest_.output_strides[lane],
                    result, count);
      begin = end;
    }
    // The strips of packing see only their own loops; leave no summed or column value behind.
    return true;
  }

  /// final_ = init + sums where the guards hold, else `otherwise` or init.
  bool finish_segment(const T* segment, ComputeType type, int64_t first, int count) {
    std::fill_n(sums_.begin(), count, T(0));
    if (init_) {
      if (!run_strip(*init_, first, count)) return false;
      fill(type, sums_.data(), init_->root(0), count);
    }
    std::copy_n(sums_.begin(), count, final_.begin());
    for (int j = 0; j < count; ++j) sums_[static_cast<size_t>(j)] += segment[j];
    if (!plan_.guarded) {
      std::swap(sums_, final_);
      return true;
    }
    if (otherwise_) {
      if (!run_strip(*otherwise_, first, count)) return false;
      fill(type, final_.data(), otherwise_->root(0), count);
    }
    if (!run_strip(guards_, first, count)) return false;
    const Lanes& lanes = guards_.lanes();
    for (int j = 0; j < lanes.count; ++j) {
      const auto lane =
          static_cast<size_t>(lanes.list != nullptr ? lanes.list[j] : lanes.begin + j);
      final_[lane] = sums_[lane];
    }
    return true;
  }

  const ContractionPlan& plan_;
  const Nest& nest_;
  StripRunner rows_, columns_, guards_;
  std::optional<StripRunner> init_ = {}, otherwise_ = {};
  const StripRunner* failed_ = nullptr;
  std::vector<int64_t> loops_;
  int64_t stride_ = 0, depth_ = 0;
  std::shared_ptr<std::byte> a_, b_, c_;
  std::vector<T> sums_, final_;
  std::vector<int64_t> positions_;
};

template <class T>
KernelResult run_plan(const ContractionPlan& plan, const RunContext& context) {
  const int64_t tasks = plan.batch.size * blocks(plan.rows.axes.size, plan.rows.block) *
                        blocks(plan.columns.axes.size, plan.columns.block);
  TaskQueue queue(tasks, 1);
  std::mutex mutex;
  KernelResult result;
  const auto work = [&](int member) {
    Worker<T> worker(plan);
    if (!worker.ready()) {
      const std::lock_guard lock(mutex);
      queue.fail(0);
      result.status = KernelStatus::NotApplicable;
      return;
    }
    while (true) {
      const TaskQueue::Chunk chunk = queue.next();
      if (chunk.begin == chunk.end || context.cancelled()) return;
      const KernelStatus status = worker.run(chunk.begin, context);
      if (status == KernelStatus::Failed || status == KernelStatus::NotApplicable) {
        const std::lock_guard lock(mutex);
        if (queue.fail(chunk.begin))
          result = {status, status == KernelStatus::Failed ? worker.fault() : Fault{}};
      }
      if (member == 0 && context.finished) {
        context.finished(plan.rows.block * plan.columns.block * plan.summed.size);
      }
    }
  };
  if (loop_points(*plan.nest) < (1 << 17)) {
    work(0);
  } else {
    context.team->run(work);
  }
  if (result.status == KernelStatus::Done && context.cancelled())
    result.status = KernelStatus::Cancelled;
  return result;
}

}  // namespace

KernelResult run_contraction(const ContractionPlan& plan, const RunContext& context) {
  if (ir::compute_type(plan.nest->output.type) == ComputeType::F64)
    return run_plan<double>(plan, context);
  return run_plan<float>(plan, context);
}

KernelResult run_contraction(const Nest& nest, const RunContext& context, bool even_if_slow) {
  const std::optional<ContractionPlan> plan =
      plan_contraction(nest, context.team->size(), even_if_slow);
  if (!plan) return {KernelStatus::NotApplicable, {}};
  return run_contraction(*plan, context);
}

}  // namespace solar::exec

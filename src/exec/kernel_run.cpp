#include "exec/kernel_run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/result.h"
#include "exec/contraction.h"
#include "exec/contraction_plan.h"
#include "exec/kernel_plan.h"
#include "exec/nest_walk.h"

namespace solar::exec {
namespace {

using ir::Reduction;

constexpr int64_t kPointsPerChunk = 1 << 15;
constexpr int kFold = 64;  // partial sums of so many points are added to the total, for accuracy

/// Steps `loops` through all values of the loops `which`, the last fastest; false after the last.
bool advance(const Nest& nest, const std::vector<int>& which, int64_t* loops) {
  for (size_t i = which.size(); i-- > 0;) {
    if (++loops[which[i]] < extent(nest, which[i])) return true;
    loops[which[i]] = 0;
  }
  return false;
}

/// One thread's work on a kernel.
class Worker {
 public:
  Worker(const KernelPlan& plan, const RunContext& context)
      : plan_(plan),
        nest_(*plan.nest),
        kernel_(*plan.nest->kernel),
        context_(context),
        value_(plan.value),
        walk_(nest_, plan.inner),
        loops_(std::max<size_t>(nest_.extents.size(), 1), 0),
        type_(ir::compute_type(nest_.output.type)),
        identity_(identity_bits(kernel_.reduction, nest_.output.type)),
        total_(static_cast<size_t>(plan.width)),
        part_(total_.size()),
        second_(is_arg_reduction(kernel_.reduction) ? total_.size() : 0),
        positions_(total_.size()),
        reached_(total_.size()) {
    if (plan.init) init_.emplace(*plan.init);
    if (plan.otherwise) otherwise_.emplace(*plan.otherwise);
    tracks_reached_ =
        is_arg_reduction(kernel_.reduction) ||
        (plan.otherwise && (!nest_.guards.empty() || kernel_.data_guard >= 0 || nest_.has_ragged));
  }

  /// Puts the loops at a task; next() moves on to the following one.
  void seek(int64_t task) {
    strip_ = task % plan_.strips;
    task /= plan_.strips;
    for (size_t i = plan_.outer.size(); i-- > 0;) {
      loops_[static_cast<size_t>(plan_.outer[i])] = task % extent(nest_, plan_.outer[i]);
      task /= extent(nest_, plan_.outer[i]);
    }
  }
  void next() {
    if (++strip_ < plan_.strips) return;
    strip_ = 0;
    advance(nest_, plan_.outer, loops_.data());
  }

  bool run() {
    first_ = plan_.lane_is_target ? strip_ * kStripLanes : 0;
    count_ =
        plan_.lane_is_target
            ? static_cast<int>(std::min<int64_t>(kStripLanes, extent(nest_, plan_.lane) - first_))
            : 1;
    if (nest_.ordered >= 0) return run_ordered();
    if (kernel_.reduction == Reduction::None) return run_map();
    return run_reduction();
  }

  const Fault& fault() const { return *fault_; }

 private:
  int64_t output_position(const std::vector<int64_t>& strides) const {
    int64_t position = 0;
    for (const int loop : plan_.outer)
      position += loops_[static_cast<size_t>(loop)] * strides[static_cast<size_t>(loop)];
    if (nest_.ordered >= 0) {
      position +=
          loops_[static_cast<size_t>(nest_.ordered)] * strides[static_cast<size_t>(nest_.ordered)];
    }
    return position + first_ * lane_stride(strides);
  }
  int64_t lane_stride(const std::vector<int64_t>& strides) const {
    return plan_.lane < 0 || !plan_.lane_is_target ? 0 : strides[static_cast<size_t>(plan_.lane)];
  }

  void store(const DataRef& to, const std::vector<int64_t>& strides, Operand row,
             const Lanes& lanes) {
    const int64_t start = output_position(strides), stride = lane_stride(strides);
    if (lanes.list == nullptr) {
      store_strided(to.type, to.data, start + stride * lanes.begin, stride, row, lanes.count);
    } else {
      fill_listed(positions_.data(), start, stride, lanes.list, lanes.count);
      store_indexed(to.type, to.data, positions_.data(), row, lanes.count);
    }
  }
  void store_row(Operand row) {
    store(nest_.output, nest_.output_strides, row, {0, count_, nullptr});
  }

  bool run_strip(StripRunner& runner, int64_t first, int count) {
    if (runner.run(loops_.data(), first, count)) return true;
    fault_ = runner.fault();
    return false;
  }
  /// Fills the row with the `else` or `init` value of the whole strip.
  bool evaluate(StripRunner& runner, std::vector<int64_t>& row) {
    if (!run_strip(runner, first_, count_)) return false;
    fill(type_, row.data(), runner.root(0), count_);
    return true;
  }

  void* lane_of(std::vector<int64_t>& row, ComputeType type, int lane) {
    return reinterpret_cast<char*>(row.data()) + bytes_of(type) * static_cast<size_t>(lane);
  }

  bool run_map() {
    if (!run_strip(value_, first_, count_)) return false;
    const Lanes& lanes = value_.lanes();
    if (lanes.count < count_ && otherwise_) {
      if (!evaluate(*otherwise_, part_)) return false;
      store_row({part_.data(), false});
    }
    if (lanes.count > 0) store(nest_.output, nest_.output_strides, value_.root(0), lanes);
    return true;
  }

  bool run_ordered() {
    const auto ordered = static_cast<size_t>(nest_.ordered);
    const bool ascending = kernel_.loops[ordered].order == ir::Loop::Order::Ascending;
    const int64_t steps = nest_.extents[ordered];
    loops_[ordered] = ascending ? 0 : steps - 1;
    if (init_ && !evaluate(*init_, total_)) return false;
    for (int64_t step = 0; step < steps; ++step) {
      if ((step & 1023) == 1023 && context_.cancelled()) return true;
      loops_[ordered] = ascending ? step : steps - 1 - step;
      value_.set_previous(total_.data());
      if (!run_strip(value_, first_, count_)) return false;
      const Lanes& lanes = value_.lanes();
      if (lanes.count < count_ && otherwise_ && !evaluate(*otherwise_, part_)) return false;
      if (lanes.count > 0) {
        scatter(type_, lane_of(part_, type_, lanes.begin), lanes.list, value_.root(0), lanes.count);
      }
      // Prev is what was stored, so rounded to the output's type.
      run_cast(type_, nest_.output.type, part_.data(), total_.data(), count_);
      store_row({total_.data(), false});
    }
    loops_[ordered] = 0;
    return true;
  }

  bool run_reduction() {
    fill(type_, total_.data(), {&identity_, true}, count_);
    if (init_ && !evaluate(*init_, total_)) return false;
    if (tracks_reached_) std::fill_n(reached_.begin(), count_, uint8_t{0});
    const bool folds = kernel_.reduction == Reduction::Sum;
    if (folds) fill(type_, part_.data(), {&identity_, true}, count_);
    std::fill(second_.begin(), second_.end(), 0);
    held_ = 0;
    for (bool more = walk_.first(loops_.data()); more; more = walk_.next(loops_.data())) {
      if (context_.cancelled()) break;
      if (!take_lanes(folds)) return false;
    }
    if (walk_.fault()) fault_ = walk_.fault();
    if (fault_) return false;
    for (const int loop : plan_.inner) loops_[static_cast<size_t>(loop)] = 0;
    if (folds) fold();
    return finish_reduction();
  }

  /// All strips of the lane loop at one point of the inner loops.
  bool take_lanes(bool folds) {
    LoopRange range = {first_, first_ + count_};
    if (!plan_.lane_is_target) range = range_of(nest_, plan_.lane, loops_.data(), fault_);
    for (int64_t first = range.begin; first < range.end && !fault_; first += kStripLanes) {
      const auto count = static_cast<int>(std::min<int64_t>(kStripLanes, range.end - first));
      if (!run_strip(value_, first, count)) return false;
      if (value_.lanes().count == 0) continue;
      take_points(folds ? part_ : total_);
      if (folds && ++held_ == kFold) {
        fold();
        held_ = 0;
      }
    }
    return !fault_;
  }

  void fold() {
    accumulate(Reduction::Sum, type_, total_.data(), nullptr, {part_.data(), false}, count_);
    fill(type_, part_.data(), {&identity_, true}, count_);
  }

  void take_points(std::vector<int64_t>& into) {
    const Lanes& lanes = value_.lanes();
    const bool single = !plan_.lane_is_target;
    if (tracks_reached_ && !is_arg_reduction(kernel_.reduction)) {
      for (int j = 0; j < (single ? 1 : lanes.count); ++j) {
        reached_[static_cast<size_t>(single                  ? 0
                                     : lanes.list != nullptr ? lanes.list[j]
                                                             : lanes.begin + j)] = 1;
      }
    }
    void* row = lane_of(into, type_, single ? 0 : lanes.begin);
    if (is_arg_reduction(kernel_.reduction)) {
      const ComputeType second_type = ir::compute_type(nest_.second_output.type);
      const int begin = single ? 0 : lanes.begin;
      const ArgRows rows = {row, lane_of(second_, second_type, begin), reached_.data() + begin};
      accumulate_arg(kernel_.reduction == Reduction::ArgMax, type_, second_type, rows, lanes.list,
                     single, value_.root(0), value_.root(1), lanes.count);
    } else if (plan_.product && single) {
      dot(type_, row, value_.root(0), value_.root(1), lanes.count);
    } else if (plan_.product) {
      accumulate_product(type_, row, lanes.list, value_.root(0), value_.root(1), lanes.count);
    } else if (single) {
      reduce(kernel_.reduction, type_, row, value_.root(0), lanes.count);
    } else {
      accumulate(kernel_.reduction, type_, row, lanes.list, value_.root(0), lanes.count);
    }
  }

  bool finish_reduction() {
    const auto end = reached_.begin() + count_;
    if (tracks_reached_ && otherwise_ && std::find(reached_.begin(), end, 0) != end) {
      if (!evaluate(*otherwise_, part_)) return false;
      for (int j = 0; j < count_; ++j) {
        if (reached_[static_cast<size_t>(j)] != 0) continue;
        std::memcpy(lane_of(total_, type_, j), lane_of(part_, type_, j), bytes_of(type_));
      }
    }
    store_row({total_.data(), false});
    if (kernel_.second_output) {
      store(nest_.second_output, nest_.second_strides, {second_.data(), false},
            {0, count_, nullptr});
    }
    return true;
  }

  const KernelPlan& plan_;
  const Nest& nest_;
  const ir::Kernel& kernel_;
  const RunContext& context_;
  StripRunner value_;
  std::optional<StripRunner> init_ = {}, otherwise_ = {};
  NestWalk walk_;
  std::optional<Fault> fault_ = {};
  std::vector<int64_t> loops_;
  int64_t strip_ = 0, first_ = 0;
  int count_ = 0, held_ = 0;
  ComputeType type_;
  int64_t identity_;
  bool tracks_reached_ = false;
  std::vector<int64_t> total_, part_, second_, positions_;
  std::vector<uint8_t> reached_;
};

}  // namespace

int64_t identity_bits(Reduction reduction, ElementType type) {
  const auto as_bits = [&](double value, int64_t integer) -> int64_t {
    switch (ir::compute_type(type)) {
      case ComputeType::F32:
        return std::bit_cast<int32_t>(static_cast<float>(value));
      case ComputeType::F64:
        return std::bit_cast<int64_t>(value);
      default:
        return integer;
    }
  };
  const double infinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::Product:
      return as_bits(1, 1);
    case Reduction::And:
      return 1;
    case Reduction::Max:
    case Reduction::ArgMax:
      return as_bits(-infinity, type == ElementType::Bool ? 0 : integer_range(type).lowest);
    case Reduction::Min:
    case Reduction::ArgMin:
      return as_bits(infinity, type == ElementType::Bool ? 1 : integer_range(type).highest);
    default:
      return as_bits(0, 0);
  }
}

namespace {

KernelResult run_strips(const KernelPlan& plan, const RunContext& context) {
  const int64_t per_thread = std::max<int64_t>(plan.tasks / (4 * context.team->size()), 1);
  TaskQueue queue(plan.tasks,
                  std::clamp<int64_t>(kPointsPerChunk / plan.points_per_task, 1, per_thread));
  std::mutex mutex;
  KernelResult result;
  const auto work = [&](int member) {
    Worker worker(plan, context);
    while (true) {
      const TaskQueue::Chunk chunk = queue.next();
      if (chunk.begin == chunk.end || context.cancelled()) break;
      worker.seek(chunk.begin);
      for (int64_t task = chunk.begin; task < chunk.end && queue.wanted(task);
           ++task, worker.next()) {
        if (worker.run()) continue;
        const std::lock_guard lock(mutex);
        if (queue.fail(task)) result = {KernelStatus::Failed, worker.fault()};
        break;
      }
      if (member == 0 && context.finished)
        context.finished((chunk.end - chunk.begin) * plan.points_per_task);
    }
  };
  if (plan.tasks * plan.points_per_task <= kPointsPerChunk) {
    work(0);
  } else {
    context.team->run(work);
  }
  if (result.status == KernelStatus::Done && context.cancelled())
    result.status = KernelStatus::Cancelled;
  return result;
}

}  // namespace

KernelResult run_kernel_by_strips(const Nest& nest, const RunContext& context) {
  return run_strips(make_plan(nest), context);
}

struct PreparedKernel::Plans {
  Nest nest;
  bool asked = false;  // whether `product` is known
  std::optional<ContractionPlan> product = {};
  std::optional<KernelPlan> strips = {};
};

PreparedKernel::PreparedKernel(const ir::Kernel& kernel, const FindData& find,
                               const RunContext& context)
    : plans_(std::make_unique<Plans>(make_nest(kernel, find, context.steps))) {}
PreparedKernel::~PreparedKernel() = default;

void PreparedKernel::rebind(const FindFirst& find) { exec::rebind(plans_->nest, find); }

KernelResult PreparedKernel::run(const RunContext& context) {
  Plans& plans = *plans_;
  if (context.engine != nullptr) {
    const KernelResult done = context.engine->run(plans.nest, context);
    if (done.status != KernelStatus::NotApplicable) return done;
  }
  if (!plans.asked) plans.product = plan_contraction(plans.nest, context.team->size(), false);
  plans.asked = true;
  if (plans.product) {
    const KernelResult fast = run_contraction(*plans.product, context);
    if (fast.status != KernelStatus::NotApplicable) return fast;
  }
  if (!plans.strips) plans.strips = make_plan(plans.nest);
  return run_strips(*plans.strips, context);
}

KernelResult run_kernel(const ir::Kernel& kernel, const FindData& find, const RunContext& context) {
  return PreparedKernel(kernel, find, context).run(context);
}

}  // namespace solar::exec

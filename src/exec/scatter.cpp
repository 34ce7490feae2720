#include "exec/scatter.h"

#include <algorithm>
#include <atomic>

#include "exec/nest_walk.h"
#include "exec/strip.h"

namespace solar::exec {
namespace {

using ir::Reduction;

constexpr int64_t kAlone = 1 << 15;  // points that one thread does

template <class T>
T combined(Reduction reduction, T held, T value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (reduction == Reduction::And) return static_cast<T>(held & value);
    if (reduction == Reduction::Or) return static_cast<T>(held | value);
  }
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Product:
      if constexpr (std::is_same_v<T, int64_t>) {
        const auto a = static_cast<uint64_t>(held), b = static_cast<uint64_t>(value);
        return static_cast<T>(reduction == Reduction::Sum ? a + b : a * b);
      } else {
        return static_cast<T>(reduction == Reduction::Sum ? held + value : held * value);
      }
    case Reduction::Max:
      return held > value || held != held ? held : value;
    case Reduction::Min:
      return held < value || held != held ? held : value;
    default:
      return value;
  }
}

/// data[positions[j]] (op)= values[j], in order.
void combine(Reduction reduction, const DataRef& to, const int64_t* positions, Operand values,
             int count) {
  with_codec(to.type, [&](auto codec) {
    using C = decltype(codec);
    using Compute = typename C::Compute;
    auto* data = reinterpret_cast<typename C::Storage*>(to.data);
    const auto* value = static_cast<const Compute*>(values.data);
    for (int j = 0; j < count; ++j) {
      auto& element = data[positions[j]];
      element = C::store(combined(reduction, C::load(element), value[values.uniform ? 0 : j]));
    }
  });
}

}  // namespace

struct PreparedScatter::Plan {
  ir::Kernel kernel;  // the scatter's nest, with the write as its last access
  Nest nest;
  int32_t write = -1;
  int lane = -1;
  std::vector<int> outer = {};
  int split = -1;  // different values of this loop write different elements
  int64_t points = 1;
  StripProgram program = {};
};

namespace {

ir::Kernel with_write(const ir::Scatter& scatter) {
  ir::Kernel kernel = scatter.nest;
  kernel.accesses.push_back({kernel.output, scatter.subscripts, false});
  return kernel;
}

/// A loop that stands alone in one of the subscripts, the one with most values.
int splitting_loop(const ir::Scatter& scatter) {
  const ir::Kernel& kernel = scatter.nest;
  int best = -1;
  for (const ir::Linear& subscript : scatter.subscripts) {
    if (subscript.terms.size() != 1) continue;
    const int32_t loop = subscript.terms[0].atom;
    if (kernel.atoms[static_cast<size_t>(loop)].kind != ir::Atom::Kind::Loop) continue;
    const auto extent = [&](int at) { return kernel.loops[static_cast<size_t>(at)].extent; };
    if (best < 0 || extent(loop) > extent(best)) best = loop;
  }
  return best;
}

/// Calls work(first, count) for stretches of `elements`.
template <class Work>
void for_chunks(int64_t elements, Work work) {
  for (int64_t first = 0; first < elements; first += kStripLanes)
    work(first, static_cast<int>(std::min<int64_t>(kStripLanes, elements - first)));
}

/// One thread's part: all points, or those with some values of the splitting loop.
class Worker {
 public:
  Worker(const Nest& nest, const StripProgram& program, std::vector<int> outer, int32_t write,
         const DataRef& to, std::atomic<uint8_t>* written)
      : nest_(nest),
        kernel_(*nest.kernel),
        runner_(program),
        walk_(nest, std::move(outer)),
        lane_(program.lane),
        write_(write),
        to_(to),
        written_(written),
        loops_(std::max<size_t>(nest.extents.size(), 1), 0),
        positions_(kStripLanes) {}

  void limit(int loop, LoopRange range) {
    if (loop == lane_) {
      lane_range_ = range;
    } else {
      walk_.limit(loop, range);
    }
  }

  ScatterResult run(const RunContext& context, bool reports) {
    for (bool more = walk_.first(loops_.data()); more; more = walk_.next(loops_.data())) {
      if (context.cancelled()) return {{KernelStatus::Cancelled, {}}, {}};
      std::optional<Fault> fault;
      LoopRange range = {0, 1};
      if (lane_ >= 0) range = range_of(nest_, lane_, loops_.data(), fault);
      if (fault) return {{KernelStatus::Failed, *fault}, {}};
      if (lane_range_)
        range = {std::max(range.begin, lane_range_->begin), std::min(range.end, lane_range_->end)};
      for (int64_t first = range.begin; first < range.end; first += kStripLanes) {
        const auto count = static_cast<int>(std::min<int64_t>(kStripLanes, range.end - first));
        if (!runner_.run(loops_.data(), first, count) || !write())
          return {{KernelStatus::Failed, runner_.fault()}, {}};
        if (duplicate_) return {{KernelStatus::Failed, {}}, duplicate_};
      }
      if (reports && context.finished) context.finished(range.end - range.begin);
    }
    if (walk_.fault()) return {{KernelStatus::Failed, *walk_.fault()}, {}};
    return {};
  }

 private:
  bool write() {
    const int count = runner_.lanes().count;
    if (count == 0) return true;
    if (!runner_.positions(write_, positions_.data())) return false;
    for (int j = 0; written_ != nullptr && j < count; ++j) {
      const int64_t at = positions_[static_cast<size_t>(j)];
      const auto bit = static_cast<uint8_t>(1U << (at & 7));
      if ((written_[at >> 3].fetch_or(bit, std::memory_order_relaxed) & bit) == 0) continue;
      duplicate_ = at;
      return true;
    }
    combine(kernel_.reduction, to_, positions_.data(), runner_.root(0), count);
    return true;
  }

  const Nest& nest_;
  const ir::Kernel& kernel_;
  StripRunner runner_;
  NestWalk walk_;
  int lane_;
  int32_t write_;
  DataRef to_;
  std::atomic<uint8_t>* written_;
  std::optional<LoopRange> lane_range_ = {};
  std::optional<int64_t> duplicate_ = {};
  std::vector<int64_t> loops_, positions_;
};

}  // namespace

PreparedScatter::PreparedScatter(const ir::Scatter& scatter, const FindData& find,
                                 const RunContext& context)
    : plan_(std::make_unique<Plan>()) {
  Plan& plan = *plan_;
  plan.kernel = with_write(scatter);
  plan.write = static_cast<int32_t>(plan.kernel.accesses.size()) - 1;
  plan.nest = make_nest(plan.kernel, find, context.steps, true);
  plan.split = splitting_loop(scatter);
  // The last loop that no range depends on is the lane loop, so that points come in written order.
  const uint64_t ranges = range_loops(plan.nest);
  const auto loops = static_cast<int>(plan.nest.extents.size());
  if (loops > 0 && ((ranges >> (loops - 1)) & 1U) == 0) plan.lane = loops - 1;
  for (int loop = 0; loop < loops; ++loop) {
    if (loop != plan.lane) plan.outer.push_back(loop);
  }
  plan.points = loop_points(plan.nest);
  plan.program = compile_strip(plan.nest, {.lane = plan.lane,
                                           .guards = plan.nest.guards,
                                           .data_guard = plan.kernel.data_guard,
                                           .roots = {plan.kernel.value},
                                           .position = plan.write});
}

PreparedScatter::~PreparedScatter() = default;

void PreparedScatter::rebind(const FindFirst& find) { exec::rebind(plan_->nest, find); }

ScatterResult PreparedScatter::run(const RunContext& context) {
  const Plan& plan = *plan_;
  const DataRef& output = plan.nest.output;
  int64_t elements = 1;
  for (const int64_t extent : output.extents) elements *= extent;
  // Narrow floats are combined in f32 and rounded once, as a reduction is.
  const bool widens = ir::is_float(output.type) && memory_bytes(output.type) < 4;
  DataRef to = output;
  std::vector<float> wide;
  if (widens) {
    wide.resize(static_cast<size_t>(elements));
    to.type = ElementType::F32;
    to.data = reinterpret_cast<std::byte*>(wide.data());
    for_chunks(elements, [&](int64_t first, int count) {
      load_strided(output.type, output.data, first, 1, count, wide.data() + first);
    });
  }
  const bool unique = plan.kernel.reduction == Reduction::None;
  std::vector<std::atomic<uint8_t>> written(unique ? static_cast<size_t>(elements) / 8 + 1
                                                   : size_t{0});
  const auto worker = [&] {
    return Worker(plan.nest, plan.program, plan.outer, plan.write, to,
                  unique ? written.data() : nullptr);
  };
  ScatterResult result;
  const int64_t values = plan.split < 0 ? 1 : plan.nest.extents[static_cast<size_t>(plan.split)];
  const int64_t parts = plan.points <= kAlone ? 1 : std::min<int64_t>(context.team->size(), values);
  std::atomic<bool> failed = false;
  if (parts > 1) {
    std::vector<Worker> workers;
    for (int64_t part = 0; part < parts; ++part) {
      workers.push_back(worker());
      workers.back().limit(plan.split, {values * part / parts, values * (part + 1) / parts});
    }
    context.team->run([&](int member) {
      if (member >= parts) return;
      const auto done = workers[static_cast<size_t>(member)].run(context, member == 0);
      if (done.kernel.status == KernelStatus::Failed) failed = true;
    });
    if (context.cancelled()) result.kernel.status = KernelStatus::Cancelled;
  }
  if (parts == 1 || (failed && !context.cancelled())) {
    // The first fault in loop order is found by one thread.
    for (auto& byte : written) byte = 0;
    result = worker().run(context, true);
  }
  if (widens) {
    for_chunks(elements, [&](int64_t first, int count) {
      store_strided(output.type, output.data, first, 1, {wide.data() + first, false}, count);
    });
  }
  return result;
}

}  // namespace solar::exec

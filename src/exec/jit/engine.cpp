#include "exec/jit/engine.h"

#include <algorithm>
#include <atomic>

#include "exec/contraction_plan.h"
#include "exec/executor.h"
#include "exec/jit/blas.h"
#include "exec/jit/emit.h"
#include "exec/jit/gemm.h"

namespace solar::exec::native {
namespace {

constexpr int64_t kPointsAlone = 1 << 15;        // not worth waking other threads
constexpr int64_t kPointsPerChunk = 1 << 17;     // between looks at the cancel flag
constexpr int64_t kLongTask = int64_t{1} << 31;  // could not be cancelled for too long
constexpr KernelResult kNotApplicable = {KernelStatus::NotApplicable, {}};

KernelResult run_compiled(const CompiledKernel& kernel, const Nest& nest,
                          const RunContext& context) {
  const LoopOrder& order = kernel.order;
  const std::vector<void*> pointers = pointers_of(nest);
  const std::vector<int64_t> constants = constants_of(nest);
  std::atomic<bool> bad = false;
  const int64_t share = std::max<int64_t>(order.tasks / (4 * context.team->size()), 1);
  TaskQueue queue(order.tasks,
                  std::clamp<int64_t>(kPointsPerChunk / order.points_per_task, 1, share));
  const auto work = [&](int member) {
    while (!context.cancelled() && !bad) {
      const TaskQueue::Chunk chunk = queue.next();
      if (chunk.begin == chunk.end) break;
      if (kernel.function(pointers.data(), constants.data(), chunk.begin, chunk.end) != 0)
        bad = true;
      if (member == 0 && context.finished)
        context.finished((chunk.end - chunk.begin) * order.points_per_task);
    }
  };
  if (order.tasks == 1 || order.tasks * order.points_per_task <= kPointsAlone) {
    work(0);
  } else {
    context.team->run(work);
  }
  if (context.cancelled()) return {KernelStatus::Cancelled, {}};
  // A subscript left its axis, perhaps only in a branch that is not taken: the interpreter knows.
  return bad ? kNotApplicable : KernelResult{};
}

class Engine final : public KernelEngine {
 public:
  Engine(std::shared_ptr<KernelStore> store, const Options& options)
      : store_(std::move(store)), options_(options) {}

  KernelResult run(const Nest& nest, const RunContext& context) override {
    if (nest.has_ragged) return kNotApplicable;
    CompiledKernel& kernel = entry(nest);
    Way way = kernel.way;
    if (way == Way::Undecided) {
      const int64_t points = loop_points(nest);
      if ((kernel.points_interpreted += points) < options_.compile_after) return kNotApplicable;
      way = decide(nest, kernel, context.team->size());
    }
    switch (way) {
      case Way::Compiled:
        return run_compiled(kernel, nest, context);
      case Way::Product:
        return run_product(*kernel.product, nest, context);
      default:
        return kNotApplicable;
    }
  }

 private:
  /// A nest that runs again is looked up once.
  CompiledKernel& entry(const Nest& nest) {
    if (!nest.prepared) {
      nest.prepared = std::shared_ptr<void>(store_, &store_->entry(nest));
    }
    return *static_cast<CompiledKernel*>(nest.prepared.get());
  }

  Way decide(const Nest& nest, CompiledKernel& kernel, int threads) {
    const std::lock_guard lock(kernel.deciding);
    if (kernel.way != Way::Undecided) return kernel.way;
    Way way = Way::Interpreted;
    if (auto product = plan_product(nest, threads)) {
      kernel.product = std::move(product);
      way = Way::Product;
    } else if (kernel.order.points_per_task <= kLongTask && !has_block_product(nest, threads)) {
      store_->prepare(nest, kernel);
      if (kernel.function != nullptr) way = Way::Compiled;
    }
    kernel.way = way;
    return way;
  }

  std::shared_ptr<GemmPlan> plan_product(const Nest& nest, int threads) {
    if (!options_.library || Blas::get() == nullptr) return nullptr;
    std::shared_ptr<GemmPlan> gemm = plan_gemm(nest, threads, options_.compile_after == 0);
    if (gemm && prepare(gemm->rows) && prepare(gemm->columns) && prepare_init(*gemm)) return gemm;
    return nullptr;
  }

  /// Whether the interpreter's own matrix product is the better way.
  bool has_block_product(const Nest& nest, int threads) const {
    return options_.library && plan_contraction(nest, threads, false).has_value();
  }

  bool prepare(Factor& factor) { return !factor.packed() || prepare(factor.pack, factor.compiled); }
  bool prepare_init(GemmPlan& gemm) {
    return gemm.init_kernel == nullptr || prepare(gemm.init, gemm.init_compiled);
  }
  bool prepare(const Nest& nest, CompiledKernel*& compiled) {
    compiled = &store_->entry(nest);
    store_->prepare(nest, *compiled);
    return compiled->function != nullptr;
  }

  static KernelResult run_product(const GemmPlan& gemm, const Nest& nest,
                                  const RunContext& context) {
    if (gemm.init_compiled != nullptr) {
      const KernelResult done = run_compiled(*gemm.init_compiled, nest, context);
      if (done.status != KernelStatus::Done) return done;
    }
    return run_gemm(gemm, nest, context);
  }

  std::shared_ptr<KernelStore> store_;
  Options options_;
};

}  // namespace

MakeEngine make_engines(const Options& options, std::shared_ptr<KernelStore> store) {
  if (!store) store = std::make_shared<KernelStore>(options.cache_folder);
  return [options, store](const ir::Program&) { return std::make_unique<Engine>(store, options); };
}

}  // namespace solar::exec::native

namespace solar::exec {

std::unique_ptr<Executor> jit(Compile which) {
  // One store for the process, as machine code lives as long as it does.
  static const auto store = std::make_shared<native::KernelStore>(native::default_cache_folder());
  native::Options options;
  if (which == Compile::Everything) options.compile_after = 0;
  return std::make_unique<Interpreter>(native::make_engines(options, store));
}

}  // namespace solar::exec

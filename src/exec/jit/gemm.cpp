#include "exec/jit/gemm.h"

#include <algorithm>
#include <atomic>

#include "exec/block_product.h"
#include "exec/jit/blas.h"
#include "exec/jit/emit.h"
#include "exec/tensor.h"

namespace solar::exec::native {
namespace {

/// One thread's work.
template <class T>
class Worker {
 public:
  Worker(const GemmPlan& plan, const Nest& nest)
      : plan_(plan), nest_(nest), loops_(nest.extents.size(), 0) {
    prepare(plan.rows, rows_);
    prepare(plan.columns, columns_);
    in_place_ = plan.in_place(nest);
    if (!in_place_) block_ = room(plan.rows.size * plan.columns.size);
  }

  bool ready() const { return rows_.ready && columns_.ready && (in_place_ || block_ != nullptr); }

  /// False when something is not finite that must be.
  bool run(int64_t task) {
    const int64_t row_chunk = task % plan_.row_chunks;
    task /= plan_.row_chunks;
    const int64_t column_chunk = task % plan_.column_chunks;
    task /= plan_.column_chunks;
    int64_t out = 0, row_step = 0, column_step = 0;
    for (size_t i = plan_.outer.size(); i-- > 0;) {
      const OuterLoop& outer = plan_.outer[i];
      const int64_t value = task % outer.count;
      task /= outer.count;
      const auto loop = static_cast<size_t>(outer.loop);
      out += value * outer.block * nest_.output_strides[loop];
      if (outer.block == 1 && !is_split(outer.loop)) {
        loops_[loop] = value;
      } else {
        (std::find(plan_.rows.loops.begin(), plan_.rows.loops.end(), outer.loop) !=
                 plan_.rows.loops.end()
             ? row_step
             : column_step) = value;
      }
    }
    const MatrixRef<const T> a = matrix(plan_.rows, rows_, row_step, true);
    const MatrixRef<const T> b = matrix(plan_.columns, columns_, column_step, false);
    if (plan_.rows.masked && !finite(plan_.columns, b)) return false;
    if (plan_.columns.masked && !finite(plan_.rows, a)) return false;
    const Part rows = part_of(plan_.rows.size, plan_.row_chunks, row_chunk);
    const Part columns = part_of(plan_.columns.size, plan_.column_chunks, column_chunk);
    if (rows.count > 0 && columns.count > 0) multiply(a, b, rows, columns, out);
    return true;
  }

 private:
  struct Part {
    int64_t first = 0;
    int64_t count = 0;
  };
  struct Pack {
    std::vector<void*> pointers = {};
    std::vector<int64_t> constants = {};
    std::shared_ptr<std::byte> buffer = {};
    bool ready = true;
  };

  static std::shared_ptr<std::byte> room(int64_t count) {
    return allocate_bytes(count * static_cast<int64_t>(sizeof(T)));
  }

  void prepare(const Factor& factor, Pack& pack) const {
    if (!factor.packed()) return;
    pack.buffer = room(factor.size * plan_.depth);
    pack.ready = pack.buffer != nullptr;
    pack.pointers = pointers_of(nest_);
    pack.pointers[0] = pack.buffer.get();
  }

  /// A loop split into blocks is still a matrix loop.
  bool is_split(int loop) const {
    const auto in = [&](const Factor& factor) {
      return std::find(factor.loops.begin(), factor.loops.end(), loop) != factor.loops.end();
    };
    return in(plan_.rows) || in(plan_.columns);
  }

  MatrixRef<const T> matrix(const Factor& factor, Pack& pack, int64_t step, bool left) {
    if (factor.packed()) {
      fill(factor, pack, step);
      const auto* data = reinterpret_cast<const T*>(pack.buffer.get());
      // As it lies: depth x own where own is fast.
      const bool transposed = factor.own_is_fast == left;
      return {data, factor.own_is_fast ? factor.size : plan_.depth, transposed};
    }
    const NestAccess& access = nest_.accesses[static_cast<size_t>(factor.access)];
    int64_t position = access.position.constant;
    for (const ir::Term& term : access.position.terms) {
      const ir::Atom& atom = nest_.atoms[static_cast<size_t>(term.atom)];
      position += term.coefficient * (atom.kind == ir::Atom::Kind::Step
                                          ? nest_.steps[static_cast<size_t>(atom.step)]
                                          : loops_[static_cast<size_t>(term.atom)]);
    }
    const auto* data = reinterpret_cast<const T*>(access.from.data) + position;
    const bool own_fast = factor.own_stride == 1 && factor.depth_stride >= factor.size;
    return {data, own_fast ? factor.depth_stride : factor.own_stride, own_fast == left};
  }

  void fill(const Factor& factor, Pack& pack, int64_t step) {
    pack.constants.clear();
    for (const NestAccess& access : nest_.accesses) {
      pack.constants.push_back(access.position.constant);
    }
    const std::vector<ir::Atom>& atoms = factor.pack.atoms;
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (atoms[i].kind != ir::Atom::Kind::Step) continue;
      // A step of the program, an outer loop, or the block of a split loop.
      pack.constants.push_back(atoms[i].step >= 0  ? nest_.steps[static_cast<size_t>(atoms[i].step)]
                               : i < loops_.size() ? loops_[i]
                                                   : step);
    }
    factor.compiled->function(pack.pointers.data(), pack.constants.data(), 0,
                              factor.compiled->order.tasks);
  }

  bool finite(const Factor& factor, const MatrixRef<const T>& matrix) const {
    const bool own_runs = factor.packed()
                              ? factor.own_is_fast
                              : factor.own_stride == 1 && factor.depth_stride >= factor.size;
    const int64_t rows = own_runs ? plan_.depth : factor.size;
    const int64_t columns = own_runs ? factor.size : plan_.depth;
    for (int64_t row = 0; row < rows; ++row) {
      if (!all_finite(matrix.data + row * matrix.stride, columns)) return false;
    }
    return true;
  }

  static Part part_of(int64_t size, int64_t chunks, int64_t chunk) {
    const int64_t each = (size + chunks - 1) / chunks;
    return {chunk * each, std::min(each, size - chunk * each)};
  }

  void multiply(MatrixRef<const T> a, MatrixRef<const T> b, Part rows, Part columns, int64_t out) {
    a.data += a.transposed ? rows.first : rows.first * a.stride;
    b.data += b.transposed ? columns.first * b.stride : columns.first;
    out += rows.first * plan_.row_stride + columns.first * plan_.column_stride;
    const int64_t n = columns.count;
    if (in_place_) {
      auto* to = reinterpret_cast<T*>(nest_.output.data) + out;
      Blas::get()->multiply(rows.count, n, plan_.depth, a, b, {to, plan_.row_stride, false},
                            plan_.init_compiled != nullptr);
      return;
    }
    auto* sums = reinterpret_cast<T*>(block_.get());
    Blas::get()->multiply(rows.count, n, plan_.depth, a, b, {sums, n, false}, false);
    for (int64_t row = 0; row < rows.count; ++row) {
      store_strided(nest_.output.type, nest_.output.data, out + row * plan_.row_stride,
                    plan_.column_stride, {sums + row * n, false}, static_cast<int>(n));
    }
  }

  const GemmPlan& plan_;
  const Nest& nest_;
  std::vector<int64_t> loops_;
  Pack rows_, columns_;
  bool in_place_ = true;
  std::shared_ptr<std::byte> block_ = {};
};

template <class T>
KernelResult run_plan(const GemmPlan& plan, const Nest& nest, const RunContext& context) {
  TaskQueue queue(plan.tasks, 1);
  std::atomic<bool> failed = false;
  const int64_t points = std::max<int64_t>(loop_points(nest) / plan.tasks, 1);
  const auto work = [&](int member) {
    Worker<T> worker(plan, nest);
    if (!worker.ready()) failed = true;
    while (!failed && !context.cancelled()) {
      const TaskQueue::Chunk chunk = queue.next();
      if (chunk.begin == chunk.end) return;
      if (!worker.run(chunk.begin)) failed = true;
      if (member == 0 && context.finished) context.finished(points);
    }
  };
  if (plan.tasks == 1) {
    work(0);
  } else {
    context.team->run(work);
  }
  if (context.cancelled()) return {KernelStatus::Cancelled, {}};
  return {failed ? KernelStatus::NotApplicable : KernelStatus::Done, {}};
}

}  // namespace

KernelResult run_gemm(const GemmPlan& plan, const Nest& nest, const RunContext& context) {
  if (ir::compute_type(nest.output.type) == ComputeType::F64)
    return run_plan<double>(plan, nest, context);
  return run_plan<float>(plan, nest, context);
}

}  // namespace solar::exec::native

#include "exec/jit/gemm_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "exec/kernel_run.h"

namespace solar::exec::native {
namespace {

using ir::Atom;
using ir::Guard;
using ir::Linear;

constexpr int64_t kLeastPoints = 1 << 15;
constexpr int64_t kLeastSide = 4;
constexpr int64_t kBlockElements = 1 << 18;  // of a packed factor
constexpr int64_t kTasksPerThread = 2;

int64_t coefficient_of(const Linear& linear, int atom) {
  for (const ir::Term& term : linear.terms) {
    if (term.atom == atom) return term.coefficient;
  }
  return 0;
}

/// Works out one plan.
class Planner {
 public:
  Planner(const Nest& nest, int threads, bool even_if_small)
      : nest_(nest),
        kernel_(*nest.kernel),
        threads_(threads),
        even_if_small_(even_if_small),
        atom_loops_(loops_of_atoms(nest.atoms)) {}

  std::unique_ptr<GemmPlan> plan() {
    if (!is_sum_of_products() || !share_out_loops() || !guards_are_separable()) return nullptr;
    plan_ = std::make_unique<GemmPlan>();
    const ir::ScalarNode& value = kernel_.nodes[static_cast<size_t>(kernel_.value)];
    roots_[0] = value.a, roots_[1] = value.b;
    for (int side = 0; side < 2; ++side) access_[side] = direct_access(side);
    order_depth();
    for (int side = 0; side < 2; ++side) choose_matrix_loops(side);
    // The library writes rows: the factor whose loop is contiguous in the output gives the columns.
    if (own_stride_[0] < own_stride_[1]) swap_sides();
    if (!output_is_matrix()) return nullptr;
    const int64_t side = std::min(size_of(own_[0]), size_of(own_[1]));
    if (!even_if_small_ && side < kLeastSide) return nullptr;
    plan_->row_stride = own_stride_[0];
    plan_->column_stride = own_stride_[1];
    list_outer();
    for (int side = 0; side < 2; ++side) {
      if (!make_factor(side)) return nullptr;
    }
    if (!fits_library()) return nullptr;
    plan_->summed = summed_;
    plan_->depth = size_of(summed_);
    if (kernel_.init >= 0 && !plan_->in_place(nest_)) return nullptr;
    if (kernel_.init >= 0) make_init();
    finish_tasks();
    return std::move(plan_);
  }

 private:
  int64_t extent(int loop) const { return nest_.extents[static_cast<size_t>(loop)]; }
  int64_t size_of(const std::vector<int>& loops) const {
    int64_t size = 1;
    for (const int loop : loops) size *= extent(loop);
    return size;
  }
  static uint64_t bits(const std::vector<int>& loops) {
    uint64_t result = 0;
    for (const int loop : loops) result |= loop_bit(loop);
    return result;
  }

  bool is_sum_of_products() const {
    const ir::ScalarNode& value = kernel_.nodes[static_cast<size_t>(kernel_.value)];
    return kernel_.reduction == ir::Reduction::Sum && value.op == ScalarOp::Mul &&
           ir::is_float(value.type) && nest_.ordered < 0 && kernel_.data_guard < 0 &&
           (even_if_small_ || loop_points(nest_) >= kLeastPoints) &&
           std::none_of(
               nest_.accesses.begin(), nest_.accesses.end(),
               [](const NestAccess& access) { return access.data_dependent; });
  }

  bool share_out_loops() {
    const ir::ScalarNode& value = kernel_.nodes[static_cast<size_t>(kernel_.value)];
    const uint64_t a = loops_of_node(nest_, value.a, atom_loops_);
    const uint64_t b = loops_of_node(nest_, value.b, atom_loops_);
    for (int loop = 0; loop < static_cast<int>(nest_.extents.size()); ++loop) {
      if (extent(loop) == 1) continue;
      const uint64_t bit = loop_bit(loop);
      const bool in_a = (a & bit) != 0, in_b = (b & bit) != 0;
      if (!nest_.target[static_cast<size_t>(loop)]) {
        if (!in_a && !in_b) return false;
        summed_.push_back(loop);
      } else if (in_a != in_b) {
        own_[in_a ? 0 : 1].push_back(loop);
      } else {
        outer_.push_back(loop);
      }
    }
    return !own_[0].empty() && !own_[1].empty() && !summed_.empty();
  }

  /// Every guard must concern one factor's loops, the summed and the batch ones: then it is zeros
  /// in that factor.
  bool guards_are_separable() {
    for (const Guard& guard : nest_.guards) {
      const uint64_t loops = loops_of(guard.value, atom_loops_);
      const bool in_a = (loops & bits(own_[0])) != 0, in_b = (loops & bits(own_[1])) != 0;
      if (in_a && in_b) return false;
      if (kernel_.otherwise >= 0) return false;
      guarded_[in_b ? 1 : 0] = true;
    }
    return true;
  }

  /// The access that a factor is, if it can be read as a matrix where it lies.
  int32_t direct_access(int side) const {
    const ir::ScalarNode& node = kernel_.nodes[static_cast<size_t>(roots_[side])];
    if (node.op != ScalarOp::Load || guarded_[side]) return -1;
    const NestAccess& access = nest_.accesses[static_cast<size_t>(node.reference)];
    const bool plain = access.from.type == ElementType::F32 || access.from.type == ElementType::F64;
    if (!plain || access.conditional) return -1;
    const bool affine = std::all_of(
        access.position.terms.begin(), access.position.terms.end(), [&](const ir::Term& term) {
          const Atom::Kind kind = nest_.atoms[static_cast<size_t>(term.atom)].kind;
          return kind == Atom::Kind::Loop || kind == Atom::Kind::Step;
        });
    return affine && (nest_.guards.empty() || stays_inside(side)) ? node.reference : -1;
  }

  /// Whether a factor's subscripts are inside their axes even where guards fail.
  bool stays_inside(int side) const {
    const auto inside = [&](const Linear& subscript, int64_t axis) {
      int64_t low = subscript.constant, high = subscript.constant;
      for (const ir::Term& term : subscript.terms) {
        const auto atom = static_cast<size_t>(term.atom);
        if (nest_.atoms[atom].kind != Atom::Kind::Loop) return false;
        const int64_t reach = term.coefficient * (kernel_.loops[atom].extent - 1);
        (reach > 0 ? high : low) += reach;
      }
      return low >= 0 && high < axis;
    };
    for (const int32_t index : accesses_under(nest_, {roots_[side]})) {
      const NestAccess& access = nest_.accesses[static_cast<size_t>(index)];
      if (access.conditional) continue;
      for (size_t axis = 0; axis < access.subscripts.size(); ++axis) {
        if (!inside(access.subscripts[axis], access.from.extents[axis])) return false;
      }
    }
    return true;
  }

  int64_t stride_in(int side, int loop) const {
    return coefficient_of(nest_.accesses[static_cast<size_t>(access_[side])].position, loop);
  }

  /// Whether the loops, outermost first, walk one stride.
  template <class Stride>
  bool is_chain(const std::vector<int>& loops, Stride stride) const {
    for (size_t i = 0; i + 1 < loops.size(); ++i) {
      if (stride(loops[i]) != stride(loops[i + 1]) * extent(loops[i + 1])) return false;
    }
    return true;
  }

  /// An order of the summed loops in which factors read where they lie have one depth stride.
  void order_depth() {
    for (const int side : {0, 1}) {
      if (access_[side] < 0) continue;
      std::vector<int> order = summed_;
      std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
        return std::abs(stride_in(side, x)) > std::abs(stride_in(side, y));
      });
      const int other = 1 - side;
      const auto chain_in = [&](int which) {
        return is_chain(order, [&](int loop) { return stride_in(which, loop); }) &&
               stride_in(which, order.back()) > 0;
      };
      if (!chain_in(side)) {
        access_[side] = -1;
        continue;
      }
      summed_ = order;
      if (access_[other] >= 0 && !chain_in(other)) access_[other] = -1;
      return;
    }
  }

  /// Splits a factor's own loops into matrix loops, which walk one stride in the output, and outer
  /// ones.
  void choose_matrix_loops(int side) {
    std::vector<int> loops = own_[side];
    const auto out = [&](int loop) { return nest_.output_strides[static_cast<size_t>(loop)]; };
    std::stable_sort(loops.begin(), loops.end(), [&](int x, int y) { return out(x) > out(y); });
    const auto longest = [&](bool direct) {
      std::vector<int> chain = {loops.back()};
      for (size_t i = loops.size() - 1; i-- > 0;) {
        const int next = loops[i], last = chain.front();
        if (out(next) != out(last) * extent(last)) break;
        if (direct && stride_in(side, next) != stride_in(side, last) * extent(last)) break;
        chain.insert(chain.begin(), next);
      }
      return chain;
    };
    std::vector<int> chain = longest(access_[side] >= 0);
    if (access_[side] >= 0) {
      const int64_t own = stride_in(side, chain.back()), depth = stride_in(side, summed_.back());
      const std::vector<int> without = longest(false);
      const bool poor = size_of(chain) < 16 && size_of(without) > size_of(chain);
      // One of the two directions must be contiguous, the other stride long enough for a matrix.
      const bool matrix =
          (own == 1 && depth >= size_of(chain)) || (depth == 1 && own >= size_of(summed_));
      if (poor || !matrix) {
        access_[side] = -1;
        chain = without;
      }
    }
    for (const int loop : loops) {
      if (std::find(chain.begin(), chain.end(), loop) == chain.end()) outer_.push_back(loop);
    }
    own_[side] = chain;
    own_stride_[side] = out(chain.back());
  }

  /// The library counts in 32 bits.
  bool fits_library() const {
    const auto fits = [](int64_t n) { return n <= INT32_MAX; };
    const auto good = [&](const Factor& factor) {
      return fits(factor.size) && fits(factor.own_stride) && fits(factor.depth_stride);
    };
    return good(plan_->rows) && good(plan_->columns) && fits(size_of(summed_)) &&
           fits(own_stride_[0]);
  }

  void swap_sides() {
    std::swap(own_[0], own_[1]);
    std::swap(roots_[0], roots_[1]);
    std::swap(access_[0], access_[1]);
    std::swap(guarded_[0], guarded_[1]);
    std::swap(own_stride_[0], own_stride_[1]);
  }

  bool output_is_matrix() const { return own_stride_[1] > 0 && own_stride_[0] > 0; }

  /// The outer loops; a packed factor's first loop is split where its block would be too large or
  /// there would be too few tasks.
  void list_outer() {
    plan_->tasks = 1;
    for (const int loop : outer_) {
      plan_->outer.push_back({loop, extent(loop), 1});
      plan_->tasks *= extent(loop);
    }
    for (const int side : {1, 0}) {
      if (access_[side] >= 0) continue;
      const int first = own_[side].front();
      const int64_t rest = size_of(own_[side]) / extent(first);
      int64_t block = extent(first);
      const auto wanted = [&](int64_t b) {
        const int64_t pieces = extent(first) / b;
        return b * rest * size_of(summed_) <= kBlockElements &&
               (plan_->tasks * pieces >= kTasksPerThread * threads_ || b * rest <= 64);
      };
      for (int64_t b = extent(first); b >= 1; --b) {
        if (extent(first) % b != 0) continue;
        block = b;
        if (wanted(b)) break;
      }
      if (block == extent(first)) continue;
      plan_->outer.push_back({first, extent(first) / block, block});
      plan_->tasks *= extent(first) / block;
      split_[side] = block;
    }
  }

  bool make_factor(int side) {
    Factor& factor = side == 0 ? plan_->rows : plan_->columns;
    factor.loops = own_[side];
    factor.size = size_of(own_[side]);
    if (split_[side] != 0) factor.size = factor.size / extent(own_[side].front()) * split_[side];
    if (access_[side] >= 0) {
      factor.access = access_[side];
      factor.own_stride = stride_in(side, own_[side].back());
      factor.depth_stride = stride_in(side, summed_.back());
      return true;
    }
    return make_pack(side, factor);
  }

  bool make_pack(int side, Factor& factor) {
    const uint64_t other = bits(own_[1 - side]);
    factor.kernel = std::make_unique<ir::Kernel>(kernel_);
    ir::Kernel& kernel = *factor.kernel;
    kernel.reduction = ir::Reduction::None;
    kernel.init = -1;
    kernel.value = roots_[side];
    const ElementType type = ir::compute_type(nest_.output.type) == ComputeType::F64
                                 ? ElementType::F64
                                 : ElementType::F32;
    kernel.nodes.push_back({.op = ScalarOp::Constant, .type = type});
    kernel.otherwise = static_cast<int32_t>(kernel.nodes.size()) - 1;
    Nest& pack = factor.pack;
    pack = nest_;
    pack.kernel = factor.kernel.get();
    pack.guards.clear();
    for (const Guard& guard : nest_.guards) {
      const uint64_t loops = loops_of(guard.value, atom_loops_);
      // A guard on the other factor's loops is zeros there; this one must do without it.
      if ((loops & other) != 0) {
        if (!stays_inside(side)) return false;
        continue;
      }
      pack.guards.push_back(guard);
      factor.masked = factor.masked || (loops & bits(summed_)) != 0 || guarded_[side];
    }
    if (pack.guards.empty()) kernel.otherwise = -1;
    pack.output.type = type;
    pack.second_output = {};
    const uint64_t mine = bits(own_[side]) | bits(summed_);
    for (int loop = 0; loop < static_cast<int>(pack.extents.size()); ++loop) {
      const auto l = static_cast<size_t>(loop);
      pack.output_strides[l] = 0;
      pack.target[l] = ((mine >> loop) & 1U) != 0;
      if (pack.target[l]) continue;
      pack.extents[l] = 1;
      const bool stepped = std::find(outer_.begin(), outer_.end(), loop) != outer_.end();
      if (stepped) pack.atoms[l].kind = Atom::Kind::Step;
    }
    if (split_[side] != 0) split_loop(pack, kernel, own_[side].front(), split_[side]);
    factor.own_is_fast = own_is_fast(side, pack);
    int64_t stride = 1;
    const auto lay = [&](const std::vector<int>& loops) {
      for (size_t i = loops.size(); i-- > 0;) {
        pack.output_strides[static_cast<size_t>(loops[i])] = stride;
        stride *= pack.extents[static_cast<size_t>(loops[i])];
      }
    };
    lay(factor.own_is_fast ? own_[side] : summed_);
    lay(factor.own_is_fast ? summed_ : own_[side]);
    return true;
  }

  /// loop = block * step + a loop of `block` values, everywhere.
  static void split_loop(Nest& pack, ir::Kernel& kernel, int loop, int64_t block) {
    const auto step = static_cast<int32_t>(pack.atoms.size());
    const auto extend = [&](Linear& linear) {
      const int64_t coefficient = coefficient_of(linear, loop);
      if (coefficient != 0) add_term(linear, step, coefficient * block);
    };
    for (NestAccess& access : pack.accesses) {
      extend(access.position);
      for (Linear& subscript : access.subscripts) extend(subscript);
    }
    for (Linear& linear : kernel.linears) extend(linear);
    for (Guard& guard : pack.guards) extend(guard.value);
    for (Atom& atom : pack.atoms) {
      for (Linear& operand : atom.operands) extend(operand);
      for (Guard& condition : atom.conditions) extend(condition.value);
    }
    pack.atoms.push_back({.kind = Atom::Kind::Step});
    pack.atom_sources.emplace_back();
    pack.extents[static_cast<size_t>(loop)] = block;
  }

  /// Whether the factor is read along its own loops rather than along the depth.
  bool own_is_fast(int side, const Nest& pack) const {
    const auto cost = [&](int loop) {
      double sum = 0;
      for (const int32_t index : accesses_under(nest_, {roots_[side]})) {
        const Linear& position = pack.accesses[static_cast<size_t>(index)].position;
        const int64_t stride = std::abs(coefficient_of(position, loop));
        sum += stride == 0 ? 0.5 : stride == 1 ? 0 : stride < 16 ? 0.6 : 1;
      }
      return sum + 4.0 / static_cast<double>(pack.extents[static_cast<size_t>(loop)]);
    };
    return cost(own_[side].back()) <= cost(summed_.back());
  }

  void make_init() {
    plan_->init_kernel = std::make_unique<ir::Kernel>(kernel_);
    ir::Kernel& kernel = *plan_->init_kernel;
    kernel.reduction = ir::Reduction::None;
    kernel.value = kernel_.init;
    kernel.init = -1;
    plan_->init = nest_;
    plan_->init.kernel = plan_->init_kernel.get();
    plan_->init.guards.clear();
    for (size_t loop = 0; loop < nest_.extents.size(); ++loop) {
      if (!nest_.target[loop]) plan_->init.extents[loop] = 1;
    }
  }

  void finish_tasks() {
    // A factor read where it lies is shared out further if there are too few tasks.
    const int64_t wanted = kTasksPerThread * threads_;
    const auto chunks = [&](const Factor& factor) {
      if (factor.packed() || plan_->tasks >= wanted) return int64_t{1};
      const int64_t missing = (wanted + plan_->tasks - 1) / plan_->tasks;
      return std::clamp<int64_t>(factor.size / 32, 1, missing);
    };
    const bool columns_first = plan_->columns.size > plan_->rows.size;
    plan_->column_chunks = columns_first ? chunks(plan_->columns) : 1;
    plan_->tasks *= plan_->column_chunks;
    plan_->row_chunks = chunks(plan_->rows);
    plan_->tasks *= plan_->row_chunks;
  }

  const Nest& nest_;
  const ir::Kernel& kernel_;
  int threads_;
  bool even_if_small_;
  std::vector<uint64_t> atom_loops_;
  std::unique_ptr<GemmPlan> plan_ = {};
  std::vector<int> own_[2], summed_, outer_;
  int32_t roots_[2] = {-1, -1}, access_[2] = {-1, -1};
  int64_t own_stride_[2] = {0, 0}, split_[2] = {0, 0};
  bool guarded_[2] = {false, false};
};

}  // namespace

std::unique_ptr<GemmPlan> plan_gemm(const Nest& nest, int threads, bool even_if_small) {
  return Planner(nest, threads, even_if_small).plan();
}

}  // namespace solar::exec::native

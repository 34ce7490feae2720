#pragma once
// Multiply-accumulates of a kernel: which nests sum products, and how many products are needed.

#include <functional>
#include <optional>
#include <vector>

#include "einsum/kernel_reader.h"

namespace solar::einsum {

/// One factor of a product: the reads below it, and the loops it depends on.
struct Factor {
  std::vector<FoldedAccess> reads = {};
  std::vector<int32_t> accesses = {};  // the kernel's, for types and subscripts as written
  LoopMask loops = 0;
};

/// A sum over at least one loop of a product of two or more different factors.
struct Contraction {
  std::vector<Factor> factors = {};  // different ones
  int32_t products = 0;              // multiplications on the way to the sum
};

/// All products that the kernel sums; empty if it is no contraction.
std::vector<Contraction> contractions_of(const KernelReader& reader);

/// Multiply-accumulates at the best pairwise order, over the points of `domain`: a pair that shares
/// no summed loop is elementwise, a loop of one factor only is summed before. nullopt: does not fit
/// 64 bits.
std::optional<int64_t> useful_macs(const Contraction& contraction, const KernelReader& reader,
                                   const Region& domain);
/// The box times (factors - 1), periodic guards kept, over all `executions` of the kernel. Ragged
/// ranges `p[i] .. p[i + 1]` are taken as parts of one range: the loop i adds no points.
std::optional<int64_t> nominal_macs(const Contraction& contraction, const KernelReader& reader,
                                    int64_t executions);
/// The points of that box, periodic guards ignored too.
std::optional<int64_t> nominal_box(const KernelReader& reader);
/// The loops whose extents the box does not multiply, for such ranges.
LoopMask partitioning_loops(const KernelReader& reader);

/// Some read combines a target loop with a reduced loop so that windows overlap.
bool has_window(const Contraction& contraction, const KernelReader& reader);

/// The type that the multiplications run in: the widest of the operands, where an intermediate made
/// inside the operator (`is_inside`) does not count if another operand comes from outside.
/// `values_of`: the type that a tensor's values fit.
ir::ElementType mac_type(const Contraction& contraction,
                         const std::function<ir::ElementType(ir::TensorId)>& values_of,
                         const std::function<bool(ir::TensorId)>& is_inside);

}  // namespace solar::einsum

#pragma once
// What a kernel's scalar expression says about its index space: which reads happen under which
// conditions, and where its value is surely zero or minus infinity.

#include <array>
#include <optional>
#include <vector>

#include "einsum/domain.h"
#include "einsum/program_index.h"

namespace solar::einsum {

/// Values that propagate structurally: 0 * x = 0, exp(-inf) = 0, a condition that is true.
enum class Special : uint8_t { Zero, MinusInfinity, NonZero };

/// Per stored tensor and special value: outside the region every element surely is that value.
struct SpecialRegions {
  std::vector<bool> known = {};   // inside the regions no element is the special value
  std::vector<bool> lowest = {};  // every element is the lowest finite number of its type

  bool zero_factors = false;  // what a surely zero factor multiplies is not read

  explicit SpecialRegions(size_t tensors) : known(tensors, false), lowest(tensors, false) {
    regions_.fill(
        std::vector<Region>(tensors, Region::full({})));  // a region that is whole needs no shape
  }
  std::vector<Region>& without(Special special) { return regions_[static_cast<size_t>(special)]; }
  const Region& without(Special special, ir::TensorId id) const {
    return regions_[static_cast<size_t>(special)][ir::index(id)];
  }

 private:
  std::array<std::vector<Region>, 3> regions_ = {};
};

/// Functions of one value that are 0 at 0; a quotient with dividend 0.
bool keeps_zero(ir::ScalarOp op);

/// Necessary conditions for something; `exact` if they are sufficient too.
struct Conditions {
  std::vector<Constraint> all = {};
  bool exact = true;
};

/// One read, where all of `when` hold.
struct Use {
  FoldedAccess access = {};
  std::vector<Constraint> when = {};
  int32_t source = -1;  // index into the kernel's accesses; -1: an index tensor
  bool chosen = false;  // stands in a branch that data chooses; taken as read all the same
};

struct Uses {
  std::vector<Use> all = {};
  bool left_out = false;      // deeply nested conditions: some reads are missing
  bool zero_factors = false;  // surely zero values stand inside larger ones
};

/// The reads of index tensors that `value` needs.
void data_uses(const Nest& nest, const Linear& value, const std::vector<Constraint>& when,
               std::vector<Use>& uses);

class KernelReader {
 public:
  /// The nest's loops are the kernel's, then the steps of `loops`. `targets`: more subscripts to
  /// import, of a scatter.
  KernelReader(const ProgramIndex& index, const ir::Kernel& kernel,
               const std::vector<int32_t>& loops, const SpecialRegions& specials,
               std::span<const Linear> targets = {});

  const ir::Kernel& kernel() const { return *kernel_; }
  const std::vector<int32_t>& loops() const { return *loops_; }
  Nest& nest() { return nest_; }
  const Nest& nest() const { return nest_; }
  const FoldedAccess& folded(int32_t access) const { return folded_[static_cast<size_t>(access)]; }
  const Linear& linear(int32_t reference) const { return linears_[static_cast<size_t>(reference)]; }
  const std::vector<Guard>& guards() const { return guards_; }
  /// That the loops lie in their ragged ranges.
  const std::vector<Guard>& ragged_guards() const { return ragged_guards_; }
  /// The subscripts of the element that a point writes, all axes.
  const std::vector<Linear>& target() const { return target_; }
  /// The loops that decide which element a point writes; those that do so only through data are
  /// summed over.
  LoopMask target_mask() const { return target_mask_; }
  const ir::ScalarNode& node(int32_t id) const { return kernel_->nodes[static_cast<size_t>(id)]; }
  /// Subscripts before views are folded.
  const std::vector<Linear>& plain_subscripts(int32_t access) const {
    return plain_[static_cast<size_t>(access)];
  }

  /// The node as an index expression, if it is one.
  std::optional<Linear> as_linear(int32_t node) const;
  bool is_constant(int32_t node, double value) const;
  /// When the bool node is true (false, if not `positive`).
  Conditions conditions(int32_t node, bool positive) const;
  /// If any of these constraints is violated, the node's value is `special`.
  std::vector<Constraint> required_for_other_than(Special special, int32_t node) const;
  /// The same of minus infinity or the lowest finite number of the type.
  std::vector<Constraint> required_for_other_than_lowest(int32_t node) const;
  /// Whether the value is surely the lowest finite number of its type.
  bool is_lowest(int32_t node) const;
  /// Whether the value is mostly zero at places that integers given at run time decide: one_hot, a
  /// range up to a length. `known`: tensors that are. A comparison of floats, as in relu, is not
  /// meant: its zeros may be none.
  bool is_zero_by_data(int32_t node, const std::vector<bool>& known) const;
  /// Whether something that `depends` (one entry a tensor) is multiplied by a value that is surely
  /// zero at some points, or divides it.
  bool leaves_out_factors(const std::vector<bool>& depends) const;
  bool leaves_out_zero_factors() const { return specials_->zero_factors; }
  /// All reads below `node`, and the index tensors that their subscripts read. `not_zero`: the
  /// value is asked for only where it is not surely zero.
  Uses uses(int32_t node, bool not_zero) const;

 private:
  struct Visit;
  /// `in_product`: `when` holds what the node requires to be other than zero.
  void visit(int32_t node, const std::vector<Constraint>& when, Visit& visit,
             bool in_product = false) const;
  std::optional<Linear> compare(const ir::ScalarNode& node, bool positive, Guard::Kind& kind) const;
  Conditions load_conditions(Special special, int32_t load) const;
  void zero_conditions(int32_t node, std::vector<Constraint>& all) const;
  Conditions nonzero_conditions(int32_t node) const;
  bool compares_integers(int32_t node) const;
  void minus_infinity_conditions(int32_t node, std::vector<Constraint>& all,
                                 bool or_lowest = false) const;
  void select_conditions(Special special, const ir::ScalarNode& select,
                         std::vector<Constraint>& all, bool or_lowest = false) const;

  const ir::Kernel* kernel_;
  const std::vector<int32_t>* loops_;
  const SpecialRegions* specials_;
  Nest nest_;
  std::vector<FoldedAccess> folded_ = {};
  std::vector<std::vector<Linear>> plain_ = {};
  std::vector<Linear> linears_ = {};
  std::vector<Guard> guards_ = {};
  std::vector<Guard> ragged_guards_ = {};
  std::vector<Linear> target_ = {};
  LoopMask target_mask_ = 0;
  std::vector<bool> small_ = {};  // nodes whose expression, written out, is short enough to walk
};

}  // namespace solar::einsum

#pragma once
// The program's structure as counting sees it. A loop of the composition layer is one more loop of
// everything in its body, and one more axis of every tensor defined there: the steps, counted from
// 0, come last. What only renames elements (views, results of loops, the branch taken) is no tensor
// of its own.

#include <optional>
#include <string>
#include <vector>

#include "einsum/nest.h"
#include "exec/executor.h"
#include "ir/core.h"

namespace solar::einsum {

/// The steps of a repeat or a while. A while has one step more than take effect: the last only
/// tests.
struct StepLoop {
  std::string name = {};
  std::string extent_text = {};  // empty: not an expression of dims
  int64_t extent = 1;
  int32_t step = -1;  // Program::steps; -1: a while
  bool descending = false;
};

/// Statements in order: the program, the body of a loop, a branch.
struct Block {
  std::vector<int32_t> loops = {};       // indices into step_loops(), outermost first
  std::vector<int32_t> statements = {};  // placed ones
  std::vector<int32_t> carries = {};     // placed ones
  int32_t end = 0;                       // blocks inside have numbers up to it
  bool alternative = false;              // it may be that only the other branch runs
};

/// A statement and where it stands, or (statement null) a carried value as a statement that defines
/// `inside`: `initial` at step 0, then the `next` of the step before.
struct Placed {
  const ir::Statement* statement = nullptr;
  const ir::Carried* carried = nullptr;
  int32_t block = 0;
  int32_t owner = -1;                // of a carry: its loop
  std::vector<int32_t> bodies = {};  // blocks: of a loop one, of an `if` those that may run
  int64_t executions = 1;            // saturates
};

/// A read of a port, or of a tensor that a statement computes, never of a view.
struct FoldedAccess {
  ir::TensorId base = {};
  std::vector<Linear> subscripts = {};  // of all axes, the steps last
  friend bool operator==(const FoldedAccess&, const FoldedAccess&) = default;
};

class ProgramIndex {
 public:
  /// `paths`: per Program::controls, from a run; empty: not recorded.
  explicit ProgramIndex(const ir::Program& program, std::vector<exec::ControlPath> paths = {});

  const ir::Program& program() const { return *program_; }
  /// All statements, outer ones before their bodies, in order; then the carries.
  const std::vector<Placed>& placed() const { return placed_; }
  const Placed& placed(int32_t id) const { return placed_[static_cast<size_t>(id)]; }
  const Block& block(int32_t id) const { return blocks_[static_cast<size_t>(id)]; }
  const Block& block_of(const Placed& placed) const { return block(placed.block); }
  const StepLoop& step_loop(int32_t id) const { return step_loops_[static_cast<size_t>(id)]; }
  std::vector<int64_t> extents(const std::vector<int32_t>& loops) const;

  /// Index into placed(), or -1 for a port.
  int32_t producer(ir::TensorId id) const { return producers_[ir::index(id)]; }
  bool is_port(ir::TensorId id) const { return producer(id) < 0; }
  const ir::Kernel* kernel_of(ir::TensorId id) const;
  const ir::Carried* carried_of(ir::TensorId id) const;
  /// The scatter that defines a tensor by overwriting its base.
  const ir::Scatter* donated_scatter_of(ir::TensorId id) const;

  /// All axes: the tensor's own, then the steps of the loops it is defined in.
  const std::vector<int64_t>& shape(ir::TensorId id) const;
  const std::vector<int32_t>& loops(ir::TensorId id) const;
  /// Whether the tensor is defined once, in no body.
  bool is_outermost(ir::TensorId id) const { return block_of_tensor_[ir::index(id)] == 0; }
  /// Whether the tensor is defined in the block or in a body inside it.
  bool is_in(ir::TensorId id, int32_t block) const;
  /// Tensors defined in the block and in the bodies inside it.
  std::vector<ir::TensorId> tensors_in(int32_t block) const;

  /// `own` subscripts and the tensor's steps, of which `steps` are the values.
  std::vector<Linear> with_steps(ir::TensorId id, std::vector<Linear> own,
                                 std::span<const Linear> steps) const;
  /// What Program::steps are inside `loops`, whose steps `values` counts.
  std::vector<Linear> step_values(const std::vector<int32_t>& loops,
                                  std::span<const Linear> values) const;

  /// Some way a run goes is taken from a recorded run; some is not known.
  bool uses_recorded_path() const { return uses_recorded_path_; }
  bool path_missing() const { return path_missing_; }

  /// Subscripts of all axes.
  FoldedAccess fold(Nest& nest, ir::TensorId tensor, std::vector<Linear> subscripts) const;
  /// What a data read becomes: the expression of an index tensor such as `y[i] = i`, else an atom
  /// over its base. The atom's operands are subscripts of all axes.
  Linear fold_data_read(Nest& nest, Atom atom) const;
  /// The port whose memory an element of `tensor` occupies after scatters into donated bases.
  std::optional<FoldedAccess> storage_of(Nest& nest, ir::TensorId tensor,
                                         std::vector<Linear> subscripts) const;

 private:
  // An element of a tensor as one of another.
  struct Alias {
    enum class Kind : uint8_t { None, View, Same, AtStep, Stacked };
    Kind kind = Kind::None;
    ir::TensorId to = {};
    const ir::View* view = nullptr;
    int32_t loop = -1;  // Stacked
    int64_t step = 0;   // AtStep: which
  };

  void add_block(int32_t id, const std::vector<ir::Statement>& statements, int64_t executions);
  int32_t open_block(const Block& parent, int32_t loop);
  void add(int32_t id, const ir::View& view);
  void add(int32_t id, const ir::Repeat& repeat);
  void add(int32_t id, const ir::While& loop);
  void add(int32_t id, const ir::If& branch);
  template <class Other>
  void add(int32_t id, const Other& other);
  void add_carries(int32_t id, int32_t body, const std::vector<ir::Carried>& carried);
  void define(ir::TensorId id, int32_t producer, int32_t block);
  int64_t steps_of(const ir::While& loop);
  std::optional<bool> choice_of(const ir::If& branch);
  Alias& alias(ir::TensorId id) { return aliases_[ir::index(id)]; }
  bool returns_to(ir::TensorId tensor, ir::TensorId inside) const;

  const ir::Program* program_;
  std::vector<exec::ControlPath> paths_;
  std::vector<Placed> placed_ = {};
  std::vector<Placed> carries_ = {};  // while building
  std::vector<Block> blocks_ = {};
  std::vector<StepLoop> step_loops_ = {};
  std::vector<int32_t> producers_;
  std::vector<int32_t> block_of_tensor_;
  std::vector<Alias> aliases_;
  std::vector<std::vector<int64_t>> shapes_ = {};  // of tensors in loops; empty: the tensor's own
  bool uses_recorded_path_ = false;
  bool path_missing_ = false;
};

}  // namespace solar::einsum

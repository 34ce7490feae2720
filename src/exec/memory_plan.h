#pragma once
// Where each tensor of a program lies, and how long.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/core.h"

namespace solar::exec {

/// Element (i, j, ..) is at offset + sum of index * stride in the buffer of `owner`.
struct Placement {
  ir::TensorId owner = {};
  int64_t offset = 0;
  std::vector<int64_t> strides = {};
  /// Row-major over a whole buffer of its own.
  bool plain = true;
  /// A view whose offset is known only when it is run: its input's plus `start`, in the view's
  /// atoms.
  bool moving = false;
  ir::Linear start = {};
};

/// Where a body writes what its repeat stacks: the element of `result` at the step.
struct StackPlace {
  ir::TensorId result = {};
  int32_t step = -1;
};

/// A list of statements: the program's, or a body's.
struct BlockPlan {
  /// Per statement: the buffers of this block used there for the last time. One entry more: those
  /// needed to the block's end.
  std::vector<std::vector<ir::TensorId>> released = {};
};

struct MemoryPlan {
  std::vector<Placement> placements = {};                      // per tensor
  std::vector<std::optional<StackPlace>> place_in_stack = {};  // per tensor
  std::map<const std::vector<ir::Statement>*, BlockPlan> blocks = {};
  int64_t peak_bytes = 0;  // saturated

  const BlockPlan& block(const std::vector<ir::Statement>& body) const { return blocks.at(&body); }
};

/// Cost: linear in the program's size times the depth of its bodies.
MemoryPlan plan_memory(const ir::Program& program, const std::vector<ir::TensorId>& results);

/// Whether a scatter may write into its base's buffer: it is a whole buffer of this block, used
/// here for the last time, and nothing else that the scatter reads lies in it.
bool takes_base(const MemoryPlan& plan, const ir::Scatter& scatter,
                const std::vector<ir::TensorId>& released);

/// Every tensor that a run returns: outputs, new states, kept tensors.
std::vector<ir::TensorId> results_of(const ir::Program& program,
                                     const std::vector<ir::TensorId>& kept);

/// Tensors by name; names that do not exist are left out.
std::vector<ir::TensorId> tensors_named(const ir::Program& program,
                                        const std::vector<std::string>& names);

/// Loop points of one statement, or the elements copied or sorted; of a repeat, those of all its
/// steps, of a while, of as many steps as its limit, of an if, those of the larger branch. A ragged
/// loop counts as if the ranges shared its extent out. Saturates.
int64_t statement_points(const ir::Program& program, const ir::Statement& statement);

/// Bytes of work buffers that a statement needs while it runs, beyond a few MiB a thread.
/// Saturates.
int64_t work_bytes(const ir::Program& program, const ir::Statement& statement);

/// A tensor's bytes in memory. Saturates.
int64_t saturating_bytes(const ir::Tensor& tensor);

}  // namespace solar::exec

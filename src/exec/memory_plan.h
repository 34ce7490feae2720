#pragma once
// Where each tensor of a program lies, and how long.

#include <cstdint>
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
};

struct MemoryPlan {
  std::vector<Placement> placements = {};  // per tensor
  std::vector<int32_t> last_use =
      {};                  // per owner: its last statement; the number of statements for results
  int64_t peak_bytes = 0;  // saturated
};

MemoryPlan plan_memory(const ir::Program& program, const std::vector<ir::TensorId>& results);

/// Every tensor that a run returns: outputs, new states, kept tensors.
std::vector<ir::TensorId> results_of(const ir::Program& program,
                                     const std::vector<ir::TensorId>& kept);

/// Tensors by name; names that do not exist are left out.
std::vector<ir::TensorId> tensors_named(const ir::Program& program,
                                        const std::vector<std::string>& names);

/// Points of one statement: the loops' product, or the elements copied. Saturates.
int64_t statement_points(const ir::Program& program, const ir::Statement& statement);

int64_t saturating_add(int64_t a, int64_t b);

}  // namespace solar::exec

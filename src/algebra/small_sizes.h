#pragma once
// Small sizes at which a program is the same, so that it can be run. Private to algebra/.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/core.h"

namespace solar::algebra {

struct SmallSize {
  std::map<std::string, int64_t> dims = {};  // free ones that are not as in the program
  ir::VerifiedProgram program;
  bool runs = true;  // it has few enough points
};

/// At most a few, the smallest first. Where none has few enough points, one that has more; none
/// where no smaller size verifies.
/// Costs a verification for each of some dozens of sizes at most.
std::vector<SmallSize> small_sizes(const ir::VerifiedProgram& program, const ir::ast::File& file,
                                   const std::map<std::string, int64_t>& bindings,
                                   int64_t max_points);

}  // namespace solar::algebra

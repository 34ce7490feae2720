#pragma once
// What is known once parameters are: computed beforehand, it is a parameter itself.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algebra/algebra.h"
#include "ir/core.h"

namespace solar::algebra {

/// Per tensor: whether it is a parameter, a buffer or a constant, or computed from these alone.
/// What a loop's body computes is not.
std::vector<bool> fixed_tensors(const ir::Program& program);

struct Prepared {
  Stage stage;                          // the rest of the program
  ir::VerifiedProgram beforehand;       // its outputs are the new parameters, in order
  std::vector<std::string> names = {};  // of the new parameters
};

/// The program without what is computed from parameters, as far as that takes products or sums, or
/// saves bytes. `structured`: ports whose zeros are counted by; they are read as they are. nullopt:
/// there is nothing to prepare.
std::optional<Prepared> prepare(const ir::VerifiedProgram& program,
                                const std::set<std::string>& structured);

}  // namespace solar::algebra

#pragma once
// From a program as it was traced, with a dim for every size and every loop written out, to one as
// it would have been written: dims unified, loops and functions found again.

#include <optional>

#include "base/result.h"
#include "ir/ast.h"

namespace solar::ir {

struct Simplified {
  ast::File file = {};
  std::optional<Diagnostics> not_rerolled = {};  // why the dims are unified, but nothing is rolled
};

/// The program must verify. Errors are those of `unify_dims`.
Result<Simplified> simplify(const ast::File& traced);

}  // namespace solar::ir

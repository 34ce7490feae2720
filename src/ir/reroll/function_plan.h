#pragma once
// Copies of a block as calls of one function. Private to ir/.

#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/reroll/facts.h"
#include "ir/reroll/records.h"
#include "ir/reroll/rewrite.h"

namespace solar::ir {

/// Statements that are alike: `period` at each of `begins`, ascending, without overlap.
struct Copies {
  std::vector<size_t> begins = {};
  size_t period = 0;
};

struct FunctionPlan {
  ast::Function function = {};  // without its name
  std::vector<ast::Call> calls = {};
  std::string name = {};  // what to call it, if that is free
  size_t interface = 0;   // parameters and results
};

/// The function whose calls are these copies, exactly: what differs from copy to copy becomes a
/// parameter, a dim or the module of the call. Nothing if something else differs. Linear in the
/// copies' leaves, but for a logarithm.
std::optional<FunctionPlan> plan_function(const ast::Program& program, const Records& records,
                                          Facts& facts, const Copies& copies);

}  // namespace solar::ir

#pragma once
// Which repetitions become loops and functions: those that save most statements first. Private to
// ir/.

#include <vector>

#include "ir/ast.h"
#include "ir/reroll/assemble.h"
#include "ir/reroll/facts.h"
#include "ir/reroll/records.h"
#include "ir/reroll/runs.h"

namespace solar::ir {

/// Ways to cut a run into copies that are looked at.
inline constexpr size_t kPhases = 8;
inline constexpr size_t kMinSaving = 4;  // statements that a loop or function must save

struct Choice {
  const ast::Program& program;
  Records& records;
  Facts& facts;
  const std::vector<TandemRun>& runs;  // those that cover most first
};

/// In the order of the program.
std::vector<RepeatPlan> choose_repeats(const Choice& choice);
std::vector<PlannedFunction> choose_functions(const Choice& choice);

}  // namespace solar::ir

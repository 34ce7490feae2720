#pragma once
// Adjacent copies of a block as the steps of a `repeat`. Private to ir/.

#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/reroll/facts.h"
#include "ir/reroll/records.h"
#include "ir/reroll/runs.h"

namespace solar::ir {

/// A tensor of every step, stacked: what the steps' own names were.
struct StackedSteps {
  std::string name = {};
  std::vector<std::string> elements = {};  // by step
  size_t rank = 0;                         // of an element
};

struct RepeatPlan {
  size_t begin = 0, end = 0;  // the statements it replaces
  ast::Repeat repeat = {};
  std::vector<StackedSteps> stacked = {};
  std::vector<std::string> slices = {};  // tensors that the body now slices itself
  size_t interface = 0;                  // carried and stacked values
};

/// The repeats that can replace copies of a run which starts `phase` statements after its
/// beginning: three steps or more, each with the same statements, dims and modules, where a tensor
/// from outside is the same in all steps, or what the step before made, or a slice of one tensor at
/// a place that moves by the same distance every step. Linear in the run's leaves.
std::vector<RepeatPlan> plan_repeats(const ast::Program& program, Records& records, Facts& facts,
                                     const TandemRun& run, size_t phase);

}  // namespace solar::ir

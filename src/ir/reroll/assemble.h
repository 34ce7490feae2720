#pragma once
// The program with planned loops and functions in place of the statements they stand for. Private
// to ir/.

#include <vector>

#include "ir/ast.h"
#include "ir/reroll/function_plan.h"
#include "ir/reroll/records.h"
#include "ir/reroll/repeat_plan.h"

namespace solar::ir {

/// Replaces statements by loops, in the order of the program. Where all steps' values were joined,
/// the stacked ones are; others are sliced from them.
void insert_repeats(ast::Program& program, Records& records, const std::vector<RepeatPlan>& plans);

struct PlannedFunction {
  Copies copies = {};
  FunctionPlan plan = {};  // with its name
};

/// Replaces statements by calls and adds the functions to the file.
void insert_functions(ast::File& file, std::vector<PlannedFunction> functions);

}  // namespace solar::ir

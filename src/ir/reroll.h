#pragma once
// A traced program repeats what its source wrote once: the steps of a loop, the layers of a stack.
// Here they become `repeat`s and functions again, so that the text follows the source, not the
// depth. The meaning stays exactly: the same values, the same counts, operator by operator.

#include "base/result.h"
#include "ir/ast.h"

namespace solar::ir {

/// The same program, re-rolled. Only the structure of its text decides, values of dims where a loop
/// runs over a whole axis. The program must verify. Cost: a few verifications, each of a shorter
/// text than the one before; otherwise n log n in the statements.
Result<ast::File> reroll(const ast::File& file);

}  // namespace solar::ir

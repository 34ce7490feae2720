#pragma once
// Names that no longer tell how many statements a loop had when it was written out. Private to ir/.

#include <string>

#include "ir/ast.h"

namespace solar::ir {

/// The file's text with the numbered tensors of its program numbered anew, in the order of the
/// text, and the dims that have their names: `tanh_47`, the last of 48 steps, becomes `tanh_1`.
std::string renumbered(const ast::File& file);

}  // namespace solar::ir

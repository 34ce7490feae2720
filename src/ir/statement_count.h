#pragma once
// How long a program is as written.

#include <cstdint>

#include "ir/ast.h"

namespace solar::ir {

/// Statements of the program and its functions, those inside bodies included. `dims`, `require` and
/// `op` groups are not counted: they compute nothing by themselves.
int64_t count_statements(const ast::File& file);

}  // namespace solar::ir

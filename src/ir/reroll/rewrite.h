#pragma once
// Copies of statements with some of their leaves replaced. Private to ir/.

#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/reroll/records.h"

namespace solar::ir {

/// What stands in place of a leaf; nothing: what stood there.
struct Replacement {
  std::optional<std::string> text = {};  // a tensor's or dim's name, a module path
  ast::ExprPtr start = nullptr;          // bounds of a slice
  ast::ExprPtr stop = nullptr;
};

/// `statement` with its leaves replaced, in the order in which they are recorded.
ast::Statement rewritten(const ast::Statement& statement, const std::vector<Replacement>& leaves,
                         const Walk::Names& dims);

/// A dim expression by its text; the program is printed and parsed before anything looks at it.
ast::ExprPtr dim_text(const std::string& text);

}  // namespace solar::ir

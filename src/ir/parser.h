#pragma once
// Text -> ast::File. Reports every syntax error it can tell apart: after one it skips to the next
// statement.

#include <memory>

#include "base/result.h"
#include "ir/ast.h"

namespace solar::ir {

/// Linear in the text. Spans point into `source`.
Result<ast::File> parse(std::shared_ptr<const Source> source);

/// The same for a text in memory.
Result<ast::File> parse_text(std::string name, std::string text);

}  // namespace solar::ir

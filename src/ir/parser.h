#pragma once
// Text -> ast::File. Reports every syntax error it can tell apart: after one it skips to the next
// statement.

#include <memory>

#include "base/result.h"
#include "ir/ast.h"

namespace solar::ir {

/// Takes a program's statements one by one, as they are read.
class StatementSink {
 public:
  virtual ~StatementSink() = default;
  /// Before the first one: the functions in front of the program, and its head.
  virtual void begin(const ast::File& file, const ast::Program& program) = 0;
  virtual void take(const ast::Statement& statement) = 0;
};

/// Linear in the text. Spans point into `source`. With a sink, the statements of the program go
/// there, up to the first error, and are not kept: a large program is never in memory as a whole.
Result<ast::File> parse(std::shared_ptr<const Source> source, StatementSink* sink = nullptr);

/// The same for a text in memory.
Result<ast::File> parse_text(std::string name, std::string text);

}  // namespace solar::ir

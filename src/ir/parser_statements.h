#pragma once
// The parser's statements, one subject a file. Private to the parser.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/parser.h"
#include "ir/parser_base.h"

namespace solar::ir {

class StatementParser : protected ParserBase {
 protected:
  using ParserBase::ParserBase;

  // parser_types.cpp
  ast::Declaration parse_declaration(const char* what);
  ast::Type parse_type();
  ast::ElementRef parse_element();

  // parser_statements.cpp
  /// `dims_allowed`: the body of a program or function, not of a group. Its statements go into the
  /// sink if there is one.
  ast::Block parse_block(bool dims_allowed, StatementSink* sink = nullptr);
  std::vector<std::string> take_comments(int32_t before);
  int32_t end_of_line(Place statement) const;
  std::string expect_string(const char* what);
  void expect_comma_before(Word sign, const char* where);

  // parser_kernel.cpp: kernel, indexed, scatter.
  ast::Kernel parse_kernel();

  // parser_movement.cpp
  ast::View parse_view();
  ast::Slice parse_slice();

  // parser_let.cpp: what starts with `let`, and `next`, `test`.
  void parse_let(ast::Statement& statement);
  ast::Next parse_next();
  ast::Test parse_test();

 private:
  bool at_statement() const;
  void skip_statement(int32_t begin);
  ast::Statement parse_statement();
  ast::Dims parse_dims();
  ast::Op parse_op();
  ast::Update parse_update();
  ast::Opaque parse_opaque();
  [[noreturn]] void fail_without_statement(const Token& word);

  void parse_loops(ast::Kernel& kernel);
  void parse_lets(ast::Kernel& kernel);
  ast::Target parse_target();
  void parse_assignment(ast::Kernel& kernel);
  void parse_clauses(ast::Kernel& kernel);

  std::vector<ast::Axis> parse_axes(Word end);
  ast::Axis parse_axis();
  ast::SliceItem parse_slice_item();

  std::vector<ast::Name> parse_names(const char* what);
  std::vector<ast::Initial> parse_carried();
  ast::Repeat parse_repeat();
  ast::While parse_while();
  ast::If parse_if();
  ast::Block parse_body();
  ast::Call parse_call_statement();
  ast::ExprPtr parse_attribute_value();

  size_t next_comment_ = 0;
  /// While the head of a loop or branch is read: if it is broken, its body is skipped with it.
  bool in_head_ = false;
};

}  // namespace solar::ir

// Statements that start with `let`: calls, repeat, while, if; and what stands in their bodies.

#include <fmt/format.h>

#include "base/text.h"
#include "ir/parser_statements.h"

namespace solar::ir {

/// One name, or several in parentheses; a comma may follow the last.
std::vector<ast::Name> StatementParser::parse_names(const char* what) {
  std::vector<ast::Name> names;
  if (!accept("(")) return {expect_name(what)};
  do {
    if (!names.empty() && at(")")) break;
    names.push_back(expect_name(what));
  } while (accept(","));
  expect(")", "after the names");
  return names;
}

void StatementParser::parse_let(ast::Statement& statement) {
  advance();
  const bool tuple = at("(");
  std::vector<ast::Name> results;
  std::vector<ast::Name> stacked;
  in_head_ = true;
  if (!at("stack")) results = parse_names("the result's name");
  const Token& word = peek();
  if (accept("stack")) stacked = parse_names("the name of a stacked result");
  expect("=", "after the result");
  if (at("repeat")) {
    ast::Repeat repeat = parse_repeat();
    repeat.results = std::move(results);
    repeat.stacked = std::move(stacked);
    statement.body = std::move(repeat);
    return;
  }
  if (peek().kind == TokenKind::Name && peek(1).kind != TokenKind::Punctuation) {
    const auto near = nearest_names(peek().text, {"if", "repeat", "while"});
    if (near.size() == 1) {
      fail(peek(), fmt::format("expected a function or a loop, found {}", describe(peek())),
           fmt::format("did you mean `{}`?", near[0]), DiagnosticKind::Syntax,
           {{span(peek()), near[0], FixConfidence::Maybe}});
    }
  }
  if (word.text == "stack" && word.kind == TokenKind::Keyword) {
    report({.kind = DiagnosticKind::LoopForm,
            .message =
                fmt::format("only a `repeat` stacks its steps' values, found {}", describe(peek())),
            .span = span(word),
            .hint = "leave `stack` out"});
  }
  if (at("while")) {
    ast::While loop = parse_while();
    loop.results = std::move(results);
    statement.body = std::move(loop);
  } else if (at("if")) {
    ast::If branches = parse_if();
    branches.results = std::move(results);
    statement.body = std::move(branches);
  } else {
    in_head_ = false;
    ast::Call call = parse_call_statement();
    call.results = std::move(results);
    call.tuple = tuple;
    statement.body = std::move(call);
  }
}

std::vector<ast::Initial> StatementParser::parse_carried() {
  expect("with", "before the carried values");
  expect("(", "before the carried values");
  std::vector<ast::Initial> carried;
  while (!at(")")) {
    ast::Initial initial;
    initial.name = expect_name("a carried value's name");
    expect("=", "after its name");
    initial.value = parse_expr();
    carried.push_back(std::move(initial));
    if (!accept(",")) break;
  }
  expect(")", "after the carried values");
  return carried;
}

/// The block of a loop or branch, whose head is read.
ast::Block StatementParser::parse_body() {
  if (at("{")) in_head_ = false;
  return parse_block(false);
}

ast::Repeat StatementParser::parse_repeat() {
  advance();
  ast::Repeat repeat;
  repeat.descending = accept("revseq");
  repeat.step = expect_name("the step variable");
  expect(":", "between the step variable and its extent");
  repeat.extent = parse_expr();
  repeat.carried = parse_carried();
  repeat.block = parse_body();
  return repeat;
}

ast::While StatementParser::parse_while() {
  advance();
  ast::While loop;
  expect("limit", "after `while`");
  loop.limit = parse_expr();
  loop.carried = parse_carried();
  loop.block = parse_body();
  return loop;
}

ast::If StatementParser::parse_if() {
  advance();
  ast::If branches;
  branches.condition = expect_name("the condition, a `bool[]` tensor");
  branches.taken = parse_body();
  in_head_ = true;
  expect("else", "after the branch (both branches are written)");
  branches.otherwise = parse_body();
  return branches;
}

ast::Next StatementParser::parse_next() {
  advance();
  ast::Next next;
  if (!at("stack")) next.values = parse_names("the value of the next step");
  if (accept("stack")) next.stacked = parse_names("a value to stack");
  return next;
}

ast::Test StatementParser::parse_test() {
  advance();
  return {expect_name("the condition, a `bool[]` tensor")};
}

ast::Call StatementParser::parse_call_statement() {
  ast::Call call;
  if (at("stack") || at("unique")) {  // functions that are reserved words
    const Token& word = advance();
    call.function = {std::string(word.text), span(word)};
  } else {
    call.function = expect_name("a function");
  }
  expect("(", "before the arguments");
  while (!at(")") && !at(";")) {
    call.arguments.push_back({parse_expr()});
    if (!accept(",")) break;
  }
  if (accept(";")) {
    while (!at(")")) {
      ast::Attribute attribute;
      if (at("limit")) {
        attribute.name = {"limit", span(advance())};
      } else {
        attribute.name = expect_name("a dim, type or flag of the function");
      }
      expect("=", "after its name");
      attribute.value = parse_attribute_value();
      call.attributes.push_back(std::move(attribute));
      if (!accept(",")) break;
    }
  }
  expect(")", "after the arguments");
  if (accept("module")) call.module = expect_string("the module path");
  return call;
}

ast::ExprPtr StatementParser::parse_attribute_value() {
  const Token& token = peek();
  if (token.kind == TokenKind::Keyword && element_type_named(token.text)) {
    advance();
    ast::Expr expr;
    expr.kind = ast::ExprKind::Name;
    expr.text = token.text;
    expr.span = span(token);
    return std::make_shared<const ast::Expr>(std::move(expr));
  }
  return parse_expr();
}

}  // namespace solar::ir

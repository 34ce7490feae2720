// The blocks that hold a nest: kernel, indexed, scatter.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ir/parser_statements.h"

namespace solar::ir {

ast::Kernel StatementParser::parse_kernel() {
  ast::Kernel kernel;
  const std::string_view word = advance().text;
  kernel.scatter = word == "scatter";
  kernel.indexed = word != "kernel";
  kernel.outputs.push_back(parse_declaration("the kernel's tensor"));
  if (accept(",")) kernel.outputs.push_back(parse_declaration("the second tensor"));
  expect("{", "before the loops");
  if (accept("for")) parse_loops(kernel);
  parse_lets(kernel);
  if (accept("where")) {
    do {
      kernel.guards.push_back(parse_expr());
    } while (accept(","));
  }
  parse_lets(kernel);  // the formatter puts them before `where`
  kernel.targets.push_back(parse_target());
  if (accept(",")) kernel.targets.push_back(parse_target());
  parse_assignment(kernel);
  parse_clauses(kernel);
  if (!at("}") && peek().kind == TokenKind::Name) {
    const auto near = nearest_names(peek().text, {"base", "else", "init", "unique"});
    if (near.size() == 1) {
      fail_here("expected `}` to close the kernel", fmt::format("did you mean `{}`?", near[0]),
                {{span(peek()), near[0], FixConfidence::Maybe}});
    }
  }
  expect("}", "to close the kernel (it holds one assignment)");
  return kernel;
}

void StatementParser::parse_loops(ast::Kernel& kernel) {
  kernel.loops.reserve(kUsualCount);
  do {
    ast::Loop loop;
    if (accept("*")) {
      loop.pack = true;
      loop.name = expect_name("the loop pack's name");
      expect(":", "after the loop pack");
      expect("*", "before the dim pack");
      ast::Name dims = expect_name("the dim pack's name");
      loop.extent = pack(std::move(dims.text), dims.span);
    } else {
      if (accept("seq")) loop.order = ast::Loop::Order::Ascending;
      if (accept("revseq")) loop.order = ast::Loop::Order::Descending;
      loop.name = expect_name("a loop variable");
      expect(":", "between a loop variable and its extent");
      loop.extent = parse_expr();
      if (accept("in")) {
        loop.begin = parse_expr();
        expect("..", "between the ends of the range");
        loop.end = parse_expr();
      }
    }
    kernel.loops.push_back(std::move(loop));
    expect_comma_before(":", "between loops");
  } while (accept(","));
}

void StatementParser::parse_lets(ast::Kernel& kernel) {
  while (accept("let")) {
    ast::Let let;
    let.name = expect_name("the abbreviation's name");
    expect("=", "after its name");
    let.value = parse_expr();
    kernel.lets.push_back(std::move(let));
  }
}

ast::Target StatementParser::parse_target() {
  ast::Target target;
  target.tensor = expect_name("the tensor that is assigned");
  if (!at("[")) {
    const auto near = nearest_names(target.tensor.text, {"for", "let", "where"});
    if (!near.empty()) {
      fail_here("expected `[` before the subscripts",
                fmt::format("did you mean {}?", quoted_choices(near)),
                {{target.tensor.span, near[0], FixConfidence::Maybe}});
    }
  }
  target.subscripts = parse_subscripts();
  target.span = span_from(target.tensor.span.begin);
  return target;
}

void StatementParser::parse_assignment(ast::Kernel& kernel) {
  static constexpr std::array<std::string_view, 9> kAssign = {
      "=", "+=", "*=", "max=", "min=", "and=", "or=", "argmax=", "argmin="};
  const Token& token = peek();
  const bool known = token.kind == TokenKind::Punctuation &&
                     std::find(kAssign.begin(), kAssign.end(), token.text) != kAssign.end();
  if (!known) {
    fail(token, fmt::format("expected an assignment, found {}", describe(token)),
         "= += *= max= min= and= or= argmax= argmin=");
  }
  advance();
  kernel.assign = token.text;
  kernel.assign_span = span(token);
  kernel.values.push_back(parse_expr());
  if (accept(",")) kernel.values.push_back(parse_expr());
}

void StatementParser::parse_clauses(ast::Kernel& kernel) {
  const auto once = [&](bool given, const Token& word) {
    if (given) fail(word, fmt::format("`{}` is given twice", word.text));
  };
  while (at("init") || at("else") || at("base") || at("unique")) {
    const Token& word = advance();
    if (word.text == "unique") {
      once(kernel.unique, word);
      kernel.unique = true;
      kernel.unique_span = span(word);
    } else if (word.text == "base") {
      once(!kernel.base.text.empty(), word);
      // `donated` is no reserved word: `base donated` names a tensor.
      kernel.donated = peek().kind == TokenKind::Name && peek().text == "donated" &&
                       peek(1).kind == TokenKind::Name;
      if (kernel.donated) advance();
      kernel.base = expect_name("the tensor that is written to");
      kernel.base_span = span_from(word.begin);
    } else {
      ast::ExprPtr& slot = word.text == "init" ? kernel.init : kernel.otherwise;
      once(slot != nullptr, word);
      slot = parse_expr();
    }
  }
}

}  // namespace solar::ir

// Blocks of statements, recovery from broken ones, and the short statements.

#include "ir/parser_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace solar::ir {
namespace {

constexpr std::array<std::string_view, 14> kStatementWords = {
    "dims",  "require", "op",     "kernel", "indexed", "scatter", "view",
    "slice", "let",     "update", "next",   "test",    "hole",    "opaque"};

bool starts_statement(const Token& token) {
  return token.kind == TokenKind::Keyword &&
         std::find(kStatementWords.begin(), kStatementWords.end(), token.text) !=
             kStatementWords.end();
}

}  // namespace

std::vector<std::string> StatementParser::take_comments(int32_t before) {
  std::vector<std::string> taken;
  const std::vector<Comment>& comments = lexer_.comments();
  while (next_comment_ < comments.size() && comments[next_comment_].begin < before) {
    taken.emplace_back(comments[next_comment_++].text);
  }
  return taken;
}

/// The end of a statement, with a comment that follows it on its line: behind the closing brace of
/// several lines a comment is of the whole, and stays behind.
int32_t StatementParser::end_of_line(Place statement) const {
  const int32_t end = statement.end;
  const std::string_view text = source_->text;
  const std::string_view rest = text.substr(static_cast<size_t>(end));
  const size_t next = rest.find_first_not_of(" \t");
  if (next == std::string_view::npos || rest[next] != '#') return end;
  const auto begin = static_cast<size_t>(statement.begin);
  const std::string_view written = text.substr(begin, static_cast<size_t>(end) - begin);
  if (written.ends_with('}') && written.find('\n') != std::string_view::npos) return end;
  return end + static_cast<int32_t>(std::min(rest.find('\n', next), rest.size()));
}

bool StatementParser::at_statement() const { return starts_statement(peek()); }

/// Skips the rest of a broken statement: to the next statement's keyword or the brace that closes
/// the block. `depth` is the number of braces the broken statement has open.
void StatementParser::skip_statement(int32_t begin) {
  int depth = 0;
  if (peek().begin == begin) advance();
  const std::string_view text = source_->text;
  const auto from = static_cast<size_t>(begin);
  const Tokens broken = lex(text.substr(from, static_cast<size_t>(peek().begin) - from));
  for (const Token& token : broken.tokens) {
    if (token.kind != TokenKind::Punctuation) continue;
    if (token.text == "{") ++depth;
    if (token.text == "}") --depth;
  }
  // The body of a loop or branch with a broken head is skipped whole.
  const bool whole = std::exchange(in_head_, false);
  while (peek().kind != TokenKind::End) {
    if (depth <= 0 && (at("}") || at_statement() || at("fn") || at("program"))) return;
    // `let` also stands inside a nest; a statement keyword no nest can hold ends the broken one.
    if (depth > 0 && !whole && (at("fn") || at("program") || (at_statement() && !at("let")))) {
      return;
    }
    if (at("{")) ++depth;
    if (at("}")) --depth;
    advance();
  }
}

ast::Block StatementParser::parse_block(bool dims_allowed, StatementSink* sink) {
  ast::Block block;
  const Depth depth(*this, peek());
  expect("{", "before the body");
  while (!at("}") && peek().kind != TokenKind::End && !at("fn") && !at("program")) {
    const int32_t begin = peek().begin;
    if (at("dims") && !dims_allowed) {
      report({.kind = DiagnosticKind::Syntax,
              .message = "`dims` come first in the body of a program or function",
              .span = span(peek()),
              .hint = "move them to the start of the body"});
    }
    dims_allowed = dims_allowed && (at("dims") || at("require"));
    try {
      ast::Statement statement = parse_statement();
      if (sink == nullptr) {
        block.statements.push_back(std::move(statement));
      } else if (errors_.empty()) {
        sink->take(statement);
      }
    } catch (const SyntaxAbort&) {
      skip_statement(begin);
    }
  }
  block.trailing_comments = take_comments(peek().begin);
  expect("}", "to close the body");
  return block;
}

void StatementParser::fail_without_statement(const Token& word) {
  const auto near = nearest_names(
      word.text, std::vector<std::string>(kStatementWords.begin(), kStatementWords.end()));
  std::vector<Fix> fixes;
  if (near.size() == 1) fixes.push_back({span(word), near[0], FixConfidence::Maybe});
  fail(word, fmt::format("expected a statement, found {}", describe(word)),
       fmt::format("a statement starts with {}", fmt::join(kStatementWords, ", ")),
       DiagnosticKind::Syntax, std::move(fixes));
}

ast::Statement StatementParser::parse_statement() {
  ast::Statement statement;
  statement.comments = take_comments(peek().begin);
  const Token& word = peek();
  if (at("dims")) {
    statement.body = parse_dims();
  } else if (accept("require")) {
    statement.body = ast::Require{parse_expr()};
  } else if (at("op")) {
    statement.body = parse_op();
  } else if (at("kernel") || at("indexed") || at("scatter")) {
    statement.body = parse_kernel();
  } else if (at("view")) {
    statement.body = parse_view();
  } else if (at("slice")) {
    statement.body = parse_slice();
  } else if (at("let")) {
    parse_let(statement);
  } else if (at("update")) {
    statement.body = parse_update();
  } else if (at("next")) {
    statement.body = parse_next();
  } else if (at("test")) {
    statement.body = parse_test();
  } else if (at("hole") || at("opaque")) {
    statement.body = parse_opaque();
  } else {
    fail_without_statement(word);
  }
  statement.span = span_from(word.begin);
  // Comments inside a statement, or behind it on its only line, move in front of it.
  for (std::string& comment : take_comments(end_of_line(statement.span))) {
    statement.comments.push_back(std::move(comment));
  }
  return statement;
}

ast::Dims StatementParser::parse_dims() {
  advance();
  ast::Dims dims;
  do {
    const bool reserved_name = peek().kind == TokenKind::Keyword && peek(1).text == "=";
    if (peek().kind != TokenKind::Name && !reserved_name) break;  // a trailing comma
    ast::Let dim;
    dim.name = expect_name("a dim's name");
    expect("=", "after the dim's name");
    dim.value = parse_expr();
    dims.dims.push_back(std::move(dim));
    expect_comma_before("=", "between dims");
  } while (accept(","));
  return dims;
}

/// Another element of a list, a name and `sign`, needs a comma.
void StatementParser::expect_comma_before(Word sign, const char* where) {
  if (peek().kind != TokenKind::Name || peek(1).word != sign.number) return;
  fail_here(fmt::format("expected `,` {}", where), {},
            {{place_behind(), ",", FixConfidence::Maybe}});
}

std::string StatementParser::expect_string(const char* what) {
  if (peek().kind != TokenKind::String) {
    fail_here(fmt::format("expected {} in quotes", what));
  }
  return std::string(advance().text);
}

ast::Op StatementParser::parse_op() {
  in_head_ = true;
  advance();
  ast::Op op;
  op.name = expect_string("the source operator");
  if (accept("at")) op.at = expect_string("the place in the source");
  if (accept("module")) op.module = expect_string("the module path");
  if (accept("nominal")) op.nominal = parse_expr();
  if (at("{")) in_head_ = false;
  op.block = parse_block(false);
  return op;
}

ast::Update StatementParser::parse_update() {
  advance();
  ast::Update update;
  update.state = expect_name("the state's name");
  expect("=", "after the state's name");
  update.value = expect_name("the state's new value");
  return update;
}

ast::Opaque StatementParser::parse_opaque() {
  ast::Opaque opaque;
  opaque.hole = advance().text == "hole";
  if (accept("(")) {
    while (!at(")")) {
      opaque.outputs.push_back(parse_declaration("a result's name"));
      if (!accept(",")) break;
    }
    expect(")", "after the results");
  } else {
    opaque.outputs.push_back(parse_declaration("the result's name"));
  }
  expect("=", "after the results");
  opaque.op = expect_string("the operator");
  expect("(", "before the arguments");
  while (!at(")")) {
    opaque.inputs.push_back(expect_name("a tensor's name"));
    if (!accept(",")) break;
  }
  expect(")", "after the arguments");
  while (at("macs") || at("nominal") || at("reads") || at("writes")) {
    const Token& word = advance();
    ast::ExprPtr& slot = word.text == "macs"      ? opaque.macs
                         : word.text == "nominal" ? opaque.nominal
                         : word.text == "reads"   ? opaque.reads
                                                  : opaque.writes;
    if (slot) fail(word, fmt::format("`{}` is given twice", word.text));
    slot = parse_expr();
  }
  return opaque;
}

}  // namespace solar::ir

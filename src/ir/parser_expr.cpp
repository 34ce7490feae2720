#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "ir/parser_base.h"

namespace solar::ir {
namespace {

constexpr int kMaxDepth = 200;
constexpr int32_t kMaxHeight = 500;
constexpr size_t kMaxOperands = 1000;
constexpr size_t kMaxErrors = 50;
constexpr std::string_view kBeyondLargest = "9223372036854775808";  // only its negative fits

std::string backquotes_hint(const Token& token) {
  return fmt::format("a reserved word used as a name stands in backquotes: `` `{}` ``", token.text);
}

/// How strongly a binary operator binds. None: the token is none.
Precedence precedence_of(const Token& token) {
  const std::string_view text = token.text;
  if (token.kind == TokenKind::Keyword) {
    return text == "and" ? Precedence::And : text == "or" ? Precedence::Or : Precedence::None;
  }
  if (token.kind != TokenKind::Punctuation) return Precedence::None;
  switch (text[0]) {
    case '+':
    case '-':
      return text.size() == 1 ? Precedence::Sum : Precedence::None;  // not += or ->
    case '*':
    case '/':
    case '%':
      return text.back() == '=' ? Precedence::None : Precedence::Product;
    case '<':
    case '>':
      return Precedence::Comparison;
    case '=':
    case '!':
      return text.size() == 2 ? Precedence::Comparison : Precedence::None;
    default:
      return Precedence::None;
  }
}

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the file";
    case TokenKind::String:
      return fmt::format("the string \"{}\"", token.text);
    case TokenKind::Keyword:
      return fmt::format("the keyword `{}`", token.text);
    case TokenKind::Bad:
      return fmt::format("`{}`, which is no word of the language", token.text.substr(0, 40));
    default:
      return fmt::format("`{}`", token.text.substr(0, 40));
  }
}

ParserBase::Depth::Depth(ParserBase& parser, const Token& token) : parser_(parser) {
  if (++parser_.depth_ > kMaxDepth) {
    --parser_.depth_;
    parser_.fail(token, fmt::format("nested more than {} levels deep", kMaxDepth),
                 "split it over several statements");
  }
}

Token ParserBase::advance() {
  const Token token = peek();
  if (token.kind != TokenKind::End) {
    ++at_;
    read_ahead();
  }
  return token;
}

Token ParserBase::expect(Word word, const char* where) {
  if (at(word)) return advance();
  if (word.text == "}") {  // a body may well end on another line
    fail(peek(), fmt::format("expected `}}` {}, found {}", where, describe(peek())));
  }
  std::vector<Fix> fixes;
  if (is_missing(word)) {
    fixes.push_back({place_behind(), std::string(word.text), FixConfidence::Maybe});
  }
  std::string hint;
  if (word.text == ")" && at("=")) hint = "named arguments follow a `;`: `topk(x; k = 2)`";
  if (word.text == ":" && at("in"))
    hint = "a loop is `n:N`, over a range of its own `n:N in a .. b`";
  fail_here(fmt::format("expected `{}` {}", word.text, where), std::move(hint), std::move(fixes));
}

/// Whether a word is all that is missing here: a closing one where something else closes or ends,
/// a colon before what may follow it.
bool ParserBase::is_missing(Word word) const {
  if (at_ == 0) return false;
  if (word.text == ":") {
    return current().kind == TokenKind::Name || current().kind == TokenKind::Integer;
  }
  if (word.text != ")" && word.text != "]") return false;
  return line_is_unfinished() || at(")") || at("]") || at("}") || at("{") || at("->");
}

ast::Name ParserBase::expect_name(const char* what) {
  const Token& token = peek();
  if (token.kind == TokenKind::Keyword) {
    fail(token, fmt::format("expected {}, found the reserved word `{}`", what, token.text),
         backquotes_hint(token), DiagnosticKind::Syntax,
         {{span(token), fmt::format("`{}`", token.text), FixConfidence::Maybe}});
  }
  if (token.kind != TokenKind::Name) fail_here(fmt::format("expected {}", what));
  advance();
  return {std::string(token.text), span(token)};
}

Place ParserBase::span_from(int32_t begin) const {
  const int32_t end = at_ > 0 ? window_[(at_ - 1) % kWindow].end : begin;
  return {source_.get(), begin, std::max(begin, end)};
}

/// The place right behind the last token that was read.
Place ParserBase::place_behind() const {
  const int32_t end = window_[(at_ - 1) % kWindow].end;
  return {source_.get(), end, end};
}

/// Whether the current token ends what was not finished: it stands on a later line and begins a
/// statement, or closes a body.
bool ParserBase::line_is_unfinished() const {
  const Token& token = current();
  const bool ends = token.kind == TokenKind::Keyword || token.kind == TokenKind::End || at("}");
  if (!ends || at_ == 0) return false;
  const auto end = static_cast<size_t>(place_behind().end);
  const auto length = static_cast<size_t>(token.begin) - end;
  return std::string_view(source_->text).substr(end, length).find('\n') != std::string_view::npos;
}

void ParserBase::fail_here(std::string expected, std::string hint, std::vector<Fix> fixes) {
  const bool unfinished = line_is_unfinished();
  report({.kind = DiagnosticKind::Syntax,
          .message = fmt::format("{}, found {}", expected,
                                 unfinished ? "the end of the line" : describe(peek())),
          .span = unfinished ? place_behind() : span(peek()),
          .hint = unfinished ? "" : std::move(hint),
          .fixes = std::move(fixes)});
  throw SyntaxAbort{};
}

void ParserBase::report(Diagnostic diagnostic) {
  // Enclosing blocks that end at the same wrong token would repeat it.
  if (!errors_.empty() && errors_.back().span.begin == diagnostic.span.begin) return;
  errors_.push_back(std::move(diagnostic));
  if (errors_.size() < kMaxErrors) return;
  std::string& hint = errors_.back().hint;
  hint += fmt::format("{}the rest of the text is not read after {} errors",
                      hint.empty() ? "" : "; ", kMaxErrors);
  while (peek().kind != TokenKind::End) advance();
}

void ParserBase::fail(const Token& token, std::string message, std::string hint,
                      DiagnosticKind kind, std::vector<Fix> fixes) {
  report({.kind = kind,
          .message = std::move(message),
          .span = span(token),
          .hint = std::move(hint),
          .fixes = std::move(fixes)});
  throw SyntaxAbort{};
}

ast::ExprPtr ParserBase::parse_expr() {
  const Depth depth(*this, peek());
  return parse_operators(Precedence::Or);
}

/// The expression, once its tree is known to be neither too high nor too wide.
ast::ExprPtr ParserBase::finish(const Token& token, std::shared_ptr<ast::Expr> expr) {
  for (const ast::ExprPtr& operand : expr->operands)
    expr->height = std::max(expr->height, operand->height + 1);
  if (expr->height > kMaxHeight || expr->operands.size() > kMaxOperands) {
    fail(token, "the expression is too large", "split it over several kernels");
  }
  return expr;
}

ast::ExprPtr ParserBase::binary(ast::ExprPtr a, const Token& op, ast::ExprPtr b) {
  auto expr = std::make_shared<ast::Expr>();
  expr->kind = ast::ExprKind::Binary;
  expr->text = op.text;
  expr->span = {source_.get(), a->span.begin, b->span.end};
  expr->operands.reserve(2);
  expr->operands.push_back(std::move(a));
  expr->operands.push_back(std::move(b));
  return finish(op, std::move(expr));
}

ast::ExprPtr ParserBase::parse_not(Token op) {
  const Depth depth(*this, op);
  auto expr = std::make_shared<ast::Expr>();
  expr->kind = ast::ExprKind::Unary;
  expr->text = "not";
  expr->operands.push_back(parse_operators(Precedence::Comparison));
  expr->span = span_from(op.begin);
  return finish(op, std::move(expr));
}

/// a < b <= c: one expression of all operands.
ast::ExprPtr ParserBase::parse_chain(ast::ExprPtr first) {
  const Token op = peek();
  auto expr = std::make_shared<ast::Expr>();
  expr->kind = ast::ExprKind::Chain;
  expr->operands.push_back(std::move(first));
  while (precedence_of(current()) == Precedence::Comparison) {
    if (!expr->text.empty()) expr->text += ' ';
    expr->text += advance().text;
    expr->operands.push_back(parse_operators(Precedence::Sum));
  }
  expr->span = {source_.get(), expr->operands.front()->span.begin, expr->operands.back()->span.end};
  return finish(op, std::move(expr));
}

/// An expression of operators that bind at least as strongly as `least`.
ast::ExprPtr ParserBase::parse_operators(Precedence least) {
  ast::ExprPtr left =
      least <= Precedence::Comparison && at("not") ? parse_not(advance()) : parse_unary();
  while (true) {
    const Precedence precedence = precedence_of(current());
    if (precedence < least) return left;
    if (precedence == Precedence::Comparison) {
      left = parse_chain(std::move(left));
      continue;
    }
    const Token op = advance();
    const auto stronger = static_cast<Precedence>(static_cast<int>(precedence) + 1);
    left = binary(std::move(left), op, parse_operators(stronger));
  }
}

ast::ExprPtr ParserBase::parse_unary() {
  if (!at("-")) return parse_primary();
  const Token& op = advance();
  const Depth depth(*this, op);
  auto expr = std::make_shared<ast::Expr>();
  if (peek().kind == TokenKind::Integer && peek().text == kBeyondLargest) {
    expr->kind = ast::ExprKind::Integer;
    expr->text = "-" + std::string(advance().text);
    expr->integer = std::numeric_limits<int64_t>::min();
    expr->span = span_from(op.begin);
    return finish(op, std::move(expr));
  }
  expr->kind = ast::ExprKind::Unary;
  expr->text = "-";
  expr->operands.push_back(parse_unary());
  expr->span = span_from(op.begin);
  const ast::Expr& negated = *expr->operands[0];
  if (negated.kind == ast::ExprKind::Integer &&
      negated.integer == std::numeric_limits<int64_t>::min()) {
    fail(op, fmt::format("the integer `{}` does not fit 64 bits", kBeyondLargest));
  }
  return finish(op, std::move(expr));
}

ast::ExprPtr ParserBase::parse_number(const Token& token) {
  auto expr = std::make_shared<ast::Expr>();
  expr->text = token.text;
  expr->span = span(token);
  const char* first = token.text.data();
  const char* last = first + token.text.size();
  if (token.kind == TokenKind::Integer) {
    expr->kind = ast::ExprKind::Integer;
    if (std::from_chars(first, last, expr->integer).ec != std::errc{}) {
      fail(token, fmt::format("the integer `{}` does not fit 64 bits", token.text.substr(0, 40)));
    }
  } else {
    expr->kind = ast::ExprKind::Float;
    if (std::from_chars(first, last, expr->number).ec == std::errc::result_out_of_range) {
      expr->number = std::strtod(expr->text.c_str(), nullptr);  // 0 or inf, as C reads it
    }
  }
  return expr;
}

ast::ExprPtr ParserBase::parse_primary() {
  const Token& token = advance();
  if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float)
    return parse_number(token);
  if (token.kind == TokenKind::Punctuation && token.text == "(") {
    const Depth depth(*this, token);
    auto inner = std::make_shared<ast::Expr>(*parse_operators(Precedence::Or));
    expect(")", "to close the parenthesis");
    inner->span = span_from(token.begin);
    return inner;
  }
  auto expr = std::make_shared<ast::Expr>();
  expr->span = span(token);
  expr->text = token.text;
  if (token.kind == TokenKind::Keyword) {
    if (token.text == "true" || token.text == "false") {
      expr->kind = ast::ExprKind::Bool;
      expr->integer = token.text == "true" ? 1 : 0;
      return expr;
    }
    if (token.text == "inf" || token.text == "nan") {
      expr->kind = ast::ExprKind::Float;
      expr->number = token.text == "inf" ? std::numeric_limits<double>::infinity()
                                         : std::numeric_limits<double>::quiet_NaN();
      return expr;
    }
    if (token.text == "prev") {
      expr->kind = ast::ExprKind::Prev;
      return expr;
    }
    if ((element_type_named(token.text) || token.text == "wide") && at("("))
      return parse_call(token);
    step_back();
    std::vector<Fix> fixes;
    if (peek(1).word == Word("[").number) {  // a tensor is read
      fixes.push_back({span(token), fmt::format("`{}`", token.text), FixConfidence::Maybe});
    }
    fail_here("expected an expression", backquotes_hint(token), std::move(fixes));
  }
  if (token.kind != TokenKind::Name) {
    if (token.kind != TokenKind::End) step_back();
    fail_here("expected an expression");
  }
  if (at("(")) return parse_call(token);
  if (at("[")) {
    expr->kind = ast::ExprKind::Read;
    expr->operands = parse_subscripts();
    expr->span = span_from(token.begin);
    return finish(token, std::move(expr));
  }
  expr->kind = ast::ExprKind::Name;
  return expr;
}

ast::ExprPtr ParserBase::parse_call(const Token& token) {
  auto expr = std::make_shared<ast::Expr>();
  expr->kind = ast::ExprKind::Call;
  expr->text = token.text;
  expect("(", "after the function's name");
  const Depth depth(*this, token);
  while (!at(")")) {
    expr->operands.push_back(parse_operators(Precedence::Or));
    if (!accept(",")) break;
  }
  expect(")", "to close the arguments");
  expr->span = span_from(token.begin);
  return finish(token, std::move(expr));
}

ast::ExprPtr ParserBase::pack(std::string name, Place span) {
  auto expr = std::make_shared<ast::Expr>();
  expr->kind = ast::ExprKind::Pack;
  expr->text = std::move(name);
  expr->span = span;
  return expr;
}

std::vector<ast::ExprPtr> ParserBase::parse_subscripts() {
  std::vector<ast::ExprPtr> subscripts;
  subscripts.reserve(kUsualCount);
  const Depth depth(*this, peek());
  expect("[", "before the subscripts");
  while (!at("]")) {
    const int32_t begin = peek().begin;
    if (accept("*")) {
      std::string name = expect_name("the name of a loop pack after `*`").text;
      subscripts.push_back(pack(std::move(name), span_from(begin)));
    } else {
      subscripts.push_back(parse_operators(Precedence::Or));
    }
    if (!accept(",")) break;
  }
  expect("]", "to close the subscripts");
  return subscripts;
}

}  // namespace solar::ir

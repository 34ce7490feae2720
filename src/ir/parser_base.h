#pragma once
// The parser's token cursor, its errors, and expressions. Private to the parser.

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "ir/ast.h"
#include "ir/lexer.h"

namespace solar::ir {

/// How strongly operators bind, the weakest first; `not` is as strong as a comparison.
enum class Precedence : uint8_t { None, Or, And, Comparison, Sum, Product, Unary };

/// A keyword or punctuation of the language.
struct Word {
  std::string_view text;
  uint64_t number = 0;
  consteval Word(const char* written) : text(written), number(packed(text)) {}
};

/// Thrown inside the parser only, caught at the statement where parsing resumes.
struct SyntaxAbort {};

class ParserBase {
 protected:
  explicit ParserBase(std::shared_ptr<const Source> source)
      : source_(std::move(source)), lexer_(source_->text) {
    read_ahead();
  }

  Token peek(size_t ahead = 0) const { return window_[(at_ + ahead) % kWindow]; }
  const Token& current() const { return window_[at_ % kWindow]; }
  Token advance();
  /// Makes the token before this one the current one again.
  void step_back() { --at_; }
  bool at(Word word) const { return current().word == word.number; }
  bool accept(Word word) {
    if (!at(word)) return false;
    ++at_;
    read_ahead();
    return true;
  }
  /// The expected punctuation or keyword, or a syntax error naming it.
  Token expect(Word word, const char* where);
  ast::Name expect_name(const char* what);

  Place span(const Token& token) const { return {source_.get(), token.begin, token.end}; }
  Place span_from(int32_t begin) const;
  Place place_behind() const;

  [[noreturn]] void fail(const Token& token, std::string message, std::string hint = {},
                         DiagnosticKind kind = DiagnosticKind::Syntax, std::vector<Fix> fixes = {});
  /// What was expected instead of the current token; of an unfinished line, at its end.
  [[noreturn]] void fail_here(std::string expected, std::string hint = {},
                              std::vector<Fix> fixes = {});
  void report(Diagnostic diagnostic);

  // Expressions. A dim expression is an expression whose form the verifier restricts.
  ast::ExprPtr parse_expr();
  std::vector<ast::ExprPtr> parse_subscripts();
  static ast::ExprPtr pack(std::string name, Place span);

  static constexpr size_t kUsualCount = 4;  // of subscripts, loops, axes: saves growing

  /// Guards against texts that nest so deeply that the stack would overflow.
  class Depth {
   public:
    Depth(ParserBase& parser, const Token& token);
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    ParserBase& parser_;
  };

  std::shared_ptr<const Source> source_;  // shared with the file
  Lexer lexer_;
  size_t at_ = 0;  // the number of the current token
  Diagnostics errors_;

 private:
  // A program has many more tokens than the parser looks at at a time.
  static constexpr size_t kAhead = 4;
  static constexpr size_t kWindow = 8;
  void read_ahead() {
    for (; read_ <= at_ + kAhead; ++read_) window_[read_ % kWindow] = lexer_.next();
  }
  bool line_is_unfinished() const;
  bool is_missing(Word word) const;
  std::array<Token, kWindow> window_;
  size_t read_ = 0;  // how many tokens were

  ast::ExprPtr parse_operators(Precedence least);
  ast::ExprPtr parse_not(Token op);
  ast::ExprPtr parse_chain(ast::ExprPtr first);
  ast::ExprPtr parse_unary();
  ast::ExprPtr parse_primary();
  ast::ExprPtr parse_number(const Token& token);
  ast::ExprPtr parse_call(const Token& token);
  ast::ExprPtr binary(ast::ExprPtr a, const Token& op, ast::ExprPtr b);
  ast::ExprPtr finish(const Token& token, std::shared_ptr<ast::Expr> expr);

  int depth_ = 0;
};

/// "`x`", "end of file", "string \"..\"": how an error names what was found.
std::string describe(const Token& token);

}  // namespace solar::ir

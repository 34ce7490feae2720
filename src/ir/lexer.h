#pragma once
// Text -> tokens. Never fails: an unknown character becomes a token of kind Bad, which the parser
// reports.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace solar::ir {

enum class TokenKind : uint8_t { Name, Keyword, Integer, Float, String, Punctuation, Bad, End };

/// A text of at most 8 characters as a number, to compare at once; a longer one is 0.
constexpr uint64_t packed(std::string_view text) {
  if (text.size() > sizeof(uint64_t)) return 0;
  uint64_t number = 0;
  for (const char c : text) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text = {};  // names without their backquotes, strings without their quotes
  int32_t begin = 0;
  int32_t end = 0;
  uint64_t word = 0;  // of keywords and punctuation: the packed text
};

struct Comment {
  std::string_view text = {};  // from `#` to the end of the line, trailing space removed
  int32_t begin = 0;
};

/// One token after the other. The views point into the text.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  /// After the last token, always End.
  Token next();
  /// Those passed so far.
  const std::vector<Comment>& comments() const { return comments_; }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Token token(TokenKind kind, size_t begin) const;
  void skip_space();
  Token word();
  Token number();
  Token quoted(char quote);

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Comment> comments_;
};

struct Tokens {
  std::vector<Token> tokens = {};  // ends with one End token
  std::vector<Comment> comments = {};
};

/// All at once.
Tokens lex(std::string_view text);

bool is_reserved(std::string_view word);

}  // namespace solar::ir

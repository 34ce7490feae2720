#pragma once
// Text -> tokens. Never fails: an unknown character becomes a token of kind Bad, which the parser
// reports.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace solar::ir {

enum class TokenKind : uint8_t { Name, Keyword, Integer, Float, String, Punctuation, Bad, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text = {};  // names without their backquotes, strings without their quotes
  int32_t begin = 0;
  int32_t end = 0;
};

struct Comment {
  std::string_view text = {};  // from `#` to the end of the line, trailing space removed
  int32_t begin = 0;
};

struct Tokens {
  std::vector<Token> tokens = {};  // ends with one End token
  std::vector<Comment> comments = {};
};

/// The views point into `text`.
Tokens lex(std::string_view text);

bool is_reserved(std::string_view word);

}  // namespace solar::ir

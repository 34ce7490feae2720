#include "ir/lexer.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace solar::ir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors write it

constexpr std::array<std::string_view, 70> kReserved = {
    // sorted
    "and",     "as",    "at",      "base",    "bf16",    "bool",   "buffer", "const",   "dims",
    "else",    "f16",   "f32",     "f4e2m1",  "f64",     "f8e4m3", "f8e5m2", "false",   "fn",
    "for",     "hole",  "i16",     "i32",     "i4",      "i64",    "i8",     "if",      "in",
    "indexed", "inf",   "init",    "input",   "kernel",  "let",    "limit",  "macs",    "module",
    "nan",     "next",  "nominal", "not",     "op",      "opaque", "or",     "param",   "prev",
    "program", "reads", "repeat",  "require", "reverse", "revseq", "rng",    "scatter", "seq",
    "size",    "slice", "stack",   "state",   "test",    "true",   "type",   "u8",      "unique",
    "update",  "view",  "where",   "while",   "wide",    "with",   "writes"};
static_assert(std::is_sorted(kReserved.begin(), kReserved.end()));

constexpr std::array<uint64_t, kReserved.size()> kPackedReserved = [] {
  std::array<uint64_t, kReserved.size()> numbers = {};
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = packed(kReserved[i]);
  return numbers;
}();
static_assert(std::find(kPackedReserved.begin(), kPackedReserved.end(), 0) ==
              kPackedReserved.end());

/// Where in kReserved the words of each first letter begin.
constexpr std::array<size_t, 27> kFirstOfLetter = [] {
  std::array<size_t, 27> first = {};
  for (const std::string_view word : kReserved) {
    for (auto letter = static_cast<size_t>(word[0] - 'a') + 1; letter < first.size(); ++letter) {
      ++first[letter];
    }
  }
  return first;
}();

constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

/// The length of the punctuation that starts with `c`; 0: none does.
constexpr size_t operator_length(char c, char next) {
  switch (c) {
    case ':':
    case ',':
    case '%':
    case ';':
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
      return 1;
    case '-':
      return next == '>' ? 2 : 1;
    case '/':
      return next == '/' ? 2 : 1;
    case '+':
    case '*':
    case '=':
    case '<':
    case '>':
      return next == '=' ? 2 : 1;
    case '!':
      return next == '=' ? 2 : 0;
    case '.':
      return next == '.' ? 2 : 0;
    default:
      return 0;
  }
}

bool valid_name(std::string_view name) {
  return !name.empty() && is_name_start(name[0]) &&
         std::all_of(name.begin(), name.end(), is_name_part);
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

/// From `begin` to here.
Token Lexer::token(TokenKind kind, size_t begin) const {
  const std::string_view text(text_.data() + begin, at_ - begin);
  const bool fixed = kind == TokenKind::Keyword || kind == TokenKind::Punctuation;
  return {kind, text, static_cast<int32_t>(begin), static_cast<int32_t>(at_),
          fixed ? packed(text) : 0};
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      size_t end = text_.find_first_of("\r\n", at_);
      if (end == std::string_view::npos) end = text_.size();
      size_t last = end;
      while (last > at_ && text_[last - 1] == ' ') --last;
      comments_.push_back({text_.substr(at_, last - at_), static_cast<int32_t>(at_)});
      at_ = end;
    } else {
      break;
    }
  }
}

Token Lexer::next() {
  skip_space();
  const size_t begin = at_;
  if (at_ >= text_.size()) return token(TokenKind::End, begin);
  const char c = text_[at_];
  if (is_name_start(c)) return word();
  if (is_digit(c)) return number();
  if (c == '`' || c == '"') return quoted(c);
  if (const size_t length = operator_length(c, peek(1)); length > 0) {
    at_ += length;
    return token(TokenKind::Punctuation, begin);
  }
  ++at_;
  // One token for a whole multi-byte character.
  while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80) ++at_;
  return token(TokenKind::Bad, begin);
}

Token Lexer::word() {
  const size_t begin = at_;
  while (is_name_part(peek())) ++at_;
  const std::string_view word = text_.substr(begin, at_ - begin);
  if (peek() == '=' && peek(1) != '=') {
    static constexpr std::array<std::string_view, 6> kAssigning = {"max", "min",    "and",
                                                                   "or",  "argmax", "argmin"};
    if (std::find(kAssigning.begin(), kAssigning.end(), word) != kAssigning.end()) {
      ++at_;
      return token(TokenKind::Punctuation, begin);
    }
  }
  return token(is_reserved(word) ? TokenKind::Keyword : TokenKind::Name, begin);
}

Token Lexer::number() {
  const size_t begin = at_;
  bool is_float = false;
  while (is_digit(peek())) ++at_;
  if (peek() == '.' && is_digit(peek(1))) {
    is_float = true;
    ++at_;
    while (is_digit(peek())) ++at_;
  }
  if (peek() == 'e' || peek() == 'E') {
    const size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
    if (is_digit(peek(1 + sign))) {
      is_float = true;
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
  }
  if (is_name_part(peek())) {  // `12abc`
    while (is_name_part(peek())) ++at_;
    return token(TokenKind::Bad, begin);
  }
  return token(is_float ? TokenKind::Float : TokenKind::Integer, begin);
}

Token Lexer::quoted(char quote) {
  const size_t begin = at_++;
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') ++at_;
  if (peek() != quote) return token(TokenKind::Bad, begin);
  ++at_;
  Token whole = token(quote == '"' ? TokenKind::String : TokenKind::Name, begin);
  whole.text = whole.text.substr(1, whole.text.size() - 2);
  if (quote == '`' && !valid_name(whole.text)) whole.kind = TokenKind::Bad;
  return whole;
}

Tokens lex(std::string_view text) {
  Lexer lexer(text);
  Tokens all;
  do {
    all.tokens.push_back(lexer.next());
  } while (all.tokens.back().kind != TokenKind::End);
  all.comments = lexer.comments();
  return all;
}

bool is_reserved(std::string_view word) {
  if (word.size() < 2 || word[0] < 'a' || word[0] > 'z') return false;
  const auto letter = static_cast<size_t>(word[0] - 'a');
  const uint64_t number = packed(word);
  for (size_t i = kFirstOfLetter[letter]; i < kFirstOfLetter[letter + 1]; ++i) {
    if (kPackedReserved[i] == number) return true;
  }
  return false;
}

}  // namespace solar::ir

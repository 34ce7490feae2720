#include "ir/lexer.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace solar::ir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors write it

const std::unordered_set<std::string_view>& reserved_words() {
  static const std::unordered_set<std::string_view> words = {
      "program", "fn",      "input", "param",   "buffer",  "state",  "const",  "rng",     "type",
      "as",      "wide",    "dims",  "require", "op",      "at",     "module", "nominal", "kernel",
      "indexed", "scatter", "view",  "slice",   "let",     "stack",  "repeat", "with",    "while",
      "limit",   "if",      "else",  "next",    "test",    "update", "hole",   "opaque",  "macs",
      "reads",   "writes",  "for",   "where",   "init",    "base",   "unique", "seq",     "revseq",
      "in",      "or",      "and",   "not",     "reverse", "size",   "true",   "false",   "inf",
      "nan",     "prev",    "f64",   "f32",     "f16",     "bf16",   "f8e4m3", "f8e5m2",  "f4e2m1",
      "i64",     "i32",     "i16",   "i8",      "i4",      "u8",     "bool"};
  return words;
}

constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

constexpr size_t kLongestWord = 7;
constexpr size_t kBytesPerToken = 4;  // a guess that seldom is too small

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Tokens run() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    out_.tokens.reserve(text_.size() / kBytesPerToken + 1);
    while (true) {
      skip_space();
      if (at_ >= text_.size()) break;
      lex_one();
    }
    push(TokenKind::End, at_, at_);
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void push(TokenKind kind, size_t begin, size_t end) {
    out_.tokens.push_back({kind, text_.substr(begin, end - begin), static_cast<int32_t>(begin),
                           static_cast<int32_t>(end)});
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        size_t end = text_.find('\n', at_);
        if (end == std::string_view::npos) end = text_.size();
        size_t last = end;
        while (last > at_ && (text_[last - 1] == ' ' || text_[last - 1] == '\r')) --last;
        out_.comments.push_back({text_.substr(at_, last - at_), static_cast<int32_t>(at_)});
        at_ = end;
      } else {
        break;
      }
    }
  }

  void lex_one() {
    const char c = peek();
    const size_t begin = at_;
    if (is_name_start(c)) return lex_word();
    if (is_digit(c)) return lex_number();
    if (c == '`' || c == '"') return lex_quoted(c);
    if (const size_t length = operator_length(c, peek(1)); length > 0) {
      at_ += length;
      return push(TokenKind::Punctuation, begin, at_);
    }
    ++at_;
    // One token for a whole multi-byte character.
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80) ++at_;
    push(TokenKind::Bad, begin, at_);
  }

  /// Of the punctuation that starts with `c`; 0: none does.
  static size_t operator_length(char c, char next) {
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

  void lex_word() {
    const size_t begin = at_;
    while (is_name_part(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (peek() == '=' && peek(1) != '=') {
      static constexpr std::array<std::string_view, 6> kAssigning = {"max", "min",    "and",
                                                                     "or",  "argmax", "argmin"};
      if (std::find(kAssigning.begin(), kAssigning.end(), word) != kAssigning.end()) {
        ++at_;
        return push(TokenKind::Punctuation, begin, at_);
      }
    }
    push(is_reserved(word) ? TokenKind::Keyword : TokenKind::Name, begin, at_);
  }

  void lex_number() {
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
      return push(TokenKind::Bad, begin, at_);
    }
    push(is_float ? TokenKind::Float : TokenKind::Integer, begin, at_);
  }

  void lex_quoted(char quote) {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') ++at_;
    if (peek() != quote) return push(TokenKind::Bad, begin, at_);
    ++at_;
    out_.tokens.push_back({quote == '"' ? TokenKind::String : TokenKind::Name,
                           text_.substr(begin + 1, at_ - begin - 2), static_cast<int32_t>(begin),
                           static_cast<int32_t>(at_)});
    if (quote == '`' && !valid_name(out_.tokens.back().text))
      out_.tokens.back().kind = TokenKind::Bad;
  }

  static bool valid_name(std::string_view name) {
    return !name.empty() && is_name_start(name[0]) &&
           std::all_of(name.begin(), name.end(), is_name_part);
  }

  std::string_view text_;
  size_t at_ = 0;
  Tokens out_;
};

}  // namespace

Tokens lex(std::string_view text) { return Lexer(text).run(); }

bool is_reserved(std::string_view word) {
  return word.size() <= kLongestWord && reserved_words().contains(word);
}

}  // namespace solar::ir

#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace solar {
namespace {

/// One character of UTF-8; a byte that is not the start of one has length 1 and is not valid.
struct Character {
  uint32_t code = 0;
  size_t length = 1;
  bool valid = false;
};

Character character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {first};
  uint32_t code = first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {first};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {first};
  return {code, length, true};
}

bool is_control(uint32_t code) {
  if (code < 0x20) return code != '\n' && code != '\t';
  return (code >= 0x7F && code < 0xA0) ||                       // DEL, C1
         code == 0x61C || code == 0x200E || code == 0x200F ||   // direction marks
         (code >= 0x2028 && code <= 0x202E) ||                  // separators, overrides
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;  // isolates, order mark
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character c = character_at(text);
    if (!c.valid || (c.code < 0x80 && is_control(c.code))) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", c.code);
    } else if (is_control(c.code)) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", c.code);
    } else {
      result += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return result;
}

std::string printable_line(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; },
      ' ');
  return printable(result);
}

}  // namespace solar

#include "exec/npy.h"

#include <fmt/format.h>

#include <charconv>

#include "exec/tensor_file_parts.h"

namespace solar::exec {
namespace {

constexpr TypeName kTypes[] = {
    {ElementType::F64, "<f8"}, {ElementType::F32, "<f4"}, {ElementType::F16, "<f2"},
    {ElementType::I64, "<i8"}, {ElementType::I32, "<i4"}, {ElementType::I16, "<i2"},
    {ElementType::I8, "|i1"},  {ElementType::U8, "|u1"},  {ElementType::Bool, "|b1"},
};
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostAxes = 64;

/// Reads the header's Python dictionary: string keys; string, bool or tuple-of-integers values.
class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_spaces();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> string() {
    skip_spaces();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }
  std::optional<int64_t> integer() {
    skip_spaces();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return value;
  }
  std::optional<std::vector<int64_t>> tuple() {
    if (!take('(')) return std::nullopt;
    std::vector<int64_t> result;
    while (!take(')')) {
      const auto value = integer();
      if (!value || result.size() == kMostAxes) return std::nullopt;
      result.push_back(*value);
      if (!take(',')) {
        if (!take(')')) return std::nullopt;
        break;
      }
    }
    return result;
  }

 private:
  void skip_spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
      text_.remove_prefix(1);
  }
  std::string_view text_;
};

}  // namespace

std::variant<NpyHeader, std::string> parse_npy_header(std::string_view bytes) {
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) return "not a .npy array";
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return fmt::format("unknown .npy version {}", version);
  const size_t text_begin = version == 1 ? 10 : 12;
  size_t length = byte(8) | (byte(9) << 8);
  if (version > 1) length |= (byte(10) << 16) | (byte(11) << 24);
  if (length > bytes.size() - text_begin) return "the header is longer than the array";
  DictionaryReader reader(bytes.substr(text_begin, length));
  NpyHeader header;
  header.data_begin = static_cast<int64_t>(text_begin + length);
  bool has_type = false, has_order = false, has_shape = false;
  const std::string malformed = "malformed .npy header";
  if (!reader.take('{')) return malformed;
  while (!reader.take('}')) {
    const auto key = reader.string();
    if (!key || !reader.take(':')) return malformed;
    if (*key == "descr") {
      const auto descr = reader.string();
      if (!descr) return "arrays of records are not supported";
      auto type = type_named(kTypes, *descr);
      if (!type && descr->size() == 3 &&
          ((*descr)[0] == '<' || (*descr)[0] == '=' || (*descr)[0] == '|')) {
        for (const char order : {'<', '|'}) {
          if (!type) type = type_named(kTypes, fmt::format("{}{}", order, descr->substr(1)));
        }
      }
      if (!type) return fmt::format("unsupported dtype `{}`", shown(*descr));
      header.type = *type;
      has_type = true;
    } else if (*key == "fortran_order") {
      header.fortran_order = reader.take_word("True");
      if (!header.fortran_order && !reader.take_word("False")) return malformed;
      has_order = true;
    } else if (*key == "shape") {
      auto shape = reader.tuple();
      if (!shape) return malformed;
      header.shape = std::move(*shape);
      has_shape = true;
    } else {
      return malformed;
    }
    if (!reader.take(',')) {
      if (!reader.take('}')) return malformed;
      break;
    }
  }
  if (!has_type || !has_order || !has_shape) return malformed;
  return header;
}

std::optional<std::string> npy_header(ElementType type, const std::vector<int64_t>& shape) {
  const auto descr = name_of(kTypes, type);
  if (!descr) return std::nullopt;
  std::string extents;
  for (const int64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.resize(extents.size() - 1);
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", *descr, extents);
  const size_t total = (10 + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.resize(total - 10 - 1, ' ');
  dictionary += '\n';
  std::string result(kMagic);
  result += '\x01';
  result += '\0';
  result += static_cast<char>(dictionary.size() & 255);
  result += static_cast<char>(dictionary.size() >> 8);
  return result + dictionary;
}

}  // namespace solar::exec

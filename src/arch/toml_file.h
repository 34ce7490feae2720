#pragma once
// A TOML text as a flat list of leaves with positions. The only place where toml++ is seen.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/span.h"

namespace solar::arch {

struct TomlString {
  std::string text;
  Span span = {};
};

/// One value, e.g. `peak.tensor.fp16`. `Other` is everything an architecture file has no use for
/// (booleans, dates, arrays of something else than strings, empty tables); `kind_name` says what it
/// is.
struct TomlLeaf {
  enum class Kind : uint8_t { String, Integer, Float, Strings, Other };
  std::string key;  // dotted path
  Kind kind = Kind::Other;
  std::string kind_name = {};
  std::string text = {};
  int64_t integer = 0;
  double number = 0;
  std::vector<TomlString> items = {};
  Span key_span = {};
  Span span = {};
};

/// The leaves in the order of the text. A syntax error (also a duplicate key) is an ArchFile
/// diagnostic.
Result<std::vector<TomlLeaf>> parse_toml(const std::shared_ptr<const Source>& source);

}  // namespace solar::arch

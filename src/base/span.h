#pragma once
// Places in source text.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace solar {

/// A named text: an .alir file, a prelude file, a TOML file.
struct Source {
  std::string name;
  std::string text;
};

/// Bytes [begin, end) of `source`. A default span points nowhere.
struct Span {
  std::shared_ptr<const Source> source = nullptr;
  int32_t begin = 0;
  int32_t end = 0;
};

/// Line and column, both from 1, of a byte offset.
struct Position {
  int line = 1;
  int column = 1;
};

Position position_of(const Source& source, int32_t offset);

}  // namespace solar

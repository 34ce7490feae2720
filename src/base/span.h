#pragma once
// Places in source text.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace solar {

/// A named text: an .alir file, a prelude file, a TOML file. Lives in a shared_ptr.
struct Source : std::enable_shared_from_this<Source> {
  Source(std::string name, std::string text) : name(std::move(name)), text(std::move(text)) {}

  std::string name;
  std::string text;
};

/// Bytes [begin, end) of `source`. A default span points nowhere.
struct Span {
  std::shared_ptr<const Source> source = nullptr;
  int32_t begin = 0;
  int32_t end = 0;
};

/// The same for programs, which have many: whoever holds a Place keeps its source alive.
struct Place {
  const Source* source = nullptr;
  int32_t begin = 0;
  int32_t end = 0;

  operator Span() const {
    return {source != nullptr ? source->shared_from_this() : nullptr, begin, end};
  }
};

/// Line and column, both from 1, of a byte offset.
struct Position {
  int line = 1;
  int column = 1;
};

Position position_of(const Source& source, int32_t offset);

}  // namespace solar

#include "base/span.h"

#include <algorithm>

namespace solar {

Position position_of(const Source& source, int32_t offset) {
  Position position;
  const auto end = std::min(static_cast<size_t>(std::max(offset, 0)), source.text.size());
  for (size_t i = 0; i < end; ++i) {
    if (source.text[i] == '\n') {
      ++position.line;
      position.column = 1;
    } else {
      ++position.column;
    }
  }
  return position;
}

}  // namespace solar

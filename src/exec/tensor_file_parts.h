#pragma once
// What the tensor file formats share: their errors, and the names of element types.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "exec/tensor_file.h"

namespace solar::exec {

inline Diagnostic tensor_file_error(const std::string& path, std::string_view what,
                                    std::string hint = {}) {
  return {.kind = DiagnosticKind::TensorFile,
          .message = fmt::format("`{}`: {}", path, what),
          .hint = std::move(hint)};
}

/// A name shown in a message: cut to a sane length, control characters replaced.
std::string shown(std::string_view name);

struct TypeName {
  ElementType type;
  std::string_view name;
};

template <size_t N>
std::optional<ElementType> type_named(const TypeName (&table)[N], std::string_view name) {
  for (const TypeName& row : table) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

template <size_t N>
std::optional<std::string_view> name_of(const TypeName (&table)[N], ElementType type) {
  for (const TypeName& row : table) {
    if (row.type == type) return row.name;
  }
  return std::nullopt;
}

}  // namespace solar::exec

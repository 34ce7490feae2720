#pragma once
// The header of NumPy's .npy format, versions 1 to 3.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exec/element.h"

namespace solar::exec {

struct NpyHeader {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  bool fortran_order = false;
  int64_t data_begin = 0;  // bytes before the elements
};

/// Reads the header at the start of `bytes`, or says what is wrong with it.
std::variant<NpyHeader, std::string> parse_npy_header(std::string_view bytes);

/// A version 1 header (row-major), or nothing for a type that NumPy lacks.
std::optional<std::string> npy_header(ElementType type, const std::vector<int64_t>& shape);

}  // namespace solar::exec

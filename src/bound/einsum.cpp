#include "bound/einsum.h"

#include <set>

#include "base/checked.h"

namespace solar::bound {

int64_t bytes_of(int64_t elements, Width width) {
  const auto all = checked_mul(elements, width.bytes_per_32);
  if (all) return *all / 32 + (*all % 32 != 0);
  // Past 2^63: the quotient may still fit.
  const __int128 wide = static_cast<__int128>(elements) * width.bytes_per_32;
  const __int128 bytes = (wide + 31) / 32;
  return bytes > INT64_MAX ? INT64_MAX : static_cast<int64_t>(bytes);
}

bool Tensor::is_projective() const {
  std::set<int32_t> seen;
  for (const Affine& axis : axes) {
    if (axis.terms.size() != 1 || axis.terms[0].coefficient != 1) return false;
    if (!seen.insert(axis.terms[0].dim).second) return false;
  }
  return true;
}

std::string structure_of(const Einsum& einsum) {
  std::string key;
  const auto add = [&](int64_t value, char end) {
    key += std::to_string(value);
    key += end;
  };
  const auto add_sum = [&](const Affine& value) {
    for (const Term& term : value.terms) {
      add(term.coefficient, '*');
      add(term.dim, '+');
    }
    add(value.offset, ',');
    add(value.whole, ';');
  };
  for (const Dim& dim : einsum.dims) add(dim.extent, dim.ordered ? '^' : ',');
  for (const Tensor& tensor : einsum.tensors) {
    add(tensor.footprint, tensor.is_output ? '=' : '|');
    for (const Width width : {tensor.dram, tensor.on_chip, tensor.partial})
      add(width.bytes_per_32, ' ');
    for (const Affine& axis : tensor.axes) add_sum(axis);
  }
  key += '#';
  for (const Guard& guard : einsum.guards) add_sum(guard);
  add(einsum.points, '.');
  return key;
}

}  // namespace solar::bound

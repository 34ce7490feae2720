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

}  // namespace solar::bound

#include "bound/merge.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/checked.h"

namespace solar::bound {
namespace {

// The tensors that have the dim, where it can be merged: it stands alone on one axis of each.
std::optional<std::vector<bool>> tensors_with(const Einsum& einsum, int32_t dim) {
  const auto has = [&](const Affine& affine) {
    return std::any_of(affine.terms.begin(), affine.terms.end(),
                       [&](const Term& term) { return term.dim == dim; });
  };
  if (einsum.dims[static_cast<size_t>(dim)].ordered) return std::nullopt;
  if (std::any_of(einsum.guards.begin(), einsum.guards.end(), has)) return std::nullopt;
  std::vector<bool> in;
  for (const Tensor& tensor : einsum.tensors) {
    int axes = 0;
    for (const Affine& axis : tensor.axes) {
      if (!has(axis)) continue;
      ++axes;
      if (axis.terms.size() > 1) return std::nullopt;
    }
    if (axes > 1) return std::nullopt;
    in.push_back(axes == 1);
  }
  return in;
}

Affine renamed(const Affine& affine, const std::vector<int32_t>& now) {
  Affine result{.offset = affine.offset};
  for (const Term& term : affine.terms)
    if (now[static_cast<size_t>(term.dim)] >= 0)
      result.terms.push_back(
          {.dim = now[static_cast<size_t>(term.dim)], .coefficient = term.coefficient});
  std::sort(result.terms.begin(), result.terms.end(),
            [](const Term& a, const Term& b) { return a.dim < b.dim; });
  return result;
}

// Dims of one step are gone from everywhere, so that they keep nothing apart.
Einsum without_single_steps(const Einsum& einsum) {
  Einsum result = einsum;
  result.dims.clear();
  std::vector<int32_t> now;
  for (const Dim& dim : einsum.dims) {
    now.push_back(dim.extent == 1 ? -1 : static_cast<int32_t>(result.dims.size()));
    if (dim.extent != 1) result.dims.push_back(dim);
  }
  for (Tensor& tensor : result.tensors)
    for (Affine& axis : tensor.axes) axis = renamed(axis, now);
  for (Guard& guard : result.guards) guard = renamed(guard, now);
  std::erase_if(result.guards,
                [](const Guard& guard) { return guard.terms.empty() && guard.offset >= 0; });
  return result;
}

}  // namespace

Einsum merge_dims(const Einsum& given) {
  const Einsum einsum = without_single_steps(given);
  Einsum result = einsum;
  result.dims.clear();
  std::vector<int32_t> now;
  std::map<std::vector<bool>, size_t> place;
  for (size_t d = 0; d < einsum.dims.size(); ++d) {
    const Dim& dim = einsum.dims[d];
    const auto in = tensors_with(einsum, static_cast<int32_t>(d));
    if (in && place.count(*in) != 0) {
      Dim& into = result.dims[place[*in]];
      if (const auto extent = checked_mul(into.extent, dim.extent)) {
        into.extent = *extent;
        into.name += "*" + dim.name;
        now.push_back(-1);
        continue;
      }
    }
    if (in) place[*in] = result.dims.size();
    now.push_back(static_cast<int32_t>(result.dims.size()));
    result.dims.push_back(dim);
  }
  for (Tensor& tensor : result.tensors) {
    for (Affine& axis : tensor.axes) axis = renamed(axis, now);
    std::erase_if(tensor.axes, [](const Affine& axis) { return axis.terms.empty(); });
  }
  for (Guard& guard : result.guards) guard = renamed(guard, now);
  return result;
}

}  // namespace solar::bound

#pragma once
// Dims that every tensor has or lacks together act as one dim: any tiling of the flattened range is
// a legal loop.

#include "bound/einsum.h"

namespace solar::bound {

/// The einsum without dims of one step and with such dims merged (`m*n`), where no guard, window or
/// order tells them apart. What a search says of it holds for the einsum given.
Einsum merge_dims(const Einsum& einsum);

}  // namespace solar::bound

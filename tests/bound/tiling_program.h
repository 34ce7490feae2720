#pragma once
// The choice of tiles as an integer linear program: an independent way to what bound/curve.h finds,
// for einsums without windows. Products of choices are made linear exactly, by their convex hull.

#include <cstdint>
#include <optional>

#include "bound/einsum.h"

namespace solar::bound {

/// The least traffic with buffers of at most `capacity` bytes, over all orders of the storage
/// nodes, of an einsum without windows and guards; none where no tiling is that small or the solver
/// gave up. Savings that only ragged tiles bring are not in it. For small einsums: up to seconds.
std::optional<int64_t> least_traffic_by_program(const Einsum& einsum, int64_t capacity);

}  // namespace solar::bound

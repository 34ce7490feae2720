#pragma once
// Executes a mapping of a small einsum with explicit buffers: walks all loops, moves element by
// element, computes with what is in the buffers, and compares with direct evaluation.

#include <cstdint>
#include <string>

#include "bound/traffic.h"

namespace solar::bound {

struct Replay {
  Cost cost = {};  // counted, not derived
  std::string fault =
      {};  // empty where every access hit its buffer and every output came out right
};

/// Every output sums the product of all inputs, modulo a prime. Only elements that a useful point
/// touches are moved, and tiles that a guard empties are skipped. Time and memory of the
/// order of points times loops: for boxes of up to about 10^5 points.
Replay replay(const Einsum& einsum, const Mapping& mapping, uint64_t seed);

}  // namespace solar::bound

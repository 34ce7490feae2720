#pragma once
// Groups whose units run one after the other on slices: outer loops over dims that all units share,
// inside which everything stays on chip.

#include <optional>

#include "bound/plan.h"

namespace solar::bound {

/// The least traffic of the units [first, last) in slices that fit; without any loop, everything is
/// resident. nullopt: not even the thinnest slices fit.
std::optional<Group> sliced(const PlanGraph& graph, int32_t first, int32_t last, int64_t capacity);

}  // namespace solar::bound

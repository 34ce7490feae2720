#pragma once
// What a program may have to be run at all.

#include "base/result.h"
#include "ir/core.h"

namespace solar::exec {

inline constexpr size_t kMostLoops = 64;  // sets of loops are bits of a word

/// Every kernel's loops and every tensor's axes fit, or not-supported with their place.
Result<Done> check_limits(const ir::Program& program);

}  // namespace solar::exec

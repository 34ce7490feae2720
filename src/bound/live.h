#pragma once
// What enters a buffer where the loops skip tiles that a guard empties.

#include <optional>
#include <vector>

#include "bound/access.h"
#include "bound/sweep.h"

namespace solar::bound {

/// Sum over the boxes below the loops, those left out that some guard over two dims empties, of the
/// elements they touch: at least what enters. None where no guard can be used: it has to be over
/// two dims that the tensor has as axes of their own or not at all.
std::optional<__int128> total_live(const Einsum& einsum, const std::vector<Rank>& ranks,
                                   const std::vector<int32_t>& others, const Sweep& sweep);

}  // namespace solar::bound

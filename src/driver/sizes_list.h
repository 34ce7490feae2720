#pragma once
// The sizes that `--bind N=1,2,4..256` asks for.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace solar::driver {

/// A dim and the values it takes, in order.
using DimSizes = std::pair<std::string, std::vector<int64_t>>;

/// `N=1`, `2`, `4..256` (doubled from 4), `8..32:4` (in steps of 4); what has no name belongs to
/// the one before. `a..b` ends at the last value that is at most b. Usage errors name the text.
Result<std::vector<DimSizes>> parse_sizes(const std::vector<std::string>& texts);

}  // namespace solar::driver

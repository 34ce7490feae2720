#pragma once
// What can be said of a source's name without starting a worker.

#include <string>

#include "base/result.h"

namespace solar::frontend {

/// Refuses what cannot be a source for a worker: `FILE.py`, `FILE.py:NAME` or `FILE.pt2` of a
/// readable file, or `hf:MODEL`.
Result<Done> check_source_name(const std::string& source);

}  // namespace solar::frontend

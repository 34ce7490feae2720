#pragma once
// What can be said of a source's name without starting a worker.

#include <string>

#include "base/result.h"

namespace solar::frontend {

/// Refuses what cannot be a Python source: `FILE.py` or `FILE.py:NAME` of a readable file.
Result<Done> check_source_name(const std::string& source);

}  // namespace solar::frontend

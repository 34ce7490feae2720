#pragma once
// Diagnostics as JSON for programs and agents.

#include <nlohmann/json_fwd.hpp>

#include "base/diagnostic.h"

namespace solar {

nlohmann::json to_json(const Diagnostic& diagnostic);
nlohmann::json to_json(const Diagnostics& diagnostics);

}  // namespace solar

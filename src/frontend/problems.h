#pragma once
// Turns what a worker says is wrong into diagnostics with places in the user's file.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/diagnostic.h"

namespace solar::frontend {

/// The diagnostics of a failed answer ("problems" and "log"). Never empty, whatever the answer
/// holds.
Diagnostics to_diagnostics(const nlohmann::json& answer);

/// A note with the end of what a program printed, or none if it printed nothing.
void append_log(Diagnostics& diagnostics, const std::string& log);

}  // namespace solar::frontend

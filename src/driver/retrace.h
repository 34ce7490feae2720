#pragma once
// Other sizes of a source than by binding dims of its trace.

#include <string>

#include "base/diagnostic.h"

namespace solar::driver {

/// How a source is traced again at other sizes; empty where it cannot be.
std::string retrace_text(const std::string& source);

/// Errors of bound dims, the first of which says it too.
Diagnostics with_retrace(Diagnostics errors, const std::string& source);

}  // namespace solar::driver

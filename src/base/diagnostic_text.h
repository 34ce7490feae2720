#pragma once
// Diagnostics as text for people: `file:line:column: error[kind]: message`, the line marked,
// labels, fixes.

#include <string>

#include "base/diagnostic.h"

namespace solar {

std::string render_text(const Diagnostic& diagnostic, bool colour = false);
std::string render_text(const Diagnostics& diagnostics, bool colour = false);

}  // namespace solar

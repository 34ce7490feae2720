#pragma once
// What would make the program faster on one architecture, read off its bounds.

#include <string>
#include <vector>

#include "report/report.h"
#include "report/text_parts.h"

namespace solar::report {

/// Sentences, the most valuable first. Each states times or ratios of the report itself.
std::vector<std::string> advice(const Report& report, const ArchBounds& arch);

}  // namespace solar::report

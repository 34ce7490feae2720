#pragma once
// Reports as JSON for programs: schemas solar.report/1 and solar.inverse/1. Stable field names and
// order; counts are integers; what does not apply is absent. A number that is not finite is absent
// too, as JSON has none.

#include <string>

#include "report/report.h"

namespace solar::report {

/// Ends with a line break. Bytes that are not UTF-8 (in file names) become U+FFFD.
std::string render_json(const Report& report);
std::string render_json(const Inverse& inverse);

}  // namespace solar::report

#pragma once
// Reports as text for people: the answer first, then what stands behind it. Lines fit the width.

#include <string>

#include "report/report.h"

namespace solar::report {

struct TextOptions {
  int width = 100;  // of the terminal; 60 to 100 are used
  bool colour = false;
};

/// `solar analyze`: times by architecture, validation, assumptions, totals, the operators that
/// matter, what would help.
std::string render_text(const Report& report, const TextOptions& options = {});
/// `solar inverse`: the least machine, then how far the known ones are from it.
std::string render_text(const Inverse& inverse, const TextOptions& options = {});
/// `solar compare`: one row for each architecture, the fastest first.
std::string render_compare(const Report& report, const TextOptions& options = {});

}  // namespace solar::report

#pragma once
// A run over many problems as text: a line as each is done, and what came of all of them.

#include <string>

#include "report/suite.h"
#include "report/text.h"

namespace solar::report {

/// `[12/100] level1/3_x.py passed two-trace 2.3 s (about 4 min left)`
std::string progress_text(const SuiteResult& result, const SuiteProgress& progress);

std::string render_text(const SuiteSummary& summary, const TextOptions& options = {});

}  // namespace solar::report

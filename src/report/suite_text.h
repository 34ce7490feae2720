#pragma once
// A run over many problems as text: a line as each is done, and what came of all of them.

#include <cstdint>
#include <string>

#include "report/suite.h"
#include "report/text.h"

namespace solar::report {

/// `[12/100] level1/3_x.py passed two-trace 2.3 s (about 4 min left)`
std::string progress_text(const SuiteResult& result, const SuiteProgress& progress);

/// At the start of a run that goes on: `40 of 100 problems are done already`
std::string resumed_text(int64_t done, int64_t problems);

std::string render_text(const SuiteSummary& summary, const TextOptions& options = {});

}  // namespace solar::report

#pragma once
// The files of a run: a line of results.jsonl, and summary.json.

#include <optional>
#include <string>

#include "report/suite.h"

namespace solar::report {

/// One line, with its break. Plain ASCII; what does not apply is absent.
std::string render_line(const SuiteResult& result);

/// The inverse, up to bytes that are not UTF-8. None where `line` is not the whole line of a
/// result.
std::optional<SuiteResult> parse_line(const std::string& line);

std::string render_json(const SuiteSummary& summary);

}  // namespace solar::report

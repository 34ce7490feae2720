#pragma once
// What is wrong with the user's input, as data. Renderers are in diagnostic_text.h and
// diagnostic_json.h. A kind is a stable slug from diagnostic_kinds.def; messages are lower case,
// without a full stop.

#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace solar {

enum class DiagnosticKind {
#define DIAGNOSTIC(name, slug, summary) name,
#include "base/diagnostic_kinds.def"
#undef DIAGNOSTIC
};

enum class Severity { Error, Warning, Note };

/// How sure a fix is: only `Always` is applied without asking.
enum class FixConfidence { Always, Maybe, HasPlaceholders };

struct Label {
  Span span = {};
  std::string text = {};
};

struct Fix {
  Span span = {};
  std::string replacement = {};
  FixConfidence confidence = FixConfidence::Maybe;
};

struct Diagnostic {
  DiagnosticKind kind = {};
  Severity severity = Severity::Error;
  std::string message = {};
  Span span = {};                  // the primary place; may point nowhere (a missing file)
  std::string hint = {};           // what to do, or empty
  std::vector<Label> labels = {};  // secondary places
  std::vector<Fix> fixes = {};
};

using Diagnostics = std::vector<Diagnostic>;

std::string_view slug(DiagnosticKind kind);
std::string_view summary(DiagnosticKind kind);
std::vector<DiagnosticKind> all_diagnostic_kinds();

bool has_errors(const Diagnostics& diagnostics);

/// Orders by source and position, keeping the order of equals.
void sort_by_position(Diagnostics& diagnostics);

}  // namespace solar

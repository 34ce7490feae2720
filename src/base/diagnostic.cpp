#include "base/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace solar {

std::string_view slug(DiagnosticKind kind) {
  switch (kind) {
#define DIAGNOSTIC(name, slug, summary) \
  case DiagnosticKind::name:            \
    return slug;
#include "base/diagnostic_kinds.def"
#undef DIAGNOSTIC
  }
  return "";
}

std::string_view summary(DiagnosticKind kind) {
  switch (kind) {
#define DIAGNOSTIC(name, slug, summary) \
  case DiagnosticKind::name:            \
    return summary;
#include "base/diagnostic_kinds.def"
#undef DIAGNOSTIC
  }
  return "";
}

std::vector<DiagnosticKind> all_diagnostic_kinds() {
  return {
#define DIAGNOSTIC(name, slug, summary) DiagnosticKind::name,
#include "base/diagnostic_kinds.def"
#undef DIAGNOSTIC
  };
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

void sort_by_position(Diagnostics& diagnostics) {
  const auto key = [](const Diagnostic& d) {
    return std::make_tuple(d.span.source ? std::string_view(d.span.source->name) : "",
                           d.span.begin);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
}

}  // namespace solar

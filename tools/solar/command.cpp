#include "command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/diagnostic_text.h"

namespace solar::cli {

int report(const Diagnostics& diagnostics) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool colour = ::isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  fmt::print(stderr, "{}", render_text(diagnostics, colour));
  if (!has_errors(diagnostics)) return kDone;
  const auto any = [&](DiagnosticKind kind) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [&](const Diagnostic& d) { return d.kind == kind; });
  };
  if (any(DiagnosticKind::Usage)) return kUsage;
  if (any(DiagnosticKind::MemoryLimit) || any(DiagnosticKind::WorkerLimit)) return kLimit;
  return kProblem;
}

}  // namespace solar::cli

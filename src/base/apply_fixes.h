#pragma once
// Applies the fixes that diagnostics offer to the text they were found in.

#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace solar {

struct AppliedFix {
  Span span = {};
  std::string replacement = {};
  std::string message = {};  // of the diagnostic
};

struct FixedText {
  std::string text;
  std::vector<AppliedFix> applied = {};  // by position
};

/// Takes the first fix of each diagnostic that is sure enough (`Always`, or also `Maybe`), lies in
/// `source` and does not overlap one taken before it.
FixedText apply_fixes(const Source& source, const Diagnostics& diagnostics, bool also_maybe);

}  // namespace solar

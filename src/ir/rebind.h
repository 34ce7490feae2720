#pragma once
// Verifies a program again for other values of its free dims: what holds at the bound values only
// by coincidence comes to light.

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ast.h"
#include "ir/verify.h"

namespace solar::ir {

struct Rebinding {
  std::string dim;
  int64_t value = 0;          // instead of the bound one
  Diagnostics problems = {};  // empty: holds here too
};

/// One free dim at a time, at up to two other values that the `require`s admit. A dim that they pin
/// to its value is left out. The program must verify at `options`.
Result<std::vector<Rebinding>> rebind(const ast::File& file, const VerifyOptions& options = {});

/// The problems as warnings that say for which value they arise.
Diagnostics coincidences(const std::vector<Rebinding>& rebindings);

}  // namespace solar::ir

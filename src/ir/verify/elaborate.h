#pragma once
// The verifier's result with what the dims are known to satisfy: for verify(), for unification of a
// traced program's dims, and for `check --rebind`.

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/ast.h"
#include "ir/core.h"
#include "ir/dim_expr.h"
#include "ir/verify.h"

namespace solar::ir {

/// Two extents that a rule of the language requires to be equal; equal at the bound values.
struct DimEquation {
  DimExpr a = {};
  DimExpr b = {};
  Place span = {};
};

struct Elaboration {
  VerifiedProgram program;
  DimTable table = {};
  std::vector<DimEquation> equations = {};  // those that are not identities
};

Result<Elaboration> elaborate(const ast::File& file, const VerifyOptions& options);

}  // namespace solar::ir

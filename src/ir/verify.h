#pragma once
// ast::File -> VerifiedProgram: names resolved, dims bound, calls inlined, and every shape, type
// and subscript proven. All independent errors are reported, sorted by position.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ast.h"
#include "ir/core.h"

namespace solar::ir {

struct VerifyOptions {
  std::map<std::string, int64_t> bindings = {};  // free dims set to other values
};

/// The functions of the prelude are in scope; a function of the file with the same name hides it.
Result<VerifiedProgram> verify(const ast::File& file, const VerifyOptions& options = {});

/// Parses and verifies a text in memory, statement by statement.
Result<VerifiedProgram> verify_text(std::string text, const VerifyOptions& options = {},
                                    const std::string& name = "<text>");

/// The part of a program that computes `results`, which are defined in no body: fewer ports and
/// statements, the same tensors. What was proven of the whole holds for it.
VerifiedProgram part_of(const VerifiedProgram& program, const std::vector<TensorId>& results);

}  // namespace solar::ir

#pragma once
// Are two traces the same program up to dim bindings, and does the small one cover what the full
// one does? The heart of the `two-trace` method: what was run at small size then holds for the full
// one.

#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/core.h"

namespace solar::validate {

/// A value literal that differs between the traces (1/sqrt(d), 1/n): allowed if finite, nonzero and
/// of one sign.
struct DifferingLiteral {
  double full = 0;
  double small = 0;
};

struct Sameness {
  std::optional<std::string> difference = {};  // why they are not the same program
  std::vector<DifferingLiteral> literals = {};
};

/// Compares the unified programs: same operators, attributes, statements and derived dims, where
/// only the values of free dims and the constants' float literals differ.
Sameness compare_programs(const ir::ast::File& full, const ir::ast::File& small);

/// Why the small program does not cover the full one: a guard or index condition that is true
/// somewhere, or false somewhere, in one but not in the other.
std::optional<std::string> uncovered(const ir::Program& full, const ir::Program& small);

}  // namespace solar::validate

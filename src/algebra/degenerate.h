#pragma once
// What a reader of benchmark results must know about a program: that it does less than it seems to.

#include <string>
#include <vector>

#include "algebra/algebra.h"

namespace solar::algebra {

/// `kind`: constant-output (the same whatever the inputs are), ignored-input, ignored-parameter (no
/// output depends on it), collapsed-product (a matrix product or convolution of which only a sum or
/// mean is used, so that most of its work is not needed).
struct Degenerate {
  std::string kind;
  std::string tensor;
  std::string what;
  std::string at = {};
  std::optional<size_t> rewrite = {};  // that shows it, where one does
  friend bool operator==(const Degenerate&, const Degenerate&) = default;
};

/// Of a program and what was found of it. Only validated rewrites count.
std::vector<Degenerate> find_degenerate(const ir::VerifiedProgram& program,
                                        const Optimised& optimised);

}  // namespace solar::algebra

#pragma once
// Terms -> kernels: each product at its best order, and the sum of all.

#include <vector>

#include "algebra/terms.h"
#include "algebra/working.h"

namespace solar::algebra {

/// Statements that compute `output`, of which `targets` axes are the terms' first loops; new
/// tensors are added to `working`.
std::vector<ir::Statement> build(Working& working, ir::TensorId output, std::vector<Term> terms);

/// A kernel that fills a tensor with one value.
ir::Kernel fill(const ir::Program& program, ir::TensorId output, double value);

}  // namespace solar::algebra

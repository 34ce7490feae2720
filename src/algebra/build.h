#pragma once
// Terms -> kernels: each product at its best order, and the sum of all.

#include <vector>

#include "algebra/order.h"
#include "algebra/terms.h"
#include "algebra/working.h"

namespace solar::algebra {

/// Statements that compute `output`, whose axes are the terms' first loops, each term in its order;
/// new tensors are added to `working`.
std::vector<ir::Statement> build(Working& working, ir::TensorId output,
                                 const std::vector<Term>& terms, const std::vector<Order>& orders);

/// A kernel that fills a tensor with one value.
ir::Kernel fill(const ir::Program& program, ir::TensorId output, double value);

}  // namespace solar::algebra

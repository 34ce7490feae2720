#pragma once
// Sums of products of two expressions, as matrix products: both expressions are evaluated by strips
// into packed blocks, which a register-blocked loop multiplies.

#include "exec/contraction_plan.h"
#include "exec/kernel_run.h"

namespace solar::exec {

/// NotApplicable when the kernel is no such sum, is too small to gain, or holds infinities or NaNs
/// beside guards (a packed zero would turn them into NaNs). `even_if_slow` leaves out the second
/// reason, for tests.
KernelResult run_contraction(const Nest& nest, const RunContext& context,
                             bool even_if_slow = false);
KernelResult run_contraction(const ContractionPlan& plan, const RunContext& context);

}  // namespace solar::exec

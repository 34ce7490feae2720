#pragma once
// Sums of products through the BLAS library.

#include "exec/jit/gemm_plan.h"
#include "exec/kernel_run.h"

namespace solar::exec::native {

/// NotApplicable when memory is short, or infinities or NaNs stand beside guards (a packed zero
/// would turn them into NaNs).
KernelResult run_gemm(const GemmPlan& plan, const Nest& nest, const RunContext& context);

}  // namespace solar::exec::native

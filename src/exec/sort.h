#pragma once
// Sorting along an axis.

#include "exec/kernel_run.h"

namespace solar::exec {

/// Lines are shared among at most 4 threads, each with 16 bytes an element of a line. May throw
/// std::bad_alloc.
KernelStatus run_sort(const ir::Sort& sort, const DataRef& values, const DataRef& positions,
                      const DataRef& input, const RunContext& context);

}  // namespace solar::exec

#pragma once
// Distinct values, and the places of nonzero elements.

#include "exec/kernel_run.h"

namespace solar::exec {

struct CompactResult {
  KernelStatus status = KernelStatus::Done;
  int64_t found = 0;  // may exceed what `output` holds; then its content means nothing
};

/// Fills `output` (row-major), the rest with zeros. Unique takes 16 bytes an element of the input,
/// and may throw std::bad_alloc; of equal values (0 and -0) the first in row-major order is taken,
/// all NaN are one.
CompactResult run_compact(ir::Compact::Kind kind, const DataRef& output, const DataRef& input,
                          const RunContext& context);

}  // namespace solar::exec

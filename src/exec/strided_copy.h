#pragma once
// Copies of whole tensors between strided places.

#include "exec/kernel_run.h"

namespace solar::exec {

/// Copies the elements of `from`; `to` has the same type and shape.
KernelStatus copy_elements(const DataRef& to, const DataRef& from, const RunContext& context);

}  // namespace solar::exec

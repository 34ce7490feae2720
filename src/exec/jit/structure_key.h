#pragma once
// Everything about a nest that its compiled code depends on, as bytes: extents, strides,
// subscripts, guards, expressions, types. Not where its tensors lie and not the constants that are
// passed when it runs.

#include <string>

#include "exec/nest.h"

namespace solar::exec::native {

std::string structure_key(const Nest& nest);

}  // namespace solar::exec::native

#pragma once
// A program at many sizes of its free dims: traced and validated once, counted at each.

#include <vector>

#include "driver/pipeline.h"
#include "driver/sizes_list.h"
#include "report/sweep.h"

namespace solar::driver {

/// `options.bindings` is not used. All combinations of the sizes, the last dim fastest. A size at
/// which the program does not hold is a row with its error. Usage errors: an unknown dim, too many
/// combinations.
Result<report::Sweep> sweep(const AnalyzeOptions& options, const std::vector<DimSizes>& sizes,
                            const Environment& environment);

/// The same of what is loaded already.
Result<report::Sweep> sweep(const Loaded& loaded, const std::vector<arch::Machine>& machines,
                            const roofline::Policy& policy, const std::vector<DimSizes>& sizes,
                            const Environment& environment);

}  // namespace solar::driver

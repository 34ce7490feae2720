#pragma once
// How large a program's run is, and which runs that allows.

#include <string>
#include <vector>

#include "validate/run.h"

namespace solar::validate {

/// Points of a run, those of matrix products by their time.
int64_t weighted_points(const ir::VerifiedProgram& program);

/// The original holds its tensors in the worker, once as they are and once in float64.
int64_t predicted_peak(const ir::VerifiedProgram& program);

bool fits_full(const ir::VerifiedProgram& program, const Options& options);
/// Likewise, but for a program that takes a few times as long.
bool can_be_run(const ir::VerifiedProgram& program, const Options& options);

std::string predicted_text(const ir::VerifiedProgram& program);

/// Of a program that does not fit: what it takes, and which limit that exceeds.
Diagnostic too_large(const ir::VerifiedProgram& program, const Options& options);

/// Every distribution and several seeds where that is cheap; of a program that sorts none whose
/// elements are all equal.
std::vector<Run> runs_for(const ir::VerifiedProgram& program);

}  // namespace solar::validate

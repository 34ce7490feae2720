#pragma once
// Whether two programs compute the same, by running both. Private to algebra/.

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "ir/core.h"

namespace solar::algebra {

enum class Verdict : uint8_t { Same, Different, CannotRun };

/// `original` and `original_f64`, `rewritten_f64` (all floats f64) have the same ports and outputs.
/// Random inputs, `seeds` of them; in f64 the results must agree nearly to the last digits, and the
/// program as written must agree with them within its own rounding.
Verdict compare(const ir::VerifiedProgram& original, const ir::VerifiedProgram& original_f64,
                const ir::VerifiedProgram& rewritten_f64, int seeds,
                const std::atomic<bool>* cancel);

}  // namespace solar::algebra

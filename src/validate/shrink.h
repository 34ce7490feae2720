#pragma once
// Choosing small sizes: which integer constants of a source to replace, and by what, so that the
// program stays the same and its guards stay covered. Pure; tracing is the caller's.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontend/requests.h"

namespace solar::validate {

using Overrides = std::map<std::string, int64_t>;

/// Constants up to this value (kernel sizes, strides, numbers of layers) stay.
inline constexpr int64_t kSmallConstant = 8;

/// What becomes of a constant that is called a batch: at most 3, what becomes of any other,
/// nothing.
enum class Batch : uint8_t { Tiny, LikeOthers, Kept };

/// Overrides that halve each constant until it is at most `cap`, or make it a few of its steps.
/// Equal constants stay equal (tiny batches aside). `distinct`: constants of different value get
/// different small values where a nearby multiple allows it; `variant` chooses other values of the
/// same kind. Names in `kept` are left alone.
Overrides shrink(const std::vector<frontend::SourceConstant>& constants, int64_t cap, bool distinct,
                 int variant, const std::vector<std::string>& kept = {}, Batch batch = Batch::Tiny);

/// Overrides that divide each constant by one number, so that a multiple of another stays one.
Overrides divide(const std::vector<frontend::SourceConstant>& constants, int64_t divisor,
                 int variant, Batch batch = Batch::Tiny);

/// Whether a batch has the value of another constant, which may be no chance.
bool has_shared_batch(const std::vector<frontend::SourceConstant>& constants);

}  // namespace solar::validate

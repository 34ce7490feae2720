#pragma once
// Reads of values that go round a loop, where two of them may be one tensor. Private to einsum/.

#include <cstdint>
#include <vector>

#include "einsum/graph.h"
#include "einsum/program_index.h"

namespace solar::einsum {

/// Of the least bytes of an operator's reads, those that may be read as another tensor already: two
/// carried values that start as one tensor, or go on as one, or as a tensor that is read too. Of
/// such a set only the largest is sure to be read. Quadratic in the carried values read.
int64_t read_as_another(const ProgramIndex& index, const std::vector<Transfer>& reads);

}  // namespace solar::einsum

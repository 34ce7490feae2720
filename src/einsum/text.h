#pragma once
// A node as people write it: `p[b,s,n] = sum{k} x[b,s,k] * w[n,k]`, and counts as products of dims.

#include <string>

#include "einsum/kernel_reader.h"

namespace solar::einsum {

std::string einsum_text(const KernelReader& reader, const ir::Program& program);
std::string concat_text(const ir::Concat& concat, const ir::Program& program);
/// The number of points of the loop box in the program's dims, `B*H*S*S*D`; "" if some loop has no
/// dim text.
std::string box_formula(const ir::Kernel& kernel);

}  // namespace solar::einsum

#pragma once
// A node as people write it: `p[b,s,n] = sum{k} x[b,s,k] * w[n,k]`, and counts as products of dims.

#include <string>

#include "einsum/kernel_reader.h"

namespace solar::einsum {

/// In a loop's body every tensor made there has the step as its last subscript.
std::string einsum_text(const KernelReader& reader, const ProgramIndex& index);
std::string concat_text(const ir::Concat& concat, const ir::Program& program);
std::string sort_text(const ir::Sort& sort, const ir::Program& program);
std::string compact_text(const ir::Compact& compact, const ir::Program& program);
std::string opaque_text(const ir::Opaque& opaque, const ir::Program& program);
/// The number of points of the nominal box in the program's dims, `B*H*S*S*D`; "" if some loop has
/// no dim text.
std::string box_formula(const KernelReader& reader, const ProgramIndex& index);

}  // namespace solar::einsum

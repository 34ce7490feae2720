#pragma once
// A traced program has a fresh free dim for every size. Extents that the language's rules force to
// be equal are unified: equal dims merge, products and other expressions become derived dims, and
// what a literal fixes becomes that literal. Only structure decides, never that two values happen
// to be equal.

#include <cstdint>

#include "base/result.h"
#include "ir/ast.h"

namespace solar::ir {

/// What becomes of a dim that a literal fixes: that literal, or a free dim as before.
enum class Pinned : uint8_t { Literal, Free };

/// The same program with unified dims, named after the first input's axes where they come from it.
/// The program must verify. Cost: one verification; linear in the equations times the dims they
/// change.
Result<ast::File> unify_dims(const ast::File& file, Pinned pinned = Pinned::Literal);

}  // namespace solar::ir

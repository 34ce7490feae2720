#pragma once
// What copies and partial overwriting keep of what is known of values.

#include "einsum/prepare.h"

namespace solar::einsum {

/// The elements of the output of a piece that copies which may be something else than `special`.
Region moved(const ProgramIndex& index, const SpecialRegions& specials, const Piece& piece,
             Special special);

/// The elements that may be something else than `special` once a scatter has overwritten some of
/// its base. The scatter's pieces are prepared.
Region left_of_base(const ProgramIndex& index, const SpecialRegions& specials,
                    const ir::Scatter& scatter, const Statement& statement, Special special);

}  // namespace solar::einsum

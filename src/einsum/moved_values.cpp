#include "einsum/moved_values.h"

#include <algorithm>

namespace solar::einsum {

Region moved(const ProgramIndex& index, const SpecialRegions& specials, const Piece& piece,
             Special special) {
  const FoldedAccess& access = piece.uses.back().access;
  const std::vector<int64_t>& shape = index.shape(piece.output);
  const Region& region = specials.without(special, access.base);
  for (const Linear& subscript : access.subscripts) {
    // Where a slice starts decides what it sees of the zeros.
    if (piece.nest->reads_data(subscript) && !region.is_full())
      return image(*piece.nest, piece.domain, piece.target, shape);
  }
  const auto inside = memberships(*piece.nest, access.subscripts, region);
  return image(*piece.nest, solve(*piece.nest, inside), piece.target, shape);
}

Region left_of_base(const ProgramIndex& index, const SpecialRegions& specials,
                    const ir::Scatter& scatter, const Statement& statement, Special special) {
  const Piece& piece = statement.pieces.front();
  const std::vector<int64_t>& shape = index.shape(scatter.nest.output);
  const std::vector<bool>& by_data = statement.scatter->by_data;
  std::vector<Constraint> other = piece.guards;
  const auto required = statement.reader->required_for_other_than(special, scatter.nest.value);
  other.insert(other.end(), required.begin(), required.end());
  const Region written =
      image(*piece.nest, solve(*piece.nest, other), piece.target, shape, by_data);
  Region kept = moved(index, specials, statement.pieces.back(), special);
  const bool placed = std::none_of(by_data.begin(), by_data.end(), [](bool b) { return b; });
  if (placed && !statement.data_guarded)
    kept = subtract(kept, image(*piece.nest, piece.domain, piece.target, shape));
  return unite(written, kept);
}

}  // namespace solar::einsum

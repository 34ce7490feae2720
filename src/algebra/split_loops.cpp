// Loops that are two in one: k where only k // c and k % c occur, as a reshape leaves it. Apart,
// each factor has only the one that it needs.

#include <algorithm>

#include "algebra/terms.h"
#include "einsum/linear.h"

namespace solar::algebra {
namespace {

/// The divisor of k // c or k % c of a summed loop k, if c divides its extent.
struct Division {
  int32_t loop = -1;
  int64_t by = 0;
};

Division find_division(const Term& term) {
  for (size_t i = static_cast<size_t>(term.nest.loop_count()); i < term.nest.atoms().size(); ++i) {
    const ir::Atom& atom = term.nest.atoms()[i];
    const bool divides = atom.kind == ir::Atom::Kind::FloorDiv || atom.kind == ir::Atom::Kind::Mod;
    if (!divides || atom.operands[0].terms.size() != 1 || atom.operands[0].constant != 0) continue;
    const ir::Term& only = atom.operands[0].terms[0];
    if (only.coefficient != 1 || only.atom < term.targets || only.atom >= term.nest.loop_count())
      continue;
    const int64_t extent = term.nest.extent(only.atom);
    if (atom.divisor > 1 && atom.divisor < extent && extent % atom.divisor == 0)
      return {only.atom, atom.divisor};
  }
  return {};
}

}  // namespace

Term with_split_loops(Term term) {
  for (Division at = find_division(term);
       at.loop >= 0 && term.loops.size() < static_cast<size_t>(einsum::kMaximumLoops) / 2;
       at = find_division(term)) {
    Term out = term;
    TermLoop& outer = out.loops[static_cast<size_t>(at.loop)];
    const auto inner = static_cast<int32_t>(out.loops.size());
    outer.extent /= at.by;
    const TermLoop rest = {outer.name + "_", at.by};
    out.loops.push_back(rest);
    std::vector<int64_t> extents;
    for (const TermLoop& loop : out.loops) extents.push_back(loop.extent);
    out.nest = einsum::Nest(extents);
    std::vector<Linear> own;
    for (int32_t i = 0; i < term.nest.loop_count(); ++i) own.push_back(einsum::single(i));
    own[static_cast<size_t>(at.loop)] =
        einsum::add(einsum::scale(einsum::single(at.loop), at.by), einsum::single(inner));
    const std::vector<Linear> map = out.nest.import(term.nest.atoms(), own, {});
    for (ExprPtr& factor : out.factors) factor = moved(factor, out.nest, map);
    for (Guard& guard : out.guards) guard = out.nest.import(guard, map);
    if ((term.active & einsum::loop_bit(at.loop)) != 0) out.active |= einsum::loop_bit(inner);
    term = std::move(out);
  }
  return term;
}

}  // namespace solar::algebra

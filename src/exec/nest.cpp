#include "exec/nest.h"

#include <algorithm>
#include <optional>

#include "base/result.h"
#include "exec/limits.h"

namespace solar::exec {

using ir::Atom;
using ir::Guard;
using ir::Linear;
using ir::Term;

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t axis = extents.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * extents[axis];
  return strides;
}

void add_term(Linear& linear, int32_t atom, int64_t coefficient) {
  if (coefficient == 0) return;
  const auto place = std::lower_bound(linear.terms.begin(), linear.terms.end(), atom,
                                      [](const Term& term, int32_t a) { return term.atom < a; });
  if (place == linear.terms.end() || place->atom != atom) {
    linear.terms.insert(place, {atom, coefficient});
    return;
  }
  place->coefficient += coefficient;
  if (place->coefficient == 0) linear.terms.erase(place);
}

void add_scaled(Linear& linear, const Linear& other, int64_t factor) {
  linear.constant += other.constant * factor;
  for (const Term& term : other.terms) add_term(linear, term.atom, term.coefficient * factor);
}

namespace {

struct Interval {
  int64_t lowest = 0;
  int64_t highest = 0;
};

/// The values of a sum of loops; nothing when it has derived atoms or may not fit.
std::optional<Interval> interval_of(const Linear& linear, const std::vector<Atom>& atoms,
                                    const std::vector<int64_t>& extents) {
  Interval result = {linear.constant, linear.constant};
  for (const Term& term : linear.terms) {
    const auto atom = static_cast<size_t>(term.atom);
    if (atoms[atom].kind != Atom::Kind::Loop) return std::nullopt;
    int64_t reach = 0;
    int64_t& end = term.coefficient > 0 ? result.highest : result.lowest;
    if (__builtin_mul_overflow(term.coefficient, extents[atom] - 1, &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return std::nullopt;
    }
  }
  return result;
}

bool always_holds(const Guard& guard, const std::vector<Atom>& atoms,
                  const std::vector<int64_t>& extents) {
  const auto range = interval_of(guard.value, atoms, extents);
  if (!range) return false;
  switch (guard.kind) {
    case Guard::Kind::NonNegative:
      return range->lowest >= 0;
    case Guard::Kind::Zero:
      return range->lowest == 0 && range->highest == 0;
    case Guard::Kind::NonZero:
      return range->lowest > 0 || range->highest < 0;
  }
  return false;
}

/// Removes from `linear` one pair f * (X // D) + g * ((X // d) % m) with D = d * m and f = g * m,
/// adding g * (X // d).
bool join_quotient_and_remainder(Linear& linear, const std::vector<Atom>& atoms) {
  for (const Term& low : linear.terms) {
    const Atom& mod = atoms[static_cast<size_t>(low.atom)];
    if (mod.kind != Atom::Kind::Mod) continue;
    const Linear& inside = mod.operands[0];
    for (const Term& high : linear.terms) {
      const Atom& quotient = atoms[static_cast<size_t>(high.atom)];
      int64_t expected = 0;
      if (quotient.kind != Atom::Kind::FloorDiv ||
          __builtin_mul_overflow(low.coefficient, mod.divisor, &expected) ||
          expected != high.coefficient) {
        continue;
      }
      bool same = quotient.divisor == mod.divisor && quotient.operands[0] == inside;
      if (!same && inside.terms.size() == 1 && inside.constant == 0 &&
          inside.terms[0].coefficient == 1) {
        const Atom& inner = atoms[static_cast<size_t>(inside.terms[0].atom)];
        int64_t product = 0;
        same = inner.kind == Atom::Kind::FloorDiv && inner.operands[0] == quotient.operands[0] &&
               !__builtin_mul_overflow(inner.divisor, mod.divisor, &product) &&
               product == quotient.divisor;
      }
      if (!same) continue;
      const Term low_term = low, high_term = high;
      add_term(linear, low_term.atom, -low_term.coefficient);
      add_term(linear, high_term.atom, -high_term.coefficient);
      add_scaled(linear, inside, low_term.coefficient);
      return true;
    }
  }
  return false;
}

bool drop_trivial_division(Linear& linear, const std::vector<Atom>& atoms,
                           const std::vector<int64_t>& extents) {
  for (const Term& term : linear.terms) {
    const Atom& atom = atoms[static_cast<size_t>(term.atom)];
    if (atom.kind != Atom::Kind::FloorDiv && atom.kind != Atom::Kind::Mod) continue;
    const auto range = interval_of(atom.operands[0], atoms, extents);
    const bool inside = range && range->lowest >= 0 && range->highest < atom.divisor;
    if (!inside && atom.divisor != 1) continue;
    const Term removed = term;
    add_term(linear, removed.atom, -removed.coefficient);
    const bool keeps_operand = inside == (atom.kind == Atom::Kind::Mod);
    if (keeps_operand) add_scaled(linear, atom.operands[0], removed.coefficient);
    return true;
  }
  return false;
}

Linear position_of(const std::vector<Linear>& subscripts, const std::vector<int64_t>& strides) {
  Linear position;
  for (size_t axis = 0; axis < subscripts.size(); ++axis)
    add_scaled(position, subscripts[axis], strides[axis]);
  return position;
}

bool reads_data(const Linear& linear, const std::vector<Atom>& atoms) {
  return std::any_of(linear.terms.begin(), linear.terms.end(), [&](const Term& term) {
    const Atom& atom = atoms[static_cast<size_t>(term.atom)];
    if (atom.kind == Atom::Kind::DataRead) return true;
    const auto inside = [&](const Linear& operand) { return reads_data(operand, atoms); };
    return std::any_of(atom.operands.begin(), atom.operands.end(), inside) ||
           std::any_of(atom.conditions.begin(), atom.conditions.end(),
                       [&](const Guard& condition) { return inside(condition.value); });
  });
}

int64_t coefficient_of(const Linear& linear, int loop) {
  for (const Term& term : linear.terms) {
    if (term.atom == loop) return term.coefficient;
  }
  return 0;
}

/// Loops whose value is needed by itself, so that they cannot be merged.
uint64_t fixed_loops(const Nest& nest, const std::vector<uint64_t>& atom_loops) {
  uint64_t fixed = 0;
  for (const NestAccess& access : nest.accesses) {
    for (const Term& term : access.position.terms) {
      const auto atom = static_cast<size_t>(term.atom);
      if (nest.atoms[atom].kind != Atom::Kind::Loop) fixed |= atom_loops[atom];
    }
  }
  for (const Guard& guard : nest.guards) fixed |= loops_of(guard.value, atom_loops);
  for (const Linear& linear : nest.kernel->linears) fixed |= loops_of(linear, atom_loops);
  // An access whose subscripts may be clamped, axis by axis: in a select branch, by data, or
  // evaluated where a guard does not hold.
  uint64_t guarded = 0;
  for (const Guard& guard : nest.guards) guarded |= loops_of(guard.value, atom_loops);
  for (const NestAccess& access : nest.accesses) {
    uint64_t loops = 0;
    for (const Linear& subscript : access.subscripts) loops |= loops_of(subscript, atom_loops);
    if (access.conditional || access.data_dependent || (loops & guarded) != 0) fixed |= loops;
  }
  if (nest.ordered >= 0) fixed |= loop_bit(nest.ordered);
  fixed |= range_loops(nest);
  for (size_t loop = 0; loop < nest.ragged.size(); ++loop) {
    if (nest.ragged[loop]) fixed |= loop_bit(static_cast<int>(loop));
  }
  return fixed;
}

bool walk_as_one(const Nest& nest, int outer, int inner) {
  const auto o = static_cast<size_t>(outer), i = static_cast<size_t>(inner);
  const int64_t extent = nest.extents[i];
  if (nest.target[o] != nest.target[i]) return false;
  if (nest.output_strides[o] != extent * nest.output_strides[i]) return false;
  if (nest.kernel->second_output && nest.second_strides[o] != extent * nest.second_strides[i])
    return false;
  return std::all_of(nest.accesses.begin(), nest.accesses.end(), [&](const NestAccess& access) {
    return coefficient_of(access.position, outer) ==
           extent * coefficient_of(access.position, inner);
  });
}

void merge_loops(Nest& nest) {
  const auto count = static_cast<int>(nest.extents.size());
  const bool keeps_order = nest.kernel->reduction == ir::Reduction::ArgMax ||
                           nest.kernel->reduction == ir::Reduction::ArgMin;
  const uint64_t fixed = fixed_loops(nest, loops_of_atoms(nest.atoms));
  for (bool changed = true; changed;) {
    changed = false;
    for (int outer = 0; outer < count; ++outer) {
      for (int inner = 0; inner < count; ++inner) {
        const auto o = static_cast<size_t>(outer), i = static_cast<size_t>(inner);
        if (outer == inner || nest.extents[o] == 1 || nest.extents[i] == 1) continue;
        if (((fixed >> outer) & 1U) != 0 || ((fixed >> inner) & 1U) != 0) continue;
        if (keeps_order && !nest.target[o]) continue;
        if (!walk_as_one(nest, outer, inner)) continue;
        nest.extents[i] *= nest.extents[o];
        nest.extents[o] = 1;
        changed = true;
      }
    }
  }
}

}  // namespace

void simplify(Linear& linear, const std::vector<Atom>& atoms, const std::vector<int64_t>& extents) {
  while (join_quotient_and_remainder(linear, atoms) ||
         drop_trivial_division(linear, atoms, extents)) {
  }
}

std::vector<uint64_t> loops_of_atoms(const std::vector<Atom>& atoms) {
  std::vector<uint64_t> result(atoms.size(), 0);
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (atoms[i].kind == Atom::Kind::Loop) {
      result[i] = loop_bit(static_cast<int>(i));
      continue;
    }
    for (const Linear& operand : atoms[i].operands) result[i] |= loops_of(operand, result);
    for (const Guard& condition : atoms[i].conditions)
      result[i] |= loops_of(condition.value, result);
  }
  return result;
}

uint64_t loops_of(const Linear& linear, const std::vector<uint64_t>& atom_loops) {
  uint64_t result = 0;
  for (const Term& term : linear.terms) result |= atom_loops[static_cast<size_t>(term.atom)];
  return result;
}

uint64_t loops_of_node(const Nest& nest, int node, const std::vector<uint64_t>& atom_loops) {
  if (node < 0) return 0;
  // Nodes are in postorder: one pass over those before the root.
  std::vector<uint64_t> loops(static_cast<size_t>(node) + 1, 0);
  for (size_t i = 0; i < loops.size(); ++i) {
    const ir::ScalarNode& n = nest.kernel->nodes[i];
    for (const int32_t operand : {n.a, n.b, n.c}) {
      if (operand >= 0) loops[i] |= loops[static_cast<size_t>(operand)];
    }
    if (n.op == ir::ScalarOp::Index) {
      loops[i] |= loops_of(nest.kernel->linears[static_cast<size_t>(n.reference)], atom_loops);
    } else if (n.op == ir::ScalarOp::Load) {
      const NestAccess& access = nest.accesses[static_cast<size_t>(n.reference)];
      loops[i] |= loops_of(access.position, atom_loops);
      if (!access.conditional && !access.data_dependent) continue;
      for (const Linear& subscript : access.subscripts) loops[i] |= loops_of(subscript, atom_loops);
    }
  }
  return loops.back();
}

uint64_t range_loops(const Nest& nest) {
  uint64_t result = 0;
  if (!nest.has_ragged) return result;
  const auto atom_loops = loops_of_atoms(nest.atoms);
  for (const auto& range : nest.ragged) {
    if (range) result |= loops_of(range->begin, atom_loops) | loops_of(range->end, atom_loops);
  }
  return result;
}

namespace {

int32_t add_atom(Nest& nest, Atom::Kind kind, const Linear& operand, int64_t limit) {
  nest.atoms.push_back({.kind = kind, .operands = {operand, {.constant = limit}}});
  nest.atom_sources.emplace_back();
  return static_cast<int32_t>(nest.atoms.size()) - 1;
}

void add_ranges(Nest& nest) {
  const auto& loops = nest.kernel->loops;
  nest.ragged.resize(loops.size());
  for (size_t loop = 0; loop < loops.size(); ++loop) {
    if (!loops[loop].ragged) continue;
    nest.has_ragged = true;
    if (!nest.target[loop]) {
      nest.ragged[loop] = loops[loop].ragged;
      continue;
    }
    // variable - max(begin, 0) >= 0 and max(min(end, extent), 0) - 1 - variable >= 0
    const auto variable = static_cast<int32_t>(loop);
    const int32_t begin = add_atom(nest, Atom::Kind::Max, loops[loop].ragged->begin, 0);
    const int32_t low =
        add_atom(nest, Atom::Kind::Min, loops[loop].ragged->end, loops[loop].extent);
    const int32_t end = add_atom(nest, Atom::Kind::Max, {.terms = {{low, 1}}}, 0);
    nest.guards.push_back({Guard::Kind::NonNegative, {.terms = {{variable, 1}, {begin, -1}}}});
    nest.guards.push_back(
        {Guard::Kind::NonNegative, {.terms = {{variable, -1}, {end, 1}}, .constant = -1}});
  }
}

}  // namespace

Nest make_nest(const ir::Kernel& kernel, const FindData& find, const int64_t* steps,
               bool keep_loops) {
  SOLAR_CHECK(kernel.loops.size() <= kMostLoops, "check_limits has seen the program");
  Nest nest;
  nest.kernel = &kernel;
  nest.atoms = kernel.atoms;
  nest.steps = steps;
  for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
    nest.extents.push_back(kernel.loops[loop].extent);
    if (kernel.loops[loop].order != ir::Loop::Order::Any) nest.ordered = static_cast<int>(loop);
  }
  nest.target.assign(nest.extents.size(), false);
  nest.output_strides.assign(nest.extents.size(), 0);
  nest.second_strides.assign(nest.extents.size(), 0);
  nest.output = find(kernel.output);
  if (kernel.second_output) nest.second_output = find(*kernel.second_output);
  for (size_t axis = 0; axis < kernel.target_loops.size(); ++axis) {
    const auto loop = static_cast<size_t>(kernel.target_loops[axis]);
    nest.target[loop] = true;
    nest.output_strides[loop] = nest.output.strides[axis];
    if (kernel.second_output) nest.second_strides[loop] = nest.second_output.strides[axis];
  }
  for (const Atom& atom : kernel.atoms) {
    nest.atom_sources.push_back(atom.kind == Atom::Kind::DataRead ? find(atom.tensor) : DataRef{});
  }
  for (const ir::Access& access : kernel.accesses) {
    NestAccess joined;
    joined.from = find(access.tensor);
    joined.subscripts = access.subscripts;
    joined.position = position_of(access.subscripts, joined.from.strides);
    simplify(joined.position, nest.atoms, nest.extents);
    joined.conditional = access.conditional;
    joined.data_dependent =
        std::any_of(access.subscripts.begin(), access.subscripts.end(),
                    [&](const Linear& subscript) { return reads_data(subscript, nest.atoms); });
    nest.accesses.push_back(std::move(joined));
  }
  for (const Guard& guard : kernel.guards) {
    if (!always_holds(guard, nest.atoms, nest.extents)) nest.guards.push_back(guard);
  }
  add_ranges(nest);
  if (!keep_loops) merge_loops(nest);
  return nest;
}

void rebind(Nest& nest, const std::function<std::byte*(ir::TensorId)>& find) {
  nest.output.data = find(nest.output.tensor);
  if (nest.kernel->second_output) nest.second_output.data = find(nest.second_output.tensor);
  for (NestAccess& access : nest.accesses) access.from.data = find(access.from.tensor);
  for (size_t atom = 0; atom < nest.atoms.size(); ++atom) {
    if (nest.atoms[atom].kind != Atom::Kind::DataRead) continue;
    nest.atom_sources[atom].data = find(nest.atom_sources[atom].tensor);
  }
}

}  // namespace solar::exec

#include "exec/index_value.h"

#include <algorithm>

#include "base/checked.h"
#include "exec/lanes.h"

namespace solar::exec {
namespace {

using ir::Atom;
using ir::Guard;

bool holds(const Guard& guard, const IndexPoint& at, std::optional<Fault>& fault) {
  const int64_t value = index_value(guard.value, at, fault);
  switch (guard.kind) {
    case Guard::Kind::NonNegative:
      return value >= 0;
    case Guard::Kind::Zero:
      return value == 0;
    case Guard::Kind::NonZero:
      break;
  }
  return value != 0;
}

int64_t read(const DataRef& from, const Atom& atom, const IndexPoint& at,
             std::optional<Fault>& fault) {
  int64_t position = 0;
  for (size_t axis = 0; axis < atom.operands.size(); ++axis) {
    const int64_t subscript = index_value(atom.operands[axis], at, fault);
    if (subscript < 0 || subscript >= from.extents[axis]) {
      if (!fault) fault = {from.tensor, static_cast<int>(axis), subscript, from.extents[axis]};
      return 0;
    }
    position += subscript * from.strides[axis];
  }
  int64_t value = 0;
  load_strided(from.type, from.data, position, 0, 1, &value);
  return value;
}

int64_t atom_value(size_t index, const IndexPoint& at, std::optional<Fault>& fault) {
  const Atom& atom = at.atoms[index];
  const auto operand = [&](size_t i) { return index_value(atom.operands[i], at, fault); };
  switch (atom.kind) {
    case Atom::Kind::Loop:
      return at.loops[index];
    case Atom::Kind::Step:
      return at.steps[atom.step];
    case Atom::Kind::FloorDiv:
      return floor_div(operand(0), atom.divisor);
    case Atom::Kind::Mod:
      return floor_mod(operand(0), atom.divisor);
    case Atom::Kind::Min:
    case Atom::Kind::Max: {
      int64_t value = operand(0);
      for (size_t i = 1; i < atom.operands.size(); ++i) {
        value = atom.kind == Atom::Kind::Min ? std::min(value, operand(i))
                                             : std::max(value, operand(i));
      }
      return value;
    }
    case Atom::Kind::Select: {
      const bool taken = std::all_of(atom.conditions.begin(), atom.conditions.end(),
                                     [&](const Guard& guard) { return holds(guard, at, fault); });
      return operand(taken ? 0 : 1);
    }
    case Atom::Kind::DataRead:
      break;
  }
  return read(at.sources[index], atom, at, fault);
}

}  // namespace

int64_t index_value(const ir::Linear& linear, const IndexPoint& at, std::optional<Fault>& fault) {
  // Data may hold anything, so this may wrap; what it gives is then checked like any other value.
  auto value = static_cast<uint64_t>(linear.constant);
  for (const ir::Term& term : linear.terms) {
    value += static_cast<uint64_t>(term.coefficient) *
             static_cast<uint64_t>(atom_value(static_cast<size_t>(term.atom), at, fault));
  }
  return static_cast<int64_t>(value);
}

}  // namespace solar::exec

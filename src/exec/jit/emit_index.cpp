// Index values: sums of atoms, // % min max select, data reads, and the addresses of accesses.

#include <algorithm>

#include "base/checked.h"
#include "exec/jit/emit.h"

namespace solar::exec::native {

using ir::Atom;
using ir::Guard;
using ir::Linear;

namespace {
constexpr int64_t kFar = int64_t{1} << 60;
constexpr int64_t kNarrow = int64_t{1} << 31;
}  // namespace

std::optional<Emitter::Range> Emitter::range_of(const Linear& linear) const {
  Range result = {linear.constant, linear.constant};
  for (const ir::Term& term : linear.terms) {
    const auto& range = ranges_[static_cast<size_t>(term.atom)];
    if (!range) return std::nullopt;
    int64_t a = 0, b = 0;
    if (__builtin_mul_overflow(range->low, term.coefficient, &a) ||
        __builtin_mul_overflow(range->high, term.coefficient, &b) ||
        __builtin_add_overflow(result.low, std::min(a, b), &result.low) ||
        __builtin_add_overflow(result.high, std::max(a, b), &result.high)) {
      return std::nullopt;
    }
  }
  if (result.low < -kFar || result.high > kFar) return std::nullopt;
  return result;
}

std::optional<Emitter::Range> Emitter::range_of_atom(const Atom& atom) const {
  std::vector<Range> operands;
  for (const Linear& operand : atom.operands) {
    const auto range = range_of(operand);
    if (!range) return std::nullopt;
    operands.push_back(*range);
  }
  Range result = operands.empty() ? Range{} : operands[0];
  switch (atom.kind) {
    case Atom::Kind::FloorDiv:
      return Range{floor_div(result.low, atom.divisor), floor_div(result.high, atom.divisor)};
    case Atom::Kind::Mod:
      return Range{0, atom.divisor - 1};
    case Atom::Kind::Min:
      for (const Range& r : operands) {
        result = {std::min(result.low, r.low), std::min(result.high, r.high)};
      }
      return result;
    case Atom::Kind::Max:
      for (const Range& r : operands) {
        result = {std::max(result.low, r.low), std::max(result.high, r.high)};
      }
      return result;
    case Atom::Kind::Select:
      return Range{std::min(result.low, operands[1].low), std::max(result.high, operands[1].high)};
    default:
      return std::nullopt;
  }
}

void Emitter::find_ranges() {
  ranges_.resize(nest_.atoms.size());
  for (size_t i = 0; i < nest_.atoms.size(); ++i) {
    if (nest_.atoms[i].kind == Atom::Kind::Loop) {
      ranges_[i] = Range{0, nest_.extents[i] - 1};
    } else {
      ranges_[i] = range_of_atom(nest_.atoms[i]);
    }
  }
}

Value Emitter::linear(const Linear& linear) {
  Value sum = "0";
  for (const ir::Term& term : linear.terms) {
    sum = text_.add(sum, text_.scaled(atom(term.atom), term.coefficient));
  }
  return text_.add(sum, fmt::format("{}", linear.constant));
}

Value Emitter::atom(int32_t index) {
  const Atom& a = nest_.atoms[static_cast<size_t>(index)];
  if (a.kind == Atom::Kind::Loop) return loops_[static_cast<size_t>(index)];
  const auto at = static_cast<size_t>(index);
  if (!cache_.atoms[at].empty()) return cache_.atoms[at];
  Value value = "0";
  switch (a.kind) {
    case Atom::Kind::FloorDiv:
    case Atom::Kind::Mod:
      value = divided(a.operands[0], a.divisor, a.kind == Atom::Kind::Mod);
      break;
    case Atom::Kind::Min:
    case Atom::Kind::Max:
      value = linear(a.operands[0]);
      for (size_t i = 1; i < a.operands.size(); ++i) {
        const Value other = linear(a.operands[i]);
        value =
            a.kind == Atom::Kind::Min ? text_.minimum(value, other) : text_.maximum(value, other);
      }
      break;
    case Atom::Kind::Select: {
      const Value taken = all_hold(a.conditions);
      const Value yes = linear(a.operands[0]), no = linear(a.operands[1]);
      value = text_.let("select i1 {}, i64 {}, i64 {}", taken, yes, no);
      break;
    }
    case Atom::Kind::DataRead:
      value = data_read(index);
      break;
    case Atom::Kind::Step:
      return fmt::format("%t{}", index);
    default:
      unsupported();
  }
  cache_.atoms[at] = value;
  return value;
}

/// Flooring, by a literal. Narrow and unsigned where the operand's range allows it: 64-bit
/// divisions have no vector form.
Value Emitter::divided(const Linear& operand, int64_t divisor, bool remainder) {
  const Value value = linear(operand);
  if (const auto x = literal(value)) {
    return fmt::format("{}", remainder ? floor_mod(*x, divisor) : floor_div(*x, divisor));
  }
  const auto range = range_of(operand);
  if (!range || range->high - range->low >= kNarrow / 4 || divisor >= kNarrow / 4) {
    const Value quotient = floor_divided(value, divisor);
    return remainder ? text_.sub(value, text_.scaled(quotient, divisor)) : quotient;
  }
  const int64_t shift = range->low < 0 ? -floor_div(range->low, divisor) : 0;  // in divisors
  const Value positive = text_.add(value, fmt::format("{}", shift * divisor));
  if (range->high + shift * divisor >= kNarrow) {
    const Value wide = text_.let("{} i64 {}, {}", remainder ? "urem" : "udiv", positive, divisor);
    return remainder ? wide : text_.sub(wide, fmt::format("{}", shift));
  }
  const Value narrow = text_.let("trunc i64 {} to i32", positive);
  const Value result = text_.let("{} i32 {}, {}", remainder ? "urem" : "udiv", narrow, divisor);
  const Value wide = text_.let("zext i32 {} to i64", result);
  return remainder ? wide : text_.sub(wide, fmt::format("{}", shift));
}

Value Emitter::floor_divided(const Value& a, int64_t divisor) {
  if (divisor == 1) return a;
  if (const auto x = literal(a)) return fmt::format("{}", floor_div(*x, divisor));
  const Value quotient = text_.let("sdiv i64 {}, {}", a, divisor);
  const Value rest = text_.let("srem i64 {}, {}", a, divisor);
  const Value below = text_.let("icmp slt i64 {}, 0", rest);
  const Value one = text_.let("sext i1 {} to i64", below);
  return text_.add(quotient, one);
}

Value Emitter::holds(const Guard& guard) {
  const Value value = linear(guard.value);
  if (const auto x = literal(value)) {
    const bool yes = guard.kind == Guard::Kind::NonNegative ? *x >= 0
                     : guard.kind == Guard::Kind::Zero      ? *x == 0
                                                            : *x != 0;
    return yes ? "true" : "false";
  }
  const char* relation = guard.kind == Guard::Kind::NonNegative ? "sge"
                         : guard.kind == Guard::Kind::Zero      ? "eq"
                                                                : "ne";
  return text_.let("icmp {} i64 {}, 0", relation, value);
}

Value Emitter::all_hold(const std::vector<Guard>& guards) {
  Value all = "true";
  for (const Guard& guard : guards) {
    const Value one = holds(guard);
    all = all == "true" ? one : text_.let("and i1 {}, {}", all, one);
  }
  return all;
}

bool Emitter::reads_data(const Linear& linear) const {
  return std::any_of(linear.terms.begin(), linear.terms.end(), [&](const ir::Term& term) {
    const Atom& a = nest_.atoms[static_cast<size_t>(term.atom)];
    const auto reads = [&](const Linear& operand) { return reads_data(operand); };
    return a.kind == Atom::Kind::DataRead ||
           std::any_of(a.operands.begin(), a.operands.end(), reads) ||
           std::any_of(a.conditions.begin(), a.conditions.end(),
                       [&](const Guard& condition) { return reads(condition.value); });
  });
}

/// The position of an element whose subscripts may leave their axes: then it notes so and reads
/// element 0.
Value Emitter::checked_position(const std::vector<Linear>& subscripts, const DataRef& from) {
  Value position = "0";
  for (size_t axis = 0; axis < subscripts.size(); ++axis) {
    Value subscript = linear(subscripts[axis]);
    if (!literal(subscript) && reads_data(subscripts[axis])) {
      const Value inside = text_.let("icmp ult i64 {}, {}", subscript, from.extents[axis]);
      const Value wrong = text_.let("xor i1 {}, true", inside);
      const Value flag = text_.let("zext i1 {} to i32", wrong);
      const Value before = text_.let("load i32, ptr %bad");
      const Value now = text_.let("or i32 {}, {}", before, flag);
      text_.line("store i32 {}, ptr %bad", now);
      subscript = text_.let("select i1 {}, i64 {}, i64 0", inside, subscript);
    }
    position = text_.add(position, text_.scaled(subscript, from.strides[axis]));
  }
  return position;
}

Value Emitter::data_read(int32_t index) {
  const auto at = static_cast<size_t>(index);
  const DataRef& from = nest_.atom_sources[at];
  const Value position = checked_position(nest_.atoms[at].operands, from);
  const Value pointer = text_.let("getelementptr inbounds {}, ptr %d{}, i64 {}",
                                  stored_type(from.type), index, position);
  return load(from.type, pointer);
}

Value Emitter::address(int32_t index) {
  const NestAccess& access = nest_.accesses[static_cast<size_t>(index)];
  Value position;
  if (access.data_dependent) {
    position = checked_position(access.subscripts, access.from);
  } else {
    Linear moving = access.position;
    moving.constant = 0;
    position = text_.add(linear(moving), fmt::format("%c{}", index));
  }
  return text_.let("getelementptr inbounds {}, ptr %a{}, i64 {}", stored_type(access.from.type),
                   index, position);
}

}  // namespace solar::exec::native

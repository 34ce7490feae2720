// Running a strip: guards first, then the expressions at the lanes that are left.

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/checked.h"
#include "base/result.h"
#include "exec/strip.h"

namespace solar::exec {

using ir::Guard;
using ir::Term;

static_assert(std::endian::native == std::endian::little,
              "constants are read through narrower types");

StripRunner::StripRunner(const StripProgram& program)
    : program_(&program),
      list_(static_cast<size_t>(program.width)),
      next_list_(static_cast<size_t>(program.width)),
      scratch_(static_cast<size_t>(program.scratch_rows) * static_cast<size_t>(program.width)),
      values_(program.constants.size()),
      atom_values_(program.nest->atoms.size()),
      atom_rows_(program.nest->atoms.size()),
      bad_(program.nest->atoms.size()),
      row_(static_cast<size_t>(program.width)),
      positions_(static_cast<size_t>(program.width)),
      mask_(static_cast<size_t>(program.width)),
      part_(static_cast<size_t>(program.width)) {
  const auto reserve = [&](const std::vector<AtomStep>& steps) {
    for (const AtomStep& step : steps) {
      const auto atom = static_cast<size_t>(step.atom);
      if (step.varies) atom_rows_[atom].resize(static_cast<size_t>(program.width));
      if (step.checked) bad_[atom].resize(static_cast<size_t>(program.width));
    }
  };
  reserve(program.guard_atoms);
  reserve(program.code.atoms);
  if (program.data_guard) reserve(program.data_guard->atoms);
  for (size_t node = 0; node < values_.size(); ++node) {
    if (program.nest->kernel->nodes[node].op == ScalarOp::Constant)
      values_[node] = {&program.constants[node], true};
  }
}

namespace {

/// Data may hold anything, so index values may wrap; what comes of it is checked like any other.
int64_t add_wrapping(int64_t sum, int64_t coefficient, int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) +
                              static_cast<uint64_t>(coefficient) * static_cast<uint64_t>(value));
}

}  // namespace

int64_t StripRunner::base(const Slot& slot) const {
  int64_t value = slot.constant;
  for (const Term& term : slot.loops) value += term.coefficient * loops_[term.atom];
  for (const Term& term : slot.uniform_atoms)
    value = add_wrapping(value, term.coefficient, atom_values_[static_cast<size_t>(term.atom)]);
  return value;
}

int64_t StripRunner::at(const Slot& slot, int active) const {
  const int lane = lanes_.list != nullptr ? lanes_.list[active] : lanes_.begin + active;
  int64_t value = add_wrapping(base(slot), slot.lane, first_ + lane);
  for (const Term& term : slot.lane_atoms) {
    const auto& row = atom_rows_[static_cast<size_t>(term.atom)];
    value = add_wrapping(value, term.coefficient, row[static_cast<size_t>(active)]);
  }
  return value;
}

void StripRunner::fill_row(const Slot& slot, int64_t* out) const {
  const int64_t start = add_wrapping(base(slot), slot.lane, first_);
  if (lanes_.list != nullptr) {
    fill_listed(out, start, slot.lane, lanes_.list, lanes_.count);
  } else {
    fill_linear(out, add_wrapping(start, slot.lane, lanes_.begin), slot.lane, lanes_.count);
  }
  for (const Term& term : slot.lane_atoms) {
    exec::add_scaled(out, atom_rows_[static_cast<size_t>(term.atom)].data(), term.coefficient,
                     lanes_.count);
  }
}

namespace {

/// ceil(a / b), b > 0
int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

/// Types whose elements are rows as they lie in memory.
bool is_row(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::I64 ||
         type == ElementType::Bool;
}

}  // namespace

bool StripRunner::run(const int64_t* loops, int64_t first, int count) {
  loops_ = loops;
  first_ = first;
  lanes_ = {0, count, nullptr};
  pending_.clear();
  for (const AtomStep& step : program_->guard_atoms) {
    if (!step.varies) run_uniform_atom(step);
  }
  for (const Condition& guard : program_->uniform_guards) {
    if (!holds(guard)) {
      lanes_.count = 0;
      return true;
    }
  }
  if (!narrow_to_range(count)) return true;
  for (const AtomStep& step : program_->guard_atoms) {
    if (step.varies) run_lane_atom(step);
  }
  if (program_->checked_guards && !check_guard_atoms()) return false;
  if (!program_->lane_guards.empty()) {
    std::fill_n(mask_.begin(), lanes_.count, uint8_t{1});
    for (const Condition& guard : program_->lane_guards) condition_mask(guard, mask_.data());
    keep_lanes(mask_.data());
  }
  if (lanes_.count > 0 && program_->data_guard) {
    if (!run_code(*program_->data_guard)) return false;
    const Operand guard = values_[static_cast<size_t>(program_->data_guard->roots[0])];
    fill(ComputeType::Bool, mask_.data(), guard, lanes_.count);
    keep_lanes(mask_.data());
    pending_.clear();
  }
  return lanes_.count == 0 || run_code(program_->code);
}

bool StripRunner::narrow_to_range(int count) {
  int64_t lowest = 0, highest = count - 1;
  for (const Condition& guard : program_->range_guards) {
    // step * lane + start against 0, lane counted from the strip's first
    const int64_t step = guard.value.lane;
    const int64_t start = base(guard.value) + step * first_;
    if (guard.kind == Guard::Kind::NonNegative) {
      if (step > 0) {
        lowest = std::max(lowest, ceil_div(-start, step));
      } else {
        highest = std::min(highest, floor_div(start, -step));
      }
    } else if (start % step != 0) {
      highest = -1;
    } else {
      lowest = std::max(lowest, -start / step);
      highest = std::min(highest, -start / step);
    }
  }
  lanes_.begin = static_cast<int>(std::min<int64_t>(lowest, count));
  lanes_.count = static_cast<int>(std::max<int64_t>(highest - lowest + 1, 0));
  return lanes_.count > 0;
}

void StripRunner::keep_lanes(const uint8_t* mask) {
  int kept = 0;
  for (int j = 0; j < lanes_.count; ++j) {
    next_list_[static_cast<size_t>(kept)] =
        lanes_.list != nullptr ? lanes_.list[j] : lanes_.begin + j;
    kept += mask[j] != 0 ? 1 : 0;
  }
  if (kept == lanes_.count) return;
  std::swap(list_, next_list_);
  const bool contiguous = kept > 0 && list_[static_cast<size_t>(kept) - 1] - list_[0] == kept - 1;
  lanes_ = {contiguous ? list_[0] : 0, kept, contiguous ? nullptr : list_.data()};
}

bool StripRunner::run_code(const Code& code) {
  run_atoms(code.atoms);
  for (const Instruction& instruction : code.instructions) {
    Operand& value = values_[static_cast<size_t>(instruction.node)];
    void* out = scratch(instruction.scratch);
    const int count = instruction.uniform ? 1 : lanes_.count;
    const auto operand = [&](int32_t node) {
      return node < 0 ? Operand{} : values_[static_cast<size_t>(node)];
    };
    value = {out, instruction.uniform};
    switch (instruction.op) {
      case ScalarOp::Constant:
        break;
      case ScalarOp::Load:
        if (!run_load(instruction, code)) return false;
        break;
      case ScalarOp::Index: {
        const Slot& slot = program_->linears[static_cast<size_t>(instruction.reference)];
        if (instruction.uniform) {
          *static_cast<int64_t*>(out) = base(slot);
        } else {
          fill_row(slot, static_cast<int64_t*>(out));
        }
        break;
      }
      case ScalarOp::Prev: {
        const size_t width = bytes_of(instruction.result);
        if (lanes_.list != nullptr) {
          gather(instruction.result, out, lanes_.list, previous_, count);
        } else {
          value.data =
              static_cast<const char*>(previous_) + width * static_cast<size_t>(lanes_.begin);
        }
        break;
      }
      case ScalarOp::Cast:
        run_cast(instruction.type, instruction.element, operand(instruction.a).data, out, count);
        break;
      default:
        run_operation(instruction.op, instruction.type, operand(instruction.a),
                      operand(instruction.b), operand(instruction.c), out, count);
    }
  }
  return pending_.empty() || check_pending(code);
}

bool StripRunner::run_load(const Instruction& instruction, const Code& code) {
  const AccessPlan& plan = program_->accesses[static_cast<size_t>(instruction.reference)];
  const NestAccess& access = program_->nest->accesses[static_cast<size_t>(instruction.reference)];
  if (plan.guarded && !inside_by_ends(plan, access))
    return run_guarded_load(instruction, plan, code);
  const Slot& position = plan.position;
  void* out = scratch(instruction.scratch);
  if (instruction.uniform) {
    load_strided(access.from.type, access.from.data, base(position), 0, 1, out);
  } else if (position.lane_atoms.empty() && lanes_.list == nullptr) {
    const int64_t start = base(position) + position.lane * (first_ + lanes_.begin);
    if (position.lane == 1 && is_row(access.from.type)) {
      values_[static_cast<size_t>(instruction.node)].data =
          access.from.data + start * memory_bytes(access.from.type);
    } else {
      load_strided(access.from.type, access.from.data, start, position.lane, lanes_.count, out);
    }
  } else {
    fill_row(position, positions_.data());
    load_indexed(access.from.type, access.from.data, positions_.data(), lanes_.count, out);
  }
  return true;
}

bool StripRunner::inside_by_ends(const AccessPlan& plan, const NestAccess& access) const {
  if (!plan.checked_atoms.empty()) return false;
  for (size_t axis = 0; axis < plan.subscripts.size(); ++axis) {
    const Slot& subscript = plan.subscripts[axis];
    if (!subscript.lane_atoms.empty()) return false;
    const int64_t extent = access.from.extents[axis];
    for (const int end : {0, lanes_.count - 1}) {
      const int64_t value = at(subscript, end);
      if (value < 0 || value >= extent) return false;
    }
  }
  return true;
}

/// Fills `positions_` with clamped positions and `part_` with what left the tensor; true if
/// something did.
bool StripRunner::find_positions(const AccessPlan& plan, const NestAccess& access, size_t count) {
  std::fill_n(positions_.begin(), count, 0);
  std::fill_n(part_.begin(), count, uint8_t{0});
  for (size_t axis = 0; axis < plan.subscripts.size(); ++axis) {
    if (plan.subscripts[axis].varies()) {
      fill_row(plan.subscripts[axis], row_.data());
    } else {
      std::fill_n(row_.begin(), count, base(plan.subscripts[axis]));
    }
    for (size_t j = 0; j < count; ++j) {
      const int64_t clamped = std::clamp<int64_t>(row_[j], 0, access.from.extents[axis] - 1);
      part_[j] = static_cast<uint8_t>(part_[j] | (clamped != row_[j] ? 1 : 0));
      positions_[j] += clamped * access.from.strides[axis];
    }
  }
  for (const int32_t atom : plan.checked_atoms) {
    const auto& bad = bad_[static_cast<size_t>(atom)];
    const bool varies = !atom_rows_[static_cast<size_t>(atom)].empty();
    for (size_t j = 0; j < count; ++j)
      part_[j] = static_cast<uint8_t>(part_[j] | bad[varies ? j : 0]);
  }
  return std::memchr(part_.data(), 1, count) != nullptr;
}

bool StripRunner::run_guarded_load(const Instruction& instruction, const AccessPlan& plan,
                                   const Code& code) {
  const NestAccess& access = program_->nest->accesses[static_cast<size_t>(instruction.reference)];
  const auto count = static_cast<size_t>(instruction.uniform ? 1 : lanes_.count);
  const bool left = find_positions(plan, access, count);
  load_indexed(access.from.type, access.from.data, positions_.data(), static_cast<int>(count),
               scratch(instruction.scratch));
  if (!plan.must_hold || !left) return true;
  const auto end = part_.begin() + static_cast<std::ptrdiff_t>(count);
  const auto first_bad = std::find(part_.begin(), end, 1);
  if (!code.selects)
    return report(instruction.reference, static_cast<int>(first_bad - part_.begin()));
  pending_.emplace_back(instruction.node, std::vector<uint8_t>(part_.begin(), end));
  return true;
}

bool StripRunner::positions(int32_t index, int64_t* out) {
  const AccessPlan& plan = program_->accesses[static_cast<size_t>(index)];
  const NestAccess& access = program_->nest->accesses[static_cast<size_t>(index)];
  const auto count = static_cast<size_t>(lanes_.count);
  if (!plan.guarded || inside_by_ends(plan, access)) {
    fill_row(plan.position, out);
    return true;
  }
  const bool left = find_positions(plan, access, count);
  std::copy_n(positions_.begin(), count, out);
  if (!left) return true;
  const auto bad = std::find(part_.begin(), part_.begin() + lanes_.count, 1);
  return report(index, static_cast<int>(bad - part_.begin()));
}

}  // namespace solar::exec

// Derived index values of a strip: // % min max select and data reads, once or lane by lane.

#include <algorithm>

#include "base/checked.h"
#include "exec/strip.h"

namespace solar::exec {

using ir::Guard;

namespace {

bool meets(Guard::Kind kind, int64_t value) {
  switch (kind) {
    case Guard::Kind::NonNegative:
      return value >= 0;
    case Guard::Kind::Zero:
      return value == 0;
    case Guard::Kind::NonZero:
      return value != 0;
  }
  return false;
}

}  // namespace

bool StripRunner::holds(const Condition& condition) const {
  return meets(condition.kind, base(condition.value));
}

void StripRunner::condition_mask(const Condition& condition, uint8_t* mask) {
  fill_row(condition.value, row_.data());
  const int64_t* values = row_.data();
  const int count = lanes_.count;
  switch (condition.kind) {
    case Guard::Kind::NonNegative:
      for (int j = 0; j < count; ++j)
        mask[j] = static_cast<uint8_t>(mask[j] & (values[j] >= 0 ? 1 : 0));
      break;
    case Guard::Kind::Zero:
      for (int j = 0; j < count; ++j)
        mask[j] = static_cast<uint8_t>(mask[j] & (values[j] == 0 ? 1 : 0));
      break;
    case Guard::Kind::NonZero:
      for (int j = 0; j < count; ++j)
        mask[j] = static_cast<uint8_t>(mask[j] & (values[j] != 0 ? 1 : 0));
      break;
  }
}

void StripRunner::run_atoms(const std::vector<AtomStep>& steps) {
  for (const AtomStep& step : steps) {
    if (step.varies) {
      run_lane_atom(step);
    } else {
      run_uniform_atom(step);
    }
  }
}

void StripRunner::run_uniform_atom(const AtomStep& step) {
  const auto index = static_cast<size_t>(step.atom);
  const ir::Atom& atom = program_->nest->atoms[index];
  int64_t& value = atom_values_[index];
  switch (atom.kind) {
    case ir::Atom::Kind::Loop:
      break;
    case ir::Atom::Kind::Step:
      value = program_->nest->steps[atom.step];
      break;
    case ir::Atom::Kind::FloorDiv:
      value = floor_div(base(step.operands[0]), atom.divisor);
      break;
    case ir::Atom::Kind::Mod:
      value = floor_mod(base(step.operands[0]), atom.divisor);
      break;
    case ir::Atom::Kind::Min:
    case ir::Atom::Kind::Max:
      value = base(step.operands[0]);
      for (const Slot& operand : step.operands) {
        const int64_t other = base(operand);
        value = atom.kind == ir::Atom::Kind::Min ? std::min(value, other) : std::max(value, other);
      }
      break;
    case ir::Atom::Kind::Select: {
      const bool taken = std::all_of(step.conditions.begin(), step.conditions.end(),
                                     [&](const Condition& condition) { return holds(condition); });
      value = base(step.operands[taken ? 0 : 1]);
      break;
    }
    case ir::Atom::Kind::DataRead: {
      const DataRef& from = program_->nest->atom_sources[index];
      int64_t position = 0;
      bool bad = false;
      for (size_t axis = 0; axis < step.operands.size(); ++axis) {
        const int64_t wanted = base(step.operands[axis]);
        const int64_t clamped = std::clamp<int64_t>(wanted, 0, from.extents[axis] - 1);
        bad = bad || wanted != clamped;
        position += clamped * from.strides[axis];
      }
      if (step.checked) bad_[index][0] = bad ? 1 : 0;
      load_strided(from.type, from.data, position, 0, 1, &value);
      break;
    }
  }
}

void StripRunner::run_lane_atom(const AtomStep& step) {
  const auto index = static_cast<size_t>(step.atom);
  const ir::Atom& atom = program_->nest->atoms[index];
  int64_t* out = atom_rows_[index].data();
  const auto count = static_cast<size_t>(lanes_.count);
  switch (atom.kind) {
    case ir::Atom::Kind::Loop:
    case ir::Atom::Kind::Step:
      break;
    case ir::Atom::Kind::FloorDiv:
    case ir::Atom::Kind::Mod: {
      const Slot& operand = step.operands[0];
      const bool remainder = atom.kind == ir::Atom::Kind::Mod;
      if (operand.lane_atoms.empty() && lanes_.list == nullptr) {
        divide_linear(out, base(operand) + operand.lane * (first_ + lanes_.begin), operand.lane,
                      atom.divisor, remainder, lanes_.count);
      } else {
        fill_row(operand, out);
        divide(out, atom.divisor, remainder, lanes_.count);
      }
      break;
    }
    case ir::Atom::Kind::Min:
    case ir::Atom::Kind::Max:
      fill_row(step.operands[0], out);
      for (size_t i = 1; i < step.operands.size(); ++i) {
        fill_row(step.operands[i], row_.data());
        for (size_t j = 0; j < count; ++j) {
          out[j] = atom.kind == ir::Atom::Kind::Min ? std::min(out[j], row_[j])
                                                    : std::max(out[j], row_[j]);
        }
      }
      break;
    case ir::Atom::Kind::Select:
      std::fill_n(part_.begin(), count, uint8_t{1});
      for (const Condition& condition : step.conditions) condition_mask(condition, part_.data());
      fill_row(step.operands[0], out);
      fill_row(step.operands[1], row_.data());
      for (size_t j = 0; j < count; ++j) out[j] = part_[j] != 0 ? out[j] : row_[j];
      break;
    case ir::Atom::Kind::DataRead:
      run_data_read(step);
      break;
  }
}

void StripRunner::run_data_read(const AtomStep& step) {
  const auto index = static_cast<size_t>(step.atom);
  const DataRef& from = program_->nest->atom_sources[index];
  const auto count = static_cast<size_t>(lanes_.count);
  std::fill_n(positions_.begin(), count, 0);
  if (step.checked) std::fill_n(bad_[index].begin(), count, uint8_t{0});
  for (size_t axis = 0; axis < step.operands.size(); ++axis) {
    fill_row(step.operands[axis], row_.data());
    for (size_t j = 0; j < count; ++j) {
      const int64_t clamped = std::clamp<int64_t>(row_[j], 0, from.extents[axis] - 1);
      if (step.checked && clamped != row_[j]) bad_[index][j] = 1;
      positions_[j] += clamped * from.strides[axis];
    }
  }
  load_indexed(from.type, from.data, positions_.data(), lanes_.count, atom_rows_[index].data());
}

}  // namespace solar::exec

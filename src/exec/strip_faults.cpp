// Data-dependent subscripts that left their axis: whether that is an error, and what to report.

#include <algorithm>

#include "base/result.h"
#include "exec/strip.h"

namespace solar::exec {

/// An access that left its tensor is an error only where no select discards it.
bool StripRunner::check_pending(const Code& code) {
  const auto count = static_cast<size_t>(lanes_.count);
  const auto& nodes = program_->nest->kernel->nodes;
  std::vector<std::vector<uint8_t>> wanted(nodes.size(), std::vector<uint8_t>(count, 0));
  for (const int32_t root : code.roots) wanted[static_cast<size_t>(root)].assign(count, 1);
  for (size_t i = code.instructions.size(); i-- > 0;) {
    const Instruction& instruction = code.instructions[i];
    const auto& here = wanted[static_cast<size_t>(instruction.node)];
    for (const int32_t operand : {instruction.a, instruction.b, instruction.c}) {
      if (operand < 0) continue;
      auto& there = wanted[static_cast<size_t>(operand)];
      const bool branch = instruction.op == ScalarOp::Select && operand != instruction.a &&
                          instruction.b != instruction.c;
      const Operand condition = branch ? values_[static_cast<size_t>(instruction.a)] : Operand{};
      for (size_t j = 0; j < count; ++j) {
        const bool taken =
            !branch || (static_cast<const uint8_t*>(condition.data)[condition.uniform ? 0 : j] !=
                        0) == (operand == instruction.b);
        if (here[j] != 0 && taken) there[j] = 1;
      }
    }
  }
  for (const auto& [node, left] : pending_) {
    for (size_t j = 0; j < count; ++j) {
      if (wanted[static_cast<size_t>(node)][j] != 0 && left[left.size() == 1 ? 0 : j] != 0) {
        return report(nodes[static_cast<size_t>(node)].reference, static_cast<int>(j));
      }
    }
  }
  return true;
}

void StripRunner::look(const DataRef& from, const std::vector<Slot>& subscripts, int active) {
  for (size_t axis = 0; axis < subscripts.size() && !fault_; ++axis) {
    const int64_t value = at(subscripts[axis], active);
    if (value < 0 || value >= from.extents[axis]) {
      fault_ = Fault{from.tensor, static_cast<int>(axis), value, from.extents[axis]};
    }
  }
}

/// A guard that reads data at data is computed at every lane, so nothing discards its faults.
bool StripRunner::check_guard_atoms() {
  for (const AtomStep& step : program_->guard_atoms) {
    if (!step.checked) continue;
    const auto atom = static_cast<size_t>(step.atom);
    for (int j = 0; j < (step.varies ? lanes_.count : 1) && !fault_; ++j) {
      if (bad_[atom][static_cast<size_t>(j)] == 0) continue;
      look(program_->nest->atom_sources[atom], step.operands, j);
      SOLAR_CHECK(fault_.has_value(), "a subscript that left its axis is found again");
    }
  }
  return !fault_;
}

bool StripRunner::report(int32_t reference, int active) {
  const AccessPlan& plan = program_->accesses[static_cast<size_t>(reference)];
  for (const int32_t atom : plan.checked_atoms) {
    const auto look_at_step = [&](const AtomStep& step) {
      if (step.atom == atom)
        look(program_->nest->atom_sources[static_cast<size_t>(atom)], step.operands, active);
    };
    std::for_each(program_->code.atoms.begin(), program_->code.atoms.end(), look_at_step);
    if (program_->data_guard) {
      std::for_each(program_->data_guard->atoms.begin(), program_->data_guard->atoms.end(),
                    look_at_step);
    }
  }
  look(program_->nest->accesses[static_cast<size_t>(reference)].from, plan.subscripts, active);
  SOLAR_CHECK(fault_.has_value(), "a subscript that left its axis is found again");
  return false;
}

}  // namespace solar::exec

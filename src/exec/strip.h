#pragma once
// A kernel's scalar expressions compiled to bytecode over strips: up to kStripLanes consecutive
// values of one loop, the lane loop, with all other loops fixed. Positions and conditions that are
// affine in the lane loop cost nothing a lane; only // % min max select and data-dependent
// subscripts are computed lane by lane.

#include <optional>
#include <string>
#include <vector>

#include "exec/index_value.h"
#include "exec/lanes.h"
#include "exec/nest.h"

namespace solar::exec {

/// An index value: constant + loops * coefficients + derived atoms, split by what varies along the
/// lane loop.
struct Slot {
  int64_t constant = 0;
  int64_t lane = 0;
  std::vector<ir::Term> loops = {};
  std::vector<ir::Term> uniform_atoms = {};
  std::vector<ir::Term> lane_atoms = {};
  bool varies() const { return lane != 0 || !lane_atoms.empty(); }
};

struct Condition {
  ir::Guard::Kind kind = ir::Guard::Kind::NonNegative;
  Slot value = {};
};

/// A derived atom that is used. DataRead operands are clamped; with `checked` set, an operand
/// beyond its axis marks the atom bad there.
struct AtomStep {
  int32_t atom = 0;
  bool varies = false;
  std::vector<Slot> operands = {};
  std::vector<Condition> conditions = {};
  bool checked = false;
};

struct AccessPlan {
  Slot position = {};
  std::vector<Slot> subscripts = {};  // only of an access that may leave its tensor
  bool guarded = false;               // subscripts are to be looked at
  bool must_hold = false;  // data-dependent: leaving the tensor is an error where it is used
  std::vector<int32_t> checked_atoms = {};  // DataReads whose own subscripts may fail
};

struct Instruction {
  ScalarOp op = ScalarOp::Constant;
  ComputeType type = ComputeType::F32;  // of the operands
  ComputeType result = ComputeType::F32;
  ElementType element = ElementType::F32;    // a cast's target
  int32_t node = 0, a = -1, b = -1, c = -1;  // nodes
  int32_t reference = -1;
  int32_t scratch = -1;
  bool uniform = false;
};

/// The bytecode of some nodes. Each is the value of a ScalarNode of the kernel.
struct Code {
  std::vector<AtomStep> atoms = {};
  std::vector<Instruction> instructions = {};
  std::vector<int32_t> roots = {};
  bool selects = false;  // a select may discard what left its tensor: faults are judged at the end
};

struct StripSpec {
  int lane = -1;  // -1: a kernel without loops, or one lane at a time
  std::vector<ir::Guard> guards = {};
  int data_guard = -1;
  std::vector<int32_t> roots = {};
  int32_t position = -1;  // an access whose position is wanted too, or -1
  bool clamp_all =
      false;  // some guards are missing: any access may leave its tensor and must be clamped
};

struct StripProgram {
  const Nest* nest = nullptr;
  int lane = -1;
  int width = 1;  // the longest strip
  std::vector<Condition> uniform_guards = {}, range_guards = {}, lane_guards = {};
  std::vector<AtomStep> guard_atoms = {};
  bool checked_guards = false;  // some of these read data at data
  std::optional<Code> data_guard = {};
  Code code = {};
  std::vector<AccessPlan> accesses = {};
  std::vector<Slot> linears = {};
  std::vector<int64_t> constants = {};  // 8 bytes a node, of the node's compute type
  int scratch_rows = 0;
};

StripProgram compile_strip(const Nest& nest, const StripSpec& spec);

/// The lanes at which the guards hold, relative to the strip's first: begin .. begin+count-1, or
/// `list`.
struct Lanes {
  int begin = 0;
  int count = 0;
  const int32_t* list = nullptr;
};

/// Runs one StripProgram; holds its rows. One per thread.
class StripRunner {
 public:
  explicit StripRunner(const StripProgram& program);

  /// Evaluates the strip first .. first+count-1 of the lane loop; `loops` has the other loops'
  /// values. False: stopped by fault().
  bool run(const int64_t* loops, int64_t first, int count);

  const Lanes& lanes() const { return lanes_; }
  /// The value of root `i` at the active lanes, in their order.
  Operand root(size_t i) const { return values_[static_cast<size_t>(program_->code.roots[i])]; }
  const Fault& fault() const { return *fault_; }

  /// After run(): where StripSpec::position lies at each active lane. False: fault().
  bool positions(int32_t access, int64_t* out);

  /// The row that Prev reads, one value a lane of the strip.
  void set_previous(const void* row) { previous_ = row; }

 private:
  int64_t base(const Slot& slot) const;
  int64_t at(const Slot& slot, int active) const;  // the value at an active lane
  void fill_row(const Slot& slot, int64_t* out) const;
  bool holds(const Condition& condition) const;
  void run_atoms(const std::vector<AtomStep>& steps);
  void run_uniform_atom(const AtomStep& step);
  void run_lane_atom(const AtomStep& step);
  void run_data_read(const AtomStep& step);
  void condition_mask(const Condition& condition, uint8_t* mask);
  bool narrow_to_range(int count);
  void keep_lanes(const uint8_t* mask);
  bool run_code(const Code& code);
  bool run_load(const Instruction& instruction, const Code& code);
  bool run_guarded_load(const Instruction& instruction, const AccessPlan& plan, const Code& code);
  bool inside_by_ends(const AccessPlan& plan, const NestAccess& access) const;
  bool report(int32_t reference, int active);
  void look(const DataRef& from, const std::vector<Slot>& subscripts, int active);
  bool check_guard_atoms();
  bool find_positions(const AccessPlan& plan, const NestAccess& access, size_t count);
  bool check_pending(const Code& code);
  void* scratch(int32_t row) {
    return scratch_.data() + static_cast<size_t>(row) * static_cast<size_t>(program_->width);
  }

  const StripProgram* program_;
  const int64_t* loops_ = nullptr;
  int64_t first_ = 0;
  Lanes lanes_ = {};
  std::vector<int32_t> list_, next_list_;
  std::vector<int64_t> scratch_;
  std::vector<Operand> values_;                  // per node
  std::vector<int64_t> atom_values_;             // uniform atoms
  std::vector<std::vector<int64_t>> atom_rows_;  // lane atoms
  std::vector<std::vector<uint8_t>> bad_;        // per checked atom, a row
  std::vector<int64_t> row_, positions_;
  std::vector<uint8_t> mask_, part_;
  std::vector<std::pair<int32_t, std::vector<uint8_t>>>
      pending_;  // (node, lanes that left the tensor)
  const void* previous_ = nullptr;
  std::optional<Fault> fault_ = {};
};

}  // namespace solar::exec

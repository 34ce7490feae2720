#include <algorithm>
#include <bit>

#include "base/result.h"
#include "exec/strip.h"

namespace solar::exec {
namespace {

using ir::Atom;
using ir::Guard;
using ir::Linear;
using ir::ScalarNode;
using ir::Term;

class Compiler {
 public:
  Compiler(const Nest& nest, const StripSpec& spec) : nest_(nest), spec_(spec) {
    const auto loops = loops_of_atoms(nest.atoms);
    for (const uint64_t atom : loops)
      varies_.push_back(spec.lane >= 0 && ((atom >> spec.lane) & 1U) != 0);
  }

  StripProgram compile() {
    program_.nest = &nest_;
    program_.lane = spec_.lane;
    if (spec_.lane >= 0) {
      const int64_t extent = nest_.extents[static_cast<size_t>(spec_.lane)];
      program_.width = static_cast<int>(std::min<int64_t>(extent, kStripLanes));
    }
    for (const Linear& linear : nest_.kernel->linears) program_.linears.push_back(slot(linear));
    for (const NestAccess& access : nest_.accesses) program_.accesses.push_back(plan(access));
    std::vector<bool> needed(nest_.atoms.size(), false);
    for (const Guard& guard : spec_.guards) {
      need(guard.value, needed);
      Condition condition = {guard.kind, slot(guard.value)};
      if (!condition.value.varies()) {
        program_.uniform_guards.push_back(std::move(condition));
      } else if (condition.value.lane_atoms.empty() && guard.kind != Guard::Kind::NonZero) {
        program_.range_guards.push_back(std::move(condition));
      } else {
        program_.lane_guards.push_back(std::move(condition));
      }
    }
    program_.guard_atoms = steps(needed);
    program_.checked_guards = std::any_of(program_.guard_atoms.begin(), program_.guard_atoms.end(),
                                          [](const AtomStep& step) { return step.checked; });
    load_constants();
    if (spec_.data_guard >= 0) program_.data_guard = code({spec_.data_guard});
    program_.code = code(spec_.roots, spec_.position);
    return std::move(program_);
  }

 private:
  Slot slot(const Linear& linear) const {
    Slot result;
    result.constant = linear.constant;
    for (const Term& term : linear.terms) {
      const auto atom = static_cast<size_t>(term.atom);
      if (nest_.atoms[atom].kind != Atom::Kind::Loop) {
        (varies_[atom] ? result.lane_atoms : result.uniform_atoms).push_back(term);
      } else if (term.atom == spec_.lane) {
        result.lane = term.coefficient;
      } else if (nest_.extents[atom] > 1) {
        result.loops.push_back(term);
      }
    }
    return result;
  }

  AccessPlan plan(const NestAccess& access) const {
    AccessPlan result;
    result.position = slot(access.position);
    result.guarded = access.conditional || access.data_dependent || spec_.clamp_all;
    result.must_hold = access.data_dependent;
    if (!result.guarded) return result;
    std::vector<bool> needed(nest_.atoms.size(), false);
    for (const Linear& subscript : access.subscripts) {
      result.subscripts.push_back(slot(subscript));
      need(subscript, needed);
    }
    for (size_t atom = 0; atom < needed.size(); ++atom) {
      if (needed[atom] && checked(nest_.atoms[atom]))
        result.checked_atoms.push_back(static_cast<int32_t>(atom));
    }
    return result;
  }

  /// Marks the derived atoms that `linear` needs.
  void need(const Linear& linear, std::vector<bool>& needed) const {
    for (const Term& term : linear.terms) {
      const auto index = static_cast<size_t>(term.atom);
      const Atom& atom = nest_.atoms[index];
      if (atom.kind == Atom::Kind::Loop || needed[index]) continue;
      needed[index] = true;
      for (const Linear& operand : atom.operands) need(operand, needed);
      for (const Guard& condition : atom.conditions) need(condition.value, needed);
    }
  }

  bool has_data_read(const Linear& linear) const {
    std::vector<bool> needed(nest_.atoms.size(), false);
    need(linear, needed);
    for (size_t atom = 0; atom < needed.size(); ++atom) {
      if (needed[atom] && nest_.atoms[atom].kind == Atom::Kind::DataRead) return true;
    }
    return false;
  }

  bool checked(const Atom& atom) const {
    return atom.kind == Atom::Kind::DataRead &&
           std::any_of(atom.operands.begin(), atom.operands.end(),
                       [&](const Linear& operand) { return has_data_read(operand); });
  }

  std::vector<AtomStep> steps(const std::vector<bool>& needed) const {
    std::vector<AtomStep> result;
    for (size_t index = 0; index < needed.size(); ++index) {
      if (!needed[index]) continue;
      const Atom& atom = nest_.atoms[index];
      AtomStep step;
      step.atom = static_cast<int32_t>(index);
      step.varies = varies_[index];
      for (const Linear& operand : atom.operands) step.operands.push_back(slot(operand));
      for (const Guard& condition : atom.conditions)
        step.conditions.push_back({condition.kind, slot(condition.value)});
      step.checked = checked(atom);
      result.push_back(std::move(step));
    }
    return result;
  }

  void load_constants() {
    const auto& nodes = nest_.kernel->nodes;
    program_.constants.assign(nodes.size(), 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op != ScalarOp::Constant) continue;
      switch (ir::compute_type(nodes[i].type)) {
        case ComputeType::F32:
          program_.constants[i] = std::bit_cast<int32_t>(static_cast<float>(nodes[i].constant));
          break;
        case ComputeType::F64:
          program_.constants[i] = std::bit_cast<int64_t>(nodes[i].constant);
          break;
        case ComputeType::I64:
          program_.constants[i] = nodes[i].integer;
          break;
        case ComputeType::Bool:
          program_.constants[i] = nodes[i].integer != 0 ? 1 : 0;
          break;
      }
    }
  }

  /// The node whose row is the value of `node`: casts that change nothing are passed over.
  int32_t source(int32_t node) const {
    const auto& nodes = nest_.kernel->nodes;
    while (node >= 0 && nodes[static_cast<size_t>(node)].op == ScalarOp::Cast) {
      const ScalarNode& cast = nodes[static_cast<size_t>(node)];
      const bool keeps = cast.type == ElementType::F32 || cast.type == ElementType::F64 ||
                         cast.type == ElementType::I64 || cast.type == ElementType::Bool;
      const ElementType from = nodes[static_cast<size_t>(cast.a)].type;
      if (!keeps || ir::compute_type(from) != ir::compute_type(cast.type)) break;
      node = cast.a;
    }
    return node;
  }

  /// Everything that loading from the access needs.
  void need(int32_t access, std::vector<bool>& needed) const {
    need(nest_.accesses[static_cast<size_t>(access)].position, needed);
    if (!program_.accesses[static_cast<size_t>(access)].guarded) return;
    for (const Linear& subscript : nest_.accesses[static_cast<size_t>(access)].subscripts)
      need(subscript, needed);
  }

  Code code(const std::vector<int32_t>& roots, int32_t position = -1) {
    Code result;
    for (const int32_t root : roots) result.roots.push_back(source(root));
    const auto& nodes = nest_.kernel->nodes;
    std::vector<bool> live(nodes.size(), false);
    std::vector<bool> needed(nest_.atoms.size(), false);
    for (const int32_t root : result.roots) live[static_cast<size_t>(root)] = true;
    for (size_t i = nodes.size(); i-- > 0;) {
      if (!live[i]) continue;
      for (const int32_t operand : {source(nodes[i].a), source(nodes[i].b), source(nodes[i].c)}) {
        if (operand >= 0) live[static_cast<size_t>(operand)] = true;
      }
    }
    uniform_.resize(nodes.size());
    bool may_fail = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      uniform_[i] = is_uniform(nodes[i]);
      if (!live[i] || nodes[i].op == ScalarOp::Constant) continue;
      if (nodes[i].op == ScalarOp::Index) {
        need(nest_.kernel->linears[static_cast<size_t>(nodes[i].reference)], needed);
      } else if (nodes[i].op == ScalarOp::Load) {
        need(nodes[i].reference, needed);
        may_fail =
            may_fail || nest_.accesses[static_cast<size_t>(nodes[i].reference)].data_dependent;
      }
      result.selects = result.selects || nodes[i].op == ScalarOp::Select;
      result.instructions.push_back(instruction(static_cast<int32_t>(i)));
    }
    if (position >= 0) need(position, needed);
    result.atoms = steps(needed);
    assign_rows(result, may_fail && result.selects);
    return result;
  }

  bool is_uniform(const ScalarNode& node) const {
    switch (node.op) {
      case ScalarOp::Constant:
        return true;
      case ScalarOp::Prev:
        return false;
      case ScalarOp::Index:
        return !program_.linears[static_cast<size_t>(node.reference)].varies();
      case ScalarOp::Load: {
        const AccessPlan& plan = program_.accesses[static_cast<size_t>(node.reference)];
        return !plan.position.varies() &&
               std::none_of(plan.subscripts.begin(), plan.subscripts.end(),
                            [](const Slot& slot) { return slot.varies(); });
      }
      default:
        break;
    }
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0 && !uniform_[static_cast<size_t>(operand)]) return false;
    }
    return true;
  }

  Instruction instruction(int32_t index) const {
    const auto& nodes = nest_.kernel->nodes;
    const ScalarNode& node = nodes[static_cast<size_t>(index)];
    Instruction result;
    result.op = node.op;
    result.node = index;
    result.a = source(node.a);
    result.b = source(node.b);
    result.c = source(node.c);
    result.reference = node.reference;
    result.element = node.type;
    result.result = ir::compute_type(node.type);
    const int32_t typed = node.op == ScalarOp::Select ? node.b : node.a;
    result.type =
        typed >= 0 ? ir::compute_type(nodes[static_cast<size_t>(typed)].type) : result.result;
    result.uniform = uniform_[static_cast<size_t>(index)];
    return result;
  }

  /// Gives every instruction a row of scratch, reused after the last use unless rows must stay.
  void assign_rows(Code& code, bool keeps_rows) {
    std::vector<size_t> last_use(nest_.kernel->nodes.size(), 0);
    for (size_t i = 0; i < code.instructions.size(); ++i) {
      for (const int32_t operand :
           {code.instructions[i].a, code.instructions[i].b, code.instructions[i].c}) {
        if (operand >= 0) last_use[static_cast<size_t>(operand)] = i;
      }
    }
    for (const int32_t root : code.roots) last_use[static_cast<size_t>(root)] = SIZE_MAX;
    std::vector<int32_t> row_of(nest_.kernel->nodes.size(), -1), free_rows;
    int32_t rows = 0;
    for (size_t i = 0; i < code.instructions.size(); ++i) {
      Instruction& instruction = code.instructions[i];
      if (free_rows.empty()) free_rows.push_back(rows++);
      instruction.scratch = free_rows.back();
      free_rows.pop_back();
      row_of[static_cast<size_t>(instruction.node)] = instruction.scratch;
      if (keeps_rows) continue;
      for (const int32_t operand : {instruction.a, instruction.b, instruction.c}) {
        if (operand < 0 || last_use[static_cast<size_t>(operand)] != i) continue;
        int32_t& row = row_of[static_cast<size_t>(operand)];
        if (row >= 0) free_rows.push_back(row);
        row = -1;
      }
    }
    program_.scratch_rows = std::max(program_.scratch_rows, static_cast<int>(rows));
  }

  const Nest& nest_;
  const StripSpec& spec_;
  std::vector<bool> varies_;
  std::vector<bool> uniform_;
  StripProgram program_;
};

}  // namespace

StripProgram compile_strip(const Nest& nest, const StripSpec& spec) {
  return Compiler(nest, spec).compile();
}

}  // namespace solar::exec

#include "einsum/kernel_reader.h"

#include <algorithm>

namespace solar::einsum {

namespace {

using ir::ScalarNode;
using ir::ScalarOp;

constexpr int kMaximumVisits = 100'000;
constexpr int64_t kMaximumTree = 4096;

std::vector<int64_t> extents_of(const ProgramIndex& index, const ir::Kernel& kernel,
                                const std::vector<int32_t>& steps) {
  std::vector<int64_t> extents;
  for (const ir::Loop& loop : kernel.loops) extents.push_back(loop.extent);
  for (const int64_t extent : index.extents(steps)) extents.push_back(extent);
  return extents;
}

// Whose operands are not needed where the value is surely zero: in a product one factor decides.
bool may_vanish(ScalarOp op) {
  switch (op) {
    case ScalarOp::Mul:
    case ScalarOp::Div:
    case ScalarOp::And:
    case ScalarOp::Exp:
    case ScalarOp::Sigmoid:
      return true;
    default:
      return false;
  }
}

}  // namespace

KernelReader::KernelReader(const ProgramIndex& index, const ir::Kernel& kernel,
                           const std::vector<int32_t>& loops, const SpecialRegions& specials,
                           std::span<const Linear> targets)
    : kernel_(&kernel),
      loops_(&loops),
      specials_(&specials),
      nest_(extents_of(index, kernel, loops)) {
  std::vector<Linear> own;
  std::vector<Linear> steps;
  for (int32_t loop = 0; loop < nest_.loop_count(); ++loop) {
    (own.size() < kernel.loops.size() ? own : steps).push_back(single(loop));
  }
  const std::vector<Linear> map =
      nest_.import(kernel.atoms, own, index.step_values(loops, steps), [&](Nest& nest, Atom atom) {
        atom.operands = index.with_steps(atom.tensor, std::move(atom.operands), steps);
        return index.fold_data_read(nest, std::move(atom));
      });
  for (const ir::Access& access : kernel.accesses) {
    std::vector<Linear> subscripts;
    for (const Linear& subscript : access.subscripts)
      subscripts.push_back(nest_.import(subscript, map));
    plain_.push_back(subscripts);
    subscripts = index.with_steps(access.tensor, std::move(subscripts), steps);
    folded_.push_back(index.fold(nest_, access.tensor, std::move(subscripts)));
  }
  for (const Linear& linear : kernel.linears) linears_.push_back(nest_.import(linear, map));
  for (const Guard& guard : kernel.guards) guards_.push_back(nest_.import(guard, map));
  for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
    const auto& ragged = kernel.loops[loop].ragged;
    if (!ragged) continue;
    const Linear variable = single(static_cast<int32_t>(loop));
    const Linear last = add(nest_.import(ragged->end, map), constant(-1));
    ragged_guards_.push_back(
        {Guard::Kind::NonNegative, subtract(variable, nest_.import(ragged->begin, map))});
    ragged_guards_.push_back({Guard::Kind::NonNegative, subtract(last, variable)});
  }
  for (const int32_t loop : kernel.target_loops) target_.push_back(single(loop));
  for (const Linear& target : targets) target_.push_back(nest_.import(target, map));
  for (const Linear& step : steps) target_.push_back(step);
  for (const Linear& subscript : target_) {
    for (const ir::Term& term : subscript.terms) {
      if (!nest_.reads_data(single(term.atom))) target_mask_ |= nest_.support(term.atom);
    }
  }
  // Shared subexpressions can make a tree of exponential size.
  std::vector<int64_t> sizes;
  for (const ScalarNode& node : kernel.nodes) {
    int64_t size = 1;
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0)
        size = std::min(kMaximumTree + 1, size + sizes[static_cast<size_t>(operand)]);
    }
    sizes.push_back(size);
    small_.push_back(size <= kMaximumTree);
  }
}

std::optional<Linear> KernelReader::as_linear(int32_t id) const {
  if (!small_[static_cast<size_t>(id)]) return std::nullopt;
  const ScalarNode& n = node(id);
  switch (n.op) {
    case ScalarOp::Index:
      if (nest_.reads_data(linear(n.reference))) return std::nullopt;
      return linear(n.reference);
    case ScalarOp::Constant:
      if (!ir::is_integer(n.type)) return std::nullopt;
      return constant(n.integer);
    case ScalarOp::Cast:
      if (!ir::is_integer(n.type) || !ir::is_integer(node(n.a).type)) return std::nullopt;
      return as_linear(n.a);
    case ScalarOp::Neg:
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul: {
      if (!ir::is_integer(n.type)) return std::nullopt;
      const auto a = as_linear(n.a);
      if (!a) return std::nullopt;
      if (n.op == ScalarOp::Neg) return scale(*a, -1);
      const auto b = as_linear(n.b);
      if (!b) return std::nullopt;
      if (n.op == ScalarOp::Add) return add(*a, *b);
      if (n.op == ScalarOp::Sub) return subtract(*a, *b);
      if (a->terms.empty()) return scale(*b, a->constant);
      if (b->terms.empty()) return scale(*a, b->constant);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

void data_uses(const Nest& nest, const Linear& value, const std::vector<Constraint>& when,
               std::vector<Use>& uses) {
  if (!nest.reads_data(value)) return;
  std::vector<bool> needed(nest.atoms().size(), false);
  nest.collect_derived(value, needed);
  for (size_t i = 0; i < needed.size(); ++i) {
    const Atom& atom = nest.atoms()[i];
    if (needed[i] && atom.kind == Atom::Kind::DataRead)
      uses.push_back({{atom.tensor, atom.operands}, when});
  }
}

struct KernelReader::Visit {
  Uses uses = {};
  std::vector<bool> visited = {};  // nodes met under no condition
  int conditional_visits = 0;
  int data_choices = 0;  // branches chosen by data that we are in
};

void KernelReader::visit(int32_t id, const std::vector<Constraint>& when, Visit& state,
                         bool in_product) const {
  if (id < 0) return;
  if (when.empty() && state.data_choices == 0) {
    if (state.visited[static_cast<size_t>(id)]) return;
    state.visited[static_cast<size_t>(id)] = true;
  } else if (++state.conditional_visits > kMaximumVisits) {
    state.uses.left_out = true;
    return;
  }
  const ScalarNode& n = node(id);
  if (!in_product && may_vanish(n.op)) {
    std::vector<Constraint> inside = required_for_other_than(Special::Zero, id);
    state.uses.zero_factors = state.uses.zero_factors || !inside.empty();
    if (!inside.empty() && specials_->zero_factors) {
      inside.insert(inside.begin(), when.begin(), when.end());
      return visit(id, inside, state, true);
    }
  }
  if (n.op == ScalarOp::Load) {
    const FoldedAccess& access = folded(n.reference);
    state.uses.all.push_back({access, when, n.reference, state.data_choices > 0});
    for (const Linear& subscript : access.subscripts)
      data_uses(nest_, subscript, when, state.uses.all);
  }
  if (n.op == ScalarOp::Index) data_uses(nest_, linear(n.reference), when, state.uses.all);
  const bool product = (n.op == ScalarOp::Mul || n.op == ScalarOp::And) && in_product;
  visit(n.a, when, state, product || (keeps_zero(n.op) && in_product));
  if (n.op != ScalarOp::Select) {
    visit(n.b, when, state, product);
    visit(n.c, when, state);
    return;
  }
  const auto branch = [&](int32_t operand, bool positive) {
    const Conditions found = conditions(n.a, positive);
    std::vector<Constraint> inside = when;
    inside.insert(inside.end(), found.all.begin(), found.all.end());
    if (!found.exact) ++state.data_choices;
    visit(operand, inside, state);
    if (!found.exact) --state.data_choices;
  };
  branch(n.b, true);
  branch(n.c, false);
}

Uses KernelReader::uses(int32_t node, bool not_zero) const {
  Visit state;
  state.visited.assign(kernel_->nodes.size(), false);
  visit(node, {}, state, not_zero);
  // A read that always happens makes the conditional ones of the same elements superfluous.
  Uses result{{}, state.uses.left_out, state.uses.zero_factors};
  const auto& all = state.uses.all;
  for (const Use& use : all) {
    const bool known = std::any_of(result.all.begin(), result.all.end(), [&](const Use& other) {
      return other.access == use.access && other.when == use.when;
    });
    const bool always = std::any_of(all.begin(), all.end(), [&](const Use& other) {
      return other.when.empty() && !other.chosen && other.access == use.access &&
             (!use.when.empty() || use.chosen);
    });
    if (!known && !always) result.all.push_back(use);
  }
  return result;
}

}  // namespace solar::einsum

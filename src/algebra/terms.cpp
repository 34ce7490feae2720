#include "algebra/terms.h"

#include <algorithm>
#include <cmath>

#include "einsum/linear.h"

namespace solar::algebra {
namespace {

using ir::ScalarOp;

constexpr size_t kMaximumTerms = 16;
constexpr size_t kMaximumFactors = 12;
constexpr size_t kMaximumLoops = 30;
constexpr size_t kMaximumNodes = 120;
constexpr int kMaximumSteps = 64;
constexpr int kMaximumDepth = 40;

bool is_real(ir::ElementType type) { return ir::is_float(type); }

/// Only what import() turns into an expression of loops.
bool plain_atoms(const std::vector<ir::Atom>& atoms) {
  return std::none_of(atoms.begin(), atoms.end(), [](const ir::Atom& atom) {
    return atom.kind == ir::Atom::Kind::DataRead || atom.kind == ir::Atom::Kind::Step;
  });
}

std::vector<bool> target_mask(const ir::Kernel& kernel) {
  std::vector<bool> mask(kernel.loops.size(), false);
  for (const int32_t loop : kernel.target_loops) mask[static_cast<size_t>(loop)] = true;
  return mask;
}

ExprPtr constant_expr(ir::ElementType type, double value) {
  Expr expr;
  expr.type = type;
  expr.constant = value;
  return std::make_shared<const Expr>(std::move(expr));
}

ExprPtr reciprocal(const ExprPtr& of) {
  Expr expr;
  expr.op = ScalarOp::Div;
  expr.type = of->type;
  expr.a = constant_expr(of->type, 1);
  expr.b = of;
  return std::make_shared<const Expr>(std::move(expr));
}

bool is_zero(const ir::Kernel& kernel, int32_t id) {
  const ir::ScalarNode& node = kernel.nodes[static_cast<size_t>(id)];
  return node.op == ScalarOp::Constant && is_real(node.type) && node.constant == 0;
}

/// The term with more loops.
Term widened(const Term& term, const std::vector<TermLoop>& more) {
  Term out = term;
  out.loops.insert(out.loops.end(), more.begin(), more.end());
  std::vector<int64_t> extents;
  for (const TermLoop& loop : out.loops) extents.push_back(loop.extent);
  out.nest = einsum::Nest(extents);
  std::vector<Linear> own;
  for (int32_t i = 0; i < term.nest.loop_count(); ++i) own.push_back(einsum::single(i));
  const std::vector<Linear> map = out.nest.import(term.nest.atoms(), own, {});
  for (ExprPtr& factor : out.factors) factor = moved(factor, out.nest, map);
  for (Guard& guard : out.guards) guard = out.nest.import(guard, map);
  for (size_t i = term.loops.size(); i < out.loops.size(); ++i)
    out.active |= einsum::loop_bit(static_cast<int32_t>(i));
  return out;
}

}  // namespace

ExprPtr moved(const ExprPtr& expr, const einsum::Nest& nest, const std::vector<Linear>& map) {
  if (expr == nullptr) return nullptr;
  Expr copy = *expr;
  copy.index = nest.import(copy.index, map);
  for (Linear& subscript : copy.subscripts) subscript = nest.import(subscript, map);
  copy.a = moved(copy.a, nest, map);
  copy.b = moved(copy.b, nest, map);
  copy.c = moved(copy.c, nest, map);
  return std::make_shared<const Expr>(std::move(copy));
}

bool is_unit_reduction(const ir::Kernel& kernel) {
  const bool reduces =
      kernel.reduction == ir::Reduction::Sum || kernel.reduction == ir::Reduction::Product ||
      kernel.reduction == ir::Reduction::Max || kernel.reduction == ir::Reduction::Min;
  if (!reduces || kernel.init >= 0 || !kernel.guards.empty() || kernel.data_guard >= 0)
    return false;
  const std::vector<bool> targets = target_mask(kernel);
  for (size_t i = 0; i < kernel.loops.size(); ++i) {
    if (!targets[i] && (kernel.loops[i].extent != 1 || kernel.loops[i].ragged)) return false;
  }
  return true;
}

LoopMask support(const einsum::Nest& nest, const Expr& expr) {
  LoopMask mask = nest.support(expr.index);
  for (const Linear& subscript : expr.subscripts) mask |= nest.support(subscript);
  for (const ExprPtr& child : {expr.a, expr.b, expr.c}) {
    if (child != nullptr) mask |= support(nest, *child);
  }
  return mask;
}

bool Expander::eligible(const ir::Kernel& kernel) const {
  const bool form = kernel.reduction == ir::Reduction::None ||
                    kernel.reduction == ir::Reduction::Sum || is_unit_reduction(kernel);
  if (!form || kernel.indexed || kernel.data_guard >= 0 || kernel.second_output) return false;
  if (!is_real(working_.tensor(kernel.output).type)) return false;
  if (kernel.nodes.size() > kMaximumNodes || kernel.loops.size() > kMaximumLoops) return false;
  if (!plain_atoms(kernel.atoms)) return false;
  for (const ir::Loop& loop : kernel.loops) {
    if (loop.order != ir::Loop::Order::Any || loop.ragged) return false;
  }
  for (const ir::ScalarNode& node : kernel.nodes) {
    if (node.op == ScalarOp::Prev) return false;
  }
  // A guarded value that is 0 elsewhere is a term with guards.
  if (kernel.otherwise >= 0) return is_zero(kernel, kernel.otherwise) && kernel.init < 0;
  return kernel.reduction == ir::Reduction::Sum || kernel.guards.empty();
}

/// A sum is below the linear part of its value.
bool Expander::reaches_sum(ir::TensorId id, int depth) const {
  if (reaches_.empty()) reaches_.assign(working_.program().tensors.size(), -1);
  if (ir::index(id) >= reaches_.size() || depth > kMaximumDepth) return false;
  int8_t& known = reaches_[ir::index(id)];
  if (known >= 0) return known != 0;
  known = 0;
  if (const ir::View* view = working_.view(id)) {
    const bool found = reaches_sum(view->input, depth + 1);
    return (reaches_[ir::index(id)] = found) != 0;
  }
  const ir::Kernel* kernel = working_.kernel(id);
  if (kernel == nullptr || !eligible(*kernel)) return false;
  if (kernel->reduction == ir::Reduction::Sum && !is_unit_reduction(*kernel)) {
    known = 1;
    return true;
  }
  // Through sums, products and casts only: what else there is hides its operands.
  std::vector<int32_t> open = {kernel->value};
  bool found = false;
  for (size_t steps = 0; !open.empty() && !found && steps < 4 * kMaximumNodes; ++steps) {
    const ir::ScalarNode node = kernel->nodes[static_cast<size_t>(open.back())];
    open.pop_back();
    switch (node.op) {
      case ScalarOp::Load:
        found =
            reaches_sum(kernel->accesses[static_cast<size_t>(node.reference)].tensor, depth + 1);
        break;
      case ScalarOp::Add:
      case ScalarOp::Sub:
      case ScalarOp::Mul:
        open.push_back(node.b);
        open.push_back(node.a);
        break;
      case ScalarOp::Div:
      case ScalarOp::Neg:
      case ScalarOp::Cast:
        open.push_back(node.a);
        break;
      default:
        break;
    }
  }
  return (reaches_[ir::index(id)] = found) != 0;
}

ExprPtr Expander::load(const ir::Access& access, std::vector<Linear> subscripts,
                       ir::ElementType type, einsum::Nest& nest) const {
  ir::TensorId tensor = access.tensor;
  for (;;) {
    const ir::View* view = working_.view(tensor);
    if (view == nullptr || !plain_atoms(view->atoms)) break;
    const std::vector<Linear> map = nest.import(view->atoms, subscripts, {});
    std::vector<Linear> next;
    for (const Linear& subscript : view->subscripts) next.push_back(nest.import(subscript, map));
    subscripts = std::move(next);
    tensor = view->input;
  }
  Expr expr;
  expr.op = ScalarOp::Load;
  expr.type = type;
  expr.tensor = tensor;
  expr.subscripts = std::move(subscripts);
  expr.conditional = access.conditional;
  expr.fixed = working_.fixed(tensor);
  return std::make_shared<const Expr>(std::move(expr));
}

ExprPtr Expander::to_expr(const ir::Kernel& kernel, int32_t id, einsum::Nest& nest,
                          const std::vector<Linear>& map, std::vector<ExprPtr>& known) const {
  if (id < 0) return nullptr;
  ExprPtr& slot = known[static_cast<size_t>(id)];
  if (slot != nullptr) return slot;
  const ir::ScalarNode& node = kernel.nodes[static_cast<size_t>(id)];
  if (node.op == ScalarOp::Load) {
    const ir::Access& access = kernel.accesses[static_cast<size_t>(node.reference)];
    std::vector<Linear> subscripts;
    for (const Linear& subscript : access.subscripts)
      subscripts.push_back(nest.import(subscript, map));
    return slot = load(access, std::move(subscripts), node.type, nest);
  }
  Expr expr;
  expr.op = node.op;
  expr.type = node.type;
  expr.constant = node.constant;
  expr.integer = node.integer;
  if (node.op == ScalarOp::Index)
    expr.index = nest.import(kernel.linears[static_cast<size_t>(node.reference)], map);
  expr.a = to_expr(kernel, node.a, nest, map, known);
  expr.b = to_expr(kernel, node.b, nest, map, known);
  expr.c = to_expr(kernel, node.c, nest, map, known);
  return slot = std::make_shared<const Expr>(std::move(expr));
}

std::optional<std::vector<Expander::Monomial>> Expander::polynomial(const ExprPtr& expr) const {
  using Polynomial = std::vector<Monomial>;
  if (!is_real(expr->type)) return std::nullopt;
  const auto scaled = [](Polynomial p, double by) {
    for (Monomial& m : p) m.coefficient *= by;
    return p;
  };
  const auto product = [](const Polynomial& x, const Polynomial& y) -> std::optional<Polynomial> {
    if (x.size() * y.size() > kMaximumTerms) return std::nullopt;
    Polynomial out;
    for (const Monomial& a : x) {
      for (const Monomial& b : y) {
        Monomial m{a.coefficient * b.coefficient, a.factors};
        m.factors.insert(m.factors.end(), b.factors.begin(), b.factors.end());
        if (m.factors.size() > kMaximumFactors) return std::nullopt;
        out.push_back(std::move(m));
      }
    }
    return out;
  };
  const Polynomial whole = {{1, {expr}}};
  switch (expr->op) {
    case ScalarOp::Constant:
      if (!std::isfinite(expr->constant)) return std::nullopt;
      return Polynomial{{expr->constant, {}}};
    case ScalarOp::Neg: {
      auto a = polynomial(expr->a);
      return a ? std::optional(scaled(std::move(*a), -1)) : std::nullopt;
    }
    case ScalarOp::Cast:
      return is_real(expr->a->type) ? polynomial(expr->a) : whole;
    case ScalarOp::Add:
    case ScalarOp::Sub: {
      auto a = polynomial(expr->a);
      auto b = polynomial(expr->b);
      if (!a || !b) return std::nullopt;
      if (a->size() + b->size() > kMaximumTerms) return whole;
      if (expr->op == ScalarOp::Sub) b = scaled(std::move(*b), -1);
      a->insert(a->end(), b->begin(), b->end());
      return a;
    }
    case ScalarOp::Mul: {
      const auto a = polynomial(expr->a);
      const auto b = polynomial(expr->b);
      if (!a || !b) return std::nullopt;
      auto both = product(*a, *b);
      return both ? both : whole;
    }
    case ScalarOp::Div: {
      const auto a = polynomial(expr->a);
      const auto b = polynomial(expr->b);
      if (!a || !b) return std::nullopt;
      if (b->size() == 1 && (*b)[0].factors.empty()) {
        const double by = (*b)[0].coefficient;
        return by == 0 ? std::nullopt : std::optional(scaled(*a, 1 / by));
      }
      auto both = product(*a, {{1, {reciprocal(expr->b)}}});
      return both ? both : whole;
    }
    default:
      return whole;
  }
}

std::optional<std::vector<Term>> Expander::start(const ir::Kernel& kernel, int32_t value,
                                                 bool all_targets) const {
  if (!eligible(kernel)) return std::nullopt;
  Term term;
  const std::vector<bool> targets = target_mask(kernel);
  std::vector<Linear> map(kernel.loops.size());
  const auto add = [&](size_t loop) {
    const ir::Loop& from = kernel.loops[loop];
    if (from.extent == 1) {
      map[loop] = einsum::constant(0);
    } else {
      map[loop] = einsum::single(static_cast<int32_t>(term.loops.size()));
    }
    term.loops.push_back({from.name, from.extent});
  };
  for (const int32_t loop : kernel.target_loops) add(static_cast<size_t>(loop));
  term.targets = static_cast<int32_t>(term.loops.size());
  for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
    if (targets[loop]) continue;
    if (kernel.loops[loop].extent == 1) {
      map[loop] = einsum::constant(0);
    } else {
      add(loop);
    }
  }
  if (all_targets) term.targets = static_cast<int32_t>(term.loops.size());
  std::vector<int64_t> extents;
  for (const TermLoop& loop : term.loops) extents.push_back(loop.extent);
  for (size_t i = 0; i < term.loops.size(); ++i)
    term.active |= einsum::loop_bit(static_cast<int32_t>(i));
  term.nest = einsum::Nest(extents);
  map = term.nest.import(kernel.atoms, map, {});
  std::vector<ExprPtr> known(kernel.nodes.size());
  const auto monomials = polynomial(to_expr(kernel, value, term.nest, map, known));
  if (!monomials || monomials->size() > kMaximumTerms) return std::nullopt;
  if (!all_targets) {
    for (const Guard& guard : kernel.guards) term.guards.push_back(term.nest.import(guard, map));
  }
  std::optional<std::vector<Monomial>> initial = std::vector<Monomial>{};
  if (kernel.init >= 0 && !all_targets)
    initial = polynomial(to_expr(kernel, kernel.init, term.nest, map, known));
  if (!initial) return std::nullopt;
  std::vector<Term> terms;
  for (const Monomial& m : *monomials) {
    Term one = term;
    one.coefficient = m.coefficient;
    one.factors = m.factors;
    terms.push_back(std::move(one));
  }
  for (const Monomial& m : *initial) {
    Term one = term;
    one.guards.clear();
    one.active = 0;
    for (int32_t i = 0; i < one.targets; ++i) one.active |= einsum::loop_bit(i);
    one.coefficient = m.coefficient;
    one.factors = m.factors;
    terms.push_back(std::move(one));
  }
  return terms;
}

bool Expander::substitute(const Term& term, size_t factor, const ir::Kernel& producer,
                          std::vector<Term>& out) const {
  const std::vector<bool> targets = target_mask(producer);
  std::vector<TermLoop> more;
  std::vector<Linear> map(producer.loops.size());
  for (size_t loop = 0; loop < producer.loops.size(); ++loop) {
    if (targets[loop]) continue;
    const ir::Loop& from = producer.loops[loop];
    if (from.extent == 1) {
      map[loop] = einsum::constant(0);
      continue;
    }
    map[loop] = einsum::single(static_cast<int32_t>(term.loops.size() + more.size()));
    more.push_back({from.name, from.extent});
  }
  if (term.loops.size() + more.size() > kMaximumLoops) return false;
  Term base = widened(term, more);
  const std::vector<Linear> subscripts = base.factors[factor]->subscripts;
  base.factors.erase(base.factors.begin() + static_cast<std::ptrdiff_t>(factor));
  for (size_t axis = 0; axis < producer.target_loops.size(); ++axis)
    map[static_cast<size_t>(producer.target_loops[axis])] = subscripts[axis];
  map = base.nest.import(producer.atoms, map, {});
  std::vector<ExprPtr> known(producer.nodes.size());
  const auto monomials = polynomial(to_expr(producer, producer.value, base.nest, map, known));
  if (!monomials) return false;
  std::vector<Guard> guards;
  for (const Guard& guard : producer.guards) guards.push_back(base.nest.import(guard, map));
  const auto add = [&](const Monomial& m, bool initial) {
    Term one = base;
    one.coefficient *= m.coefficient;
    one.factors.insert(one.factors.end(), m.factors.begin(), m.factors.end());
    if (initial) {
      one.active = term.active;
    } else {
      one.guards.insert(one.guards.end(), guards.begin(), guards.end());
    }
    const bool fits = one.factors.size() <= kMaximumFactors;
    out.push_back(std::move(one));
    return fits;
  };
  for (const Monomial& m : *monomials) {
    if (!add(m, false)) return false;
  }
  if (producer.init >= 0) {
    const auto initial = polynomial(to_expr(producer, producer.init, base.nest, map, known));
    if (!initial) return false;
    for (const Monomial& m : *initial) {
      if (!add(m, true)) return false;
    }
  }
  return true;
}

bool Expander::leads_only_to(ir::TensorId id, ir::TensorId root, int depth) const {
  if (working_.leaves(id) || depth > kMaximumDepth) return false;
  const std::vector<ir::TensorId>& readers = working_.readers(id);
  return std::all_of(readers.begin(), readers.end(), [&](ir::TensorId reader) {
    if (reader == root) return true;
    const ir::Kernel* kernel = working_.kernel(reader);
    const bool passes = working_.view(reader) != nullptr || (kernel && eligible(*kernel));
    return passes && leads_only_to(reader, root, depth + 1);
  });
}

std::optional<Expanded> Expander::run(std::vector<Term> terms, ir::TensorId root,
                                      const Expansion& how) const {
  const int32_t block = working_.place(root).block;
  Expanded result;
  for (int steps = 0; steps < kMaximumSteps; ++steps) {
    bool changed = false;
    for (size_t t = 0; t < terms.size() && !changed; ++t) {
      for (size_t f = 0; f < terms[t].factors.size() && !changed; ++f) {
        const Expr& factor = *terms[t].factors[f];
        if (factor.op != ScalarOp::Load || factor.conditional) continue;
        const ir::Kernel* producer = working_.kernel(factor.tensor);
        if (producer == nullptr || !eligible(*producer)) continue;
        if (working_.place(factor.tensor).block != block) continue;
        const bool sum = producer->reduction == ir::Reduction::Sum && !is_unit_reduction(*producer);
        if (sum && (how.pointwise_only || result.sums >= how.sums)) continue;
        if (sum && how.unshared && !leads_only_to(factor.tensor, root, 0)) continue;
        if (!how.pointwise_only && !sum && !reaches_sum(factor.tensor, 0)) continue;
        if (!how.pointwise_only && !sum && result.sums >= how.sums) continue;
        std::vector<Term> in_place;
        if (!substitute(terms[t], f, *producer, in_place)) return std::nullopt;
        const bool first = std::find(result.merged.begin(), result.merged.end(), factor.tensor) ==
                           result.merged.end();
        if (first) {
          result.merged.push_back(factor.tensor);
          result.sums += sum;
        }
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(t));
        terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(t), in_place.begin(),
                     in_place.end());
        if (terms.size() > kMaximumTerms) {
          simplify(terms, result.cancelled);
          if (terms.size() > kMaximumTerms) return std::nullopt;
        }
        changed = true;
      }
    }
    if (!changed) {
      simplify(terms, result.cancelled);
      for (Term& term : terms) term = with_split_loops(std::move(term));
      result.terms = std::move(terms);
      return result;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<Term>> Expander::terms_of(const ir::Kernel& kernel) const {
  auto terms = start(kernel, kernel.value, false);
  if (!terms) return std::nullopt;
  bool cancelled = false;
  simplify(*terms, cancelled);
  return terms;
}

std::optional<Expanded> Expander::expand(const ir::Kernel& kernel, const Expansion& how) const {
  auto terms = start(kernel, kernel.value, false);
  if (!terms) return std::nullopt;
  return run(std::move(*terms), kernel.output, how);
}

bool Expander::cancels(const ir::Kernel& kernel, int32_t id) const {
  auto terms = start(kernel, id, true);
  if (!terms || terms->size() < 2) return false;
  const auto expanded = run(std::move(*terms), kernel.output, {.pointwise_only = true});
  return expanded && expanded->terms.empty();
}

}  // namespace solar::algebra

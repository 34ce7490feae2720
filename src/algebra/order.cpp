#include "algebra/order.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

namespace solar::algebra {
namespace {

/// 1 at every point of the given loops: what keeps a loop that only a guard has.
ExprPtr one_at(ir::ElementType type) {
  Expr one;
  one.type = type;
  one.constant = 1;
  return std::make_shared<const Expr>(std::move(one));
}

double points(const Term& term, const Order& order, LoopMask mask) {
  double all = 1;
  for (size_t i = 0; i < term.loops.size(); ++i) {
    if (mask >> i & 1) all *= static_cast<double>(term.loops[i].extent);
  }
  for (size_t i = 0; i < order.guards.size(); ++i) {
    if ((order.guards[i] & ~mask) == 0) all *= order.density[i];
  }
  return all;
}

/// Of `value % divisor == 0`, one in `divisor`; others are taken to hold everywhere.
double density_of(const Term& term, const Guard& guard) {
  if (guard.kind != Guard::Kind::Zero || guard.value.terms.size() != 1) return 1;
  const ir::Atom& atom = term.nest.atom(guard.value.terms[0].atom);
  return atom.kind == ir::Atom::Kind::Mod ? 1 / static_cast<double>(atom.divisor) : 1;
}

/// Whether all that the factor reads is known beforehand.
bool is_fixed(const Expr& factor) {
  if (factor.op == ir::ScalarOp::Load) return factor.fixed;
  for (const ExprPtr& child : {factor.a, factor.b, factor.c}) {
    if (child != nullptr && !is_fixed(*child)) return false;
  }
  return true;
}

bool same(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->op == b->op && a->type == b->type && a->constant == b->constant &&
         a->integer == b->integer && a->index == b->index && a->tensor == b->tensor &&
         a->subscripts == b->subscripts && same(a->a, b->a) && same(a->b, b->b) && same(a->c, b->c);
}

}  // namespace

LoopMask Order::inside(uint32_t subset) const {
  LoopMask mask = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (subset >> i & 1) mask |= loops[i];
  }
  return mask;
}

LoopMask Order::kept(uint32_t subset) const {
  const LoopMask mine = inside(subset);
  LoopMask needed = targets | inside(all() & ~subset);
  for (const LoopMask guard : guards) {
    if ((guard & ~mine) != 0) needed |= guard;
  }
  return mine & needed;
}

namespace {

/// What the factors and guards need; no choice yet.
Order unordered(Term& term) {
  Order order;
  for (const ExprPtr& factor : term.factors) order.loops.push_back(support(term.nest, *factor));
  for (const Guard& guard : term.guards) {
    order.guards.push_back(term.nest.support(guard));
    order.density.push_back(density_of(term, guard));
  }
  for (int32_t i = 0; i < term.targets; ++i) order.targets |= einsum::loop_bit(i);
  LoopMask missing = 0;
  for (const LoopMask guard : order.guards) missing |= guard & ~order.targets;
  if (!order.loops.empty()) missing &= ~order.inside(order.all());
  if (missing != 0) {
    term.factors.push_back(
        one_at(term.factors.empty() ? ir::ElementType::F32 : term.factors[0]->type));
    order.loops.push_back(missing);
  }
  return order;
}

}  // namespace

std::optional<Order> order_as(Term& term, const std::vector<uint32_t>& left) {
  Order order = unordered(term);
  const size_t subsets = order.loops.empty() ? 0 : size_t{order.all()} + 1;
  if (left.size() != subsets) return std::nullopt;
  order.left = left;
  return order;
}

Order best_order(Term& term, bool fixed_free) {
  Order order = unordered(term);
  if (order.loops.empty()) return order;
  const uint32_t all = order.all();
  uint32_t fixed = 0;
  for (size_t i = 0; fixed_free && i < term.factors.size(); ++i) {
    if (is_fixed(*term.factors[i])) fixed |= uint32_t{1} << i;
  }
  order.cost.assign(size_t{all} + 1, std::numeric_limits<double>::infinity());
  order.left.assign(size_t{all} + 1, 0);
  std::vector<LoopMask> kept(size_t{all} + 1, 0);
  for (uint32_t subset = 1; subset <= all; ++subset) kept[subset] = order.kept(subset);
  for (uint32_t subset = 1; subset <= all; ++subset) {
    if (std::has_single_bit(subset)) {
      order.cost[subset] = 0;
      continue;
    }
    for (uint32_t left = (subset - 1) & subset; left > 0; left = (left - 1) & subset) {
      const uint32_t right = subset & ~left;
      if (left < right) continue;
      const LoopMask pair = kept[left] | kept[right];
      const bool sums = (pair & ~kept[subset]) != 0;
      // A sum of squares is no contraction.
      const bool square = std::popcount(subset) == 2 &&
                          same(term.factors[static_cast<size_t>(std::countr_zero(left))],
                               term.factors[static_cast<size_t>(std::countr_zero(right))]);
      const bool free = !sums || square || (subset & ~fixed) == 0;
      const double cost =
          order.cost[left] + order.cost[right] + (free ? 0 : points(term, order, pair));
      if (cost < order.cost[subset]) {
        order.cost[subset] = cost;
        order.left[subset] = left;
      }
    }
  }
  return order;
}

namespace {

void add_loads(const Working& working, const Expr& expr, std::vector<std::string>& names) {
  if (expr.op == ir::ScalarOp::Load) names.push_back(working.tensor(expr.tensor).name);
  for (const ExprPtr& child : {expr.a, expr.b, expr.c}) {
    if (child != nullptr) add_loads(working, *child, names);
  }
}

std::string text_of(const Working& working, const Expr& factor) {
  std::vector<std::string> names;
  add_loads(working, factor, names);
  if (names.empty()) return "1";
  return factor.op == ir::ScalarOp::Load ? names[0] : fmt::format("f({})", fmt::join(names, ", "));
}

std::string text_of(const Working& working, const Term& term, const Order& order, uint32_t subset) {
  if (std::has_single_bit(subset))
    return text_of(working, *term.factors[static_cast<size_t>(std::countr_zero(subset))]);
  const uint32_t left = order.left[subset];
  std::vector<std::string> sides;
  for (const uint32_t side : {left, subset & ~left}) {
    const std::string text = text_of(working, term, order, side);
    sides.push_back(std::has_single_bit(side) ? text : "(" + text + ")");
  }
  return fmt::format("{} * {}", sides[0], sides[1]);
}

}  // namespace

std::string text_of(const Working& working, const Term& term, const Order& order) {
  if (order.loops.empty()) return "1";
  return text_of(working, term, order, order.all());
}

double cost_of(const std::vector<Term>& terms, bool fixed_free) {
  double total = 0;
  for (Term term : terms) total += best_order(term, fixed_free).total();
  return total;
}

}  // namespace solar::algebra

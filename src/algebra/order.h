#pragma once
// The best pairwise order of a term's products, by dynamic programming over subsets of factors.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algebra/terms.h"

namespace solar::algebra {

/// How a subset of factors is multiplied: two subsets first, or (a single factor) itself.
struct Order {
  std::vector<LoopMask> loops = {};   // per factor
  std::vector<uint32_t> left = {};    // per subset of two factors or more
  std::vector<double> cost = {};      // per subset: multiply-accumulates
  std::vector<LoopMask> guards = {};  // the loops that each guard couples
  std::vector<double> density = {};   // the share of points at which each holds, if it is periodic
  LoopMask targets = 0;

  uint32_t all() const { return (uint32_t{1} << loops.size()) - 1; }
  LoopMask inside(uint32_t subset) const;
  /// Loops that the subset's product still has after summing what nothing else needs.
  LoopMask kept(uint32_t subset) const;
  double total() const { return cost.empty() ? 0 : cost[all()]; }
};

/// Guards whose loops no factor has add a factor 1 that has them to the term. A term of no factors
/// has no order. `fixed_free`: products of what is known beforehand cost nothing.
Order best_order(Term& term, bool fixed_free);

/// The order that `left` says, of a term of the same factors. nullopt: they are others.
std::optional<Order> order_as(Term& term, const std::vector<uint32_t>& left);

/// `(q * w) * c`, as it is multiplied.
std::string text_of(const Working& working, const Term& term, const Order& order);

/// Of all terms, each at its best order.
double cost_of(const std::vector<Term>& terms, bool fixed_free);

}  // namespace solar::algebra

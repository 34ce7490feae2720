#pragma once
// Traffic that no execution of a whole graph avoids: its compulsory traffic, and what products
// force beyond it on a chip that cannot hold their tensors.

#include <cstdint>
#include <string>
#include <vector>

#include "bound/certified.h"
#include "bound/weighted.h"

namespace solar::bound {

/// The products of a graph and what they read and make. A tensor stands for all that are made of it
/// element by element: none of them can be there without an element of it.
struct GraphProblem {
  int64_t compulsory = 0;  // bytes
  std::vector<Transfer> tensors = {};
  std::vector<bool> made = {};          // per tensor: by a product of the graph
  std::vector<Products> products = {};  // places in `tensors`: two inputs, the output
  std::vector<std::string> names = {};  // per product: its output
};

struct GraphBound {
  int64_t bytes = 0;
  Theorem theorem = Theorem::Compulsory;
  int64_t segments = 1;
  bool no_recompute = false;           // takes for granted that what products make is made once
  std::vector<int32_t> products = {};  // that force it
  std::vector<double> weights = {};    // per tensor of these, in the order of first use
};

/// The best over single products and over all that have a tensor of their own. Never falls as the
/// capacity (bytes) shrinks, never below compulsory traffic (of a cold cache).
GraphBound graph_traffic(const GraphProblem& problem, int64_t capacity,
                         CacheState cache = CacheState::Cold);

/// How many times more products than one alone several that share tensors can make of the same
/// elements: sqrt(2 (1 - 1/omega)) with omega the clique number of the graph whose edges are the
/// two shared tensors of each, times the root of the most edges between one pair. At least that.
long double overlap_of(const std::vector<std::pair<int32_t, int32_t>>& edges);

}  // namespace solar::bound

#include "bound/graph_bound.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/checked.h"

namespace solar::bound {

namespace {

// Two colours suffice: there is no clique of three.
bool is_bipartite(const std::map<int32_t, std::vector<int32_t>>& neighbours) {
  std::map<int32_t, bool> colour;
  for (const auto& [start, unused] : neighbours) {
    if (colour.contains(start)) continue;
    std::vector<int32_t> open = {start};
    colour[start] = false;
    while (!open.empty()) {
      const int32_t at = open.back();
      open.pop_back();
      for (const int32_t other : neighbours.at(at)) {
        const auto [known, added] = colour.try_emplace(other, !colour[at]);
        if (added) open.push_back(other);
        if (known->second == colour[at]) return false;
      }
    }
  }
  return true;
}

class Search {
 public:
  Search(const GraphProblem& problem, int64_t capacity, CacheState cache)
      : problem_(problem), capacity_(capacity), cache_(cache) {
    best_.bytes = problem.compulsory;
    if (cache == CacheState::Warm)
      best_.bytes = std::max<int64_t>(0, problem.compulsory - capacity);
  }

  GraphBound best() {
    for (size_t i = 0; i < problem_.products.size(); ++i) {
      if (repeats(problem_.products[i])) continue;
      if (could_exceed(problem_.products[i])) try_products({static_cast<int32_t>(i)}, 1);
    }
    try_together();
    return best_;
  }

 private:
  static bool repeats(const Products& one) {
    return one.tensors[0] == one.tensors[1] || one.tensors[0] == one.tensors[2] ||
           one.tensors[1] == one.tensors[2];
  }

  /// Tensors that fit together force nothing.
  bool could_exceed(const Products& one) const {
    long double bytes = 0;
    for (const int32_t at : one.tensors) {
      const Transfer& tensor = problem_.tensors[static_cast<size_t>(at)];
      bytes += static_cast<long double>(tensor.elements) * tensor.width;
    }
    return bytes > static_cast<long double>(capacity_);
  }

  void try_together() {
    std::map<int32_t, int> uses;
    for (const Products& one : problem_.products) {
      for (const int32_t at : one.tensors) ++uses[at];
    }
    std::vector<int32_t> chosen;
    std::vector<std::pair<int32_t, int32_t>> edges;
    for (size_t i = 0; i < problem_.products.size(); ++i) {
      const Products& one = problem_.products[i];
      if (repeats(one)) continue;
      const auto own = std::find_if(one.tensors.begin(), one.tensors.end(),
                                    [&](int32_t at) { return uses[at] == 1; });
      if (own == one.tensors.end()) continue;
      std::vector<int32_t> others;
      for (const int32_t at : one.tensors) {
        if (at != *own) others.push_back(at);
      }
      chosen.push_back(static_cast<int32_t>(i));
      edges.emplace_back(std::min(others[0], others[1]), std::max(others[0], others[1]));
    }
    if (chosen.size() > 1) try_products(chosen, overlap_of(edges));
  }

  void try_products(const std::vector<int32_t>& chosen, long double overlap) {
    std::vector<Transfer> transfers;
    std::vector<Products> products;
    std::map<int32_t, int32_t> place;
    bool remade = false;
    for (const int32_t at : chosen) {
      Products one = problem_.products[static_cast<size_t>(at)];
      for (size_t t = 0; t < one.tensors.size(); ++t) {
        const auto tensor = static_cast<size_t>(one.tensors[t]);
        remade = remade || (t + 1 < one.tensors.size() && problem_.made[tensor]);
        const auto [known, added] =
            place.try_emplace(one.tensors[t], static_cast<int32_t>(transfers.size()));
        if (added) transfers.push_back(problem_.tensors[tensor]);
        one.tensors[t] = known->second;
      }
      products.push_back(std::move(one));
    }
    const Excess excess = weighted_excess(transfers, products, overlap, capacity_, cache_);
    const int64_t bytes = saturating_add(problem_.compulsory, excess.bytes);
    if (excess.bytes == 0 || bytes <= best_.bytes) return;
    best_ = {bytes, Theorem::Weighted, excess.segments, remade, chosen, excess.weights};
  }

  const GraphProblem& problem_;
  int64_t capacity_;
  CacheState cache_;
  GraphBound best_ = {};
};

}  // namespace

long double overlap_of(const std::vector<std::pair<int32_t, int32_t>>& edges) {
  std::map<std::pair<int32_t, int32_t>, int> multiplicity;
  std::map<int32_t, std::vector<int32_t>> neighbours;
  int most = 1;
  for (const auto& edge : edges) {
    most = std::max(most, ++multiplicity[edge]);
    neighbours[edge.first].push_back(edge.second);
    neighbours[edge.second].push_back(edge.first);
  }
  const long double cliques = is_bipartite(neighbours) ? 1 : std::sqrt(2.0L);
  return cliques * std::sqrt(static_cast<long double>(most)) * (1 + 1e-18L);
}

GraphBound graph_traffic(const GraphProblem& problem, int64_t capacity, CacheState cache) {
  if (capacity <= 0) return {.bytes = problem.compulsory};
  return Search(problem, capacity, cache).best();
}

}  // namespace solar::bound

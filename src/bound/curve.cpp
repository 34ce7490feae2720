#include "bound/curve.h"

#include <algorithm>

#include "base/checked.h"
#include "bound/merge.h"
#include "bound/order_search.h"
#include "bound/orders.h"
#include "bound/skyline.h"
#include "bound/splits.h"

namespace solar::bound {
namespace {

constexpr int64_t kCoarseWays = 20'000;
constexpr int64_t kCoarseTiles = 6;
constexpr int64_t kThoroughPoints = 20'000;

struct CurveProblem {
  Einsum einsum;
  CostModel model;
  std::vector<std::vector<int32_t>> groups;
  std::vector<Order> orders;
};

int64_t count_ways(const CurveProblem& problem, const SplitRules& rules) {
  int64_t sum = 0;
  for (const Order& order : problem.orders) {
    int64_t ways = 1;
    for (const auto& group : problem.groups)
      ways =
          saturating_mul(ways, count_options(problem.einsum, problem.model, order, group, rules));
    sum = saturating_add(sum, ways);
  }
  return sum;
}

int64_t box_points(const Einsum& einsum) {
  int64_t points = 1;
  for (const Dim& dim : einsum.dims) points = saturating_mul(points, dim.extent);
  return points;
}

OrderSearch search_of(const CurveProblem& problem, const Order& order, const SplitRules& rules) {
  std::vector<std::vector<Option>> groups;
  for (const auto& group : problem.groups)
    groups.push_back(options(problem.einsum, problem.model, order, group, rules));
  return OrderSearch(problem.einsum, problem.model, order, std::move(groups));
}

Curve curve_of(const Skyline<Mapping>& skyline) {
  Curve curve;
  for (const auto& entry : skyline.entries())
    curve.push_back({.capacity = entry.capacity, .traffic = entry.traffic, .mapping = entry.what});
  return curve;
}

}  // namespace

Curve traffic_curve(const Einsum& given, const SearchEffort& effort) {
  const Einsum einsum = merge_dims(given);
  if (box_points(einsum) == INT64_MAX) return {};
  const CostModel model(einsum);
  CurveProblem problem{.einsum = einsum,
                       .model = model,
                       .groups = dim_groups(einsum, model),
                       .orders = orders(einsum, model)};
  Skyline<Mapping> exact;
  const SplitRules every{.thorough = true};
  if (box_points(einsum) <= kThoroughPoints && count_ways(problem, every) <= effort.thorough) {
    for (const Order& order : problem.orders)
      search_of(problem, order, every).run_thoroughly(exact);
    return curve_of(exact);
  }
  std::vector<OrderSearch> searches;
  Skyline<uint32_t> skyline;
  std::vector<Choice> choices;
  const auto search = [&](const SplitRules& rules) {
    for (const Order& order : problem.orders) {
      searches.push_back(search_of(problem, order, rules));
      searches.back().run(static_cast<uint32_t>(searches.size() - 1), choices, skyline);
    }
  };
  // A coarse search first: it lets the finer one leave out most.
  if (count_ways(problem, {}) > kCoarseWays) search({.limit = kCoarseTiles});
  SplitRules rules;
  for (int64_t limit = 256; count_ways(problem, rules) > effort.ways && limit >= 2;
       limit = limit * 3 / 4)
    rules.limit = limit;
  search(rules);
  const bool windows = std::any_of(problem.groups.begin(), problem.groups.end(),
                                   [](const auto& g) { return g.size() > 1; });
  const SplitRules wide{.windows = SplitRules::Windows::Wide};
  if (windows && count_ways(problem, wide) <= effort.ways) search(wide);
  // What ragged tiles and overlaps save beyond the product is found out now.
  for (const auto& entry : skyline.entries()) {
    Mapping mapping = searches[choices[entry.what].search].mapping(choices[entry.what]);
    const Cost cost = model.cost(mapping);
    exact.add(cost.capacity, cost.traffic, std::move(mapping));
  }
  return curve_of(exact);
}

}  // namespace solar::bound

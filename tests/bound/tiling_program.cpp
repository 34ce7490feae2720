#include "bound/tiling_program.h"

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "bound/merge.h"
#include "bound/orders.h"
#include "bound/solver.h"
#include "bound/splits.h"

namespace solar::bound {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const Einsum& einsum, const CostModel& model, const Order& order,
                 const std::vector<std::vector<Option>>& groups)
      : einsum_(einsum), model_(model), order_(order), groups_(groups) {
    for (const auto& options : groups) {
      Program::Row one{.lower = 1, .upper = 1};
      first_.push_back(static_cast<int32_t>(program_.columns.size()));
      for (size_t o = 0; o < options.size(); ++o) {
        one.terms.emplace_back(static_cast<int32_t>(program_.columns.size()), 1);
        program_.columns.push_back({});
      }
      program_.rows.push_back(std::move(one));
    }
  }

  Program build(int64_t capacity) {
    Program::Row room{.upper = capacity};
    for (size_t i = 0; i < order_.tensors.size(); ++i) {
      const auto t = static_cast<size_t>(order_.tensors[i]);
      for_products(i, &Option::held, [&](int32_t column, int64_t product) {
        room.terms.emplace_back(column, held_bytes(einsum_.tensors[t], product));
      });
      for_products(i, &Option::entered, [&](int32_t column, int64_t product) {
        program_.columns[static_cast<size_t>(column)].cost +=
            moved_bytes(einsum_.tensors[t], product, model_.distinct(t));
      });
    }
    // A column may stand in the row of several tensors.
    std::map<int32_t, int64_t> sums;
    for (auto [column, weight] : room.terms) sums[column] = saturating_add(sums[column], weight);
    room.terms.assign(sums.begin(), sums.end());
    program_.rows.push_back(std::move(room));
    return program_;
  }

 private:
  // The columns that stand for each combination of the options of the groups whose factor varies.
  template <class Use>
  void for_products(size_t i, std::vector<int64_t> Option::* factor, Use use) {
    int64_t constant = 1;
    std::vector<size_t> varying;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const int64_t first = (groups_[g][0].*factor)[i];
      const bool same =
          std::all_of(groups_[g].begin(), groups_[g].end(),
                      [&](const Option& option) { return (option.*factor)[i] == first; });
      if (same)
        constant = saturating_mul(constant, first);
      else
        varying.push_back(g);
    }
    // Of a constant, the columns of any one group: exactly one of them is taken.
    const bool all_same = varying.empty();
    if (all_same) varying.push_back(0);
    std::vector<size_t> at(varying.size(), 0);
    for (int32_t next = joint(varying);; ++next) {
      int64_t product = constant;
      for (size_t v = 0; v < varying.size() && !all_same; ++v)
        product = saturating_mul(product, (groups_[varying[v]][at[v]].*factor)[i]);
      use(next, product);
      size_t v = 0;
      while (v < at.size() && ++at[v] == groups_[varying[v]].size()) at[v++] = 0;
      if (v == at.size()) return;
    }
  }

  // The first of the columns of all combinations of these groups' options, the first group fastest.
  int32_t joint(const std::vector<size_t>& groups) {
    if (groups.size() == 1) return first_[groups[0]];
    const auto [found, fresh] =
        joint_.try_emplace(groups, static_cast<int32_t>(program_.columns.size()));
    if (!fresh) return found->second;
    // Over all combinations with one option of one group: as much as that option is taken.
    std::vector<std::vector<Program::Row>> marginals;
    for (size_t g : groups) {
      marginals.emplace_back();
      for (size_t o = 0; o < groups_[g].size(); ++o)
        marginals.back().push_back(
            {.lower = 0, .upper = 0, .terms = {{first_[g] + static_cast<int32_t>(o), -1}}});
    }
    std::vector<size_t> at(groups.size(), 0);
    for (bool more = true; more;) {
      for (size_t v = 0; v < at.size(); ++v)
        marginals[v][at[v]].terms.emplace_back(static_cast<int32_t>(program_.columns.size()), 1);
      program_.columns.push_back({.integer = false});
      size_t v = 0;
      while (v < at.size() && ++at[v] == groups_[groups[v]].size()) at[v++] = 0;
      more = v < at.size();
    }
    for (auto& rows : marginals)
      for (auto& row : rows) program_.rows.push_back(std::move(row));
    return found->second;
  }

  const Einsum& einsum_;
  const CostModel& model_;
  const Order& order_;
  const std::vector<std::vector<Option>>& groups_;
  std::vector<int32_t> first_ = {};
  std::map<std::vector<size_t>, int32_t> joint_ = {};
  Program program_ = {};
};

}  // namespace

std::optional<int64_t> least_traffic_by_program(const Einsum& given, int64_t capacity) {
  const Einsum einsum = merge_dims(given);
  const CostModel model(einsum);
  std::optional<int64_t> best;
  for (const Order& order : orders(einsum, model)) {
    std::vector<std::vector<Option>> groups;
    for (const auto& group : dim_groups(einsum, model))
      groups.push_back(options(einsum, model, order, group, {}));
    if (groups.empty())
      groups.push_back({Option{.held = std::vector<int64_t>(order.tensors.size(), 1),
                               .entered = std::vector<int64_t>(order.tensors.size(), 1)}});
    const Program program = ProgramBuilder(einsum, model, order, groups).build(capacity);
    const Solution solution = solve(program);
    if (solution.status == Solution::Status::Infeasible) continue;
    if (solution.status != Solution::Status::Optimal ||
        solution.values.size() != program.columns.size())
      return std::nullopt;
    int64_t traffic = 0;
    for (size_t c = 0; c < program.columns.size(); ++c)
      traffic =
          saturating_add(traffic, saturating_mul(program.columns[c].cost, solution.values[c]));
    best = std::min(best.value_or(traffic), traffic);
  }
  return best;
}

}  // namespace solar::bound

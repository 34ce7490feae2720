#include "driver/cache_aware.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bound/graph_problem.h"
#include "bound/plan.h"
#include "driver/graph_work.h"

namespace solar::driver {
namespace {

constexpr size_t kMostUnits = 4000;  // of a graph that is planned
// Tens of milliseconds for a curve: more rarely changes a plan.
constexpr bound::SearchEffort kEffort = {.ways = 20'000, .thorough = 0};

/// Curves by the structure of the einsum, for all machines.
class Curves {
 public:
  const bound::Curve& of(const bound::Einsum& einsum) {
    const std::string key = bound::structure_of(einsum);
    const auto known = curves_.find(key);
    if (known != curves_.end()) return known->second;
    return curves_.emplace(key, bound::traffic_curve(einsum, kEffort)).first->second;
  }

 private:
  std::map<std::string, bound::Curve> curves_ = {};
};

class Planner {
 public:
  Planner(const Loaded& loaded, const einsum::Graph& graph, const AnalyzeOptions& options,
          int64_t compulsory)
      : graph_(graph.least ? *graph.least : graph),
        options_(options),
        problem_(bound::problem_of(graph_, **loaded.program, loaded.storage, compulsory)),
        plan_graph_(bound::plan_graph_of(graph_, **loaded.program, loaded.storage)) {}

  report::Bound row(const report::Bound& fused, const arch::Machine& machine) {
    report::Bound row = fused;
    row.mode = "cache_aware";
    row.without.clear();
    report::CacheAware found;
    certify(row, fused, machine, found);
    if (!options_.policy.warm_cache) {
      reach(machine, found);
    } else {
      found.notes.emplace_back("plans are for a cold cache");
    }
    if (found.witness_bytes && *found.witness_bytes < found.certified_bytes) {
      found.notes.push_back(
          fmt::format("the plan is withheld: it moves {} bytes, less than what is certified, and "
                      "one of the two "
                      "is wrong; please report it",
                      *found.witness_bytes));
      found.witness_bytes.reset();
      found.witness_s.reset();
      found.groups.clear();
    }
    if (found.witness_bytes) row.traffic_bytes = *found.witness_bytes;
    row.cache_aware = std::move(found);
    return row;
  }

 private:
  void certify(report::Bound& row, const report::Bound& fused, const arch::Machine& machine,
               report::CacheAware& found) {
    found.certified_bytes = fused.traffic_bytes;
    found.theorem = std::string(name(bound::Theorem::Compulsory));
    const auto capacity = options_.sram ? options_.sram : machine.on_chip();
    if (!capacity) {
      found.notes.push_back(
          fmt::format("how much `{}` can hold on chip is not known, so nothing is certified beyond "
                      "compulsory traffic; `--sram BYTES` sets it",
                      machine.id));
    } else {
      found.certified_capacity_bytes = capacity->value;
      const bool warm = options_.policy.warm_cache;
      const bound::GraphBound bound = bound::graph_traffic(
          problem_, capacity->value, warm ? bound::CacheState::Warm : bound::CacheState::Cold);
      if (bound.bytes > found.certified_bytes) {
        found.certified_bytes = bound.bytes;
        found.theorem = std::string(name(bound.theorem));
        for (const int32_t at : bound.products)
          found.products.push_back(problem_.names[static_cast<size_t>(at)]);
        row.assumptions.emplace_back("classical-products");
        if (bound.no_recompute) row.assumptions.emplace_back("no-recompute");
      }
    }
    const Seconds memory =
        Bytes{found.certified_bytes} / roofline::bandwidth_of(machine, options_.policy).rate;
    row.memory_s = memory.value;
    row.time_s = found.certified_s = std::max(fused.compute_s, memory.value);
    if (memory.value >= fused.compute_s) row.limiter = "memory";
    remove_repeated(row.assumptions);
  }

  static void remove_repeated(std::vector<std::string>& all) {
    std::vector<std::string> once;
    for (std::string& one : all) {
      if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(std::move(one));
    }
    all = std::move(once);
  }

  void reach(const arch::Machine& machine, report::CacheAware& found) {
    if (!plan_graph_.obstacles.empty()) {
      found.notes.push_back(fmt::format(
          "no plan: `{}`{} is read by data, runs in steps, or has divisions that no tiling follows",
          plan_graph_.obstacles.front(),
          plan_graph_.obstacles.size() == 1
              ? ""
              : fmt::format(" (and {} more)", plan_graph_.obstacles.size() - 1)));
      return;
    }
    if (plan_graph_.units.size() > kMostUnits) {
      found.notes.push_back(
          fmt::format("no plan: {} nodes are more than {}", plan_graph_.units.size(), kMostUnits));
      return;
    }
    const auto capacity = options_.sram ? options_.sram : machine.last_level_cache;
    if (!capacity) {
      found.notes.push_back(
          fmt::format("no plan: the last-level cache of `{}` is not known; `--sram BYTES` sets it",
                      machine.id));
      return;
    }
    found.witness_capacity_bytes = capacity->value;
    const auto plan = bound::plan(
        plan_graph_, capacity->value,
        [&](const bound::Einsum& einsum) -> const bound::Curve& { return curves_.of(einsum); });
    if (!plan) {
      found.notes.emplace_back("no plan: some node does not fit in slices");
      return;
    }
    double total = 0;
    for (const bound::Group& group : plan->groups) {
      const auto time = roofline::time_of(work_of(group), machine, options_.policy);
      if (!time) return;
      total += time->total.value;
      found.groups.push_back(group_of(group, time->total.value));
    }
    found.witness_bytes = plan->traffic;
    found.witness_s = total;
  }

  roofline::Work work_of(const bound::Group& group) const {
    roofline::Work work;
    work.traffic = Bytes{group.traffic};
    for (int32_t unit = group.first; unit < group.last; ++unit) {
      const einsum::Node& node = graph_.node(plan_graph_.units[static_cast<size_t>(unit)].node);
      if (node.macs_useful.value > 0)
        work.macs.push_back({node.mac_type, node.is_convolution, node.macs_useful});
    }
    return work;
  }

  report::PlanGroup group_of(const bound::Group& group, double time_s) const {
    report::PlanGroup out;
    for (int32_t unit = group.first; unit < group.last; ++unit)
      out.nodes.push_back(plan_graph_.units[static_cast<size_t>(unit)].einsum.name);
    out.strategy = group.strategy;
    out.schedule = group.schedule;
    out.capacity_bytes = group.capacity;
    out.traffic_bytes = group.traffic;
    out.time_s = time_s;
    return out;
  }

  const einsum::Graph& graph_;
  const AnalyzeOptions& options_;
  bound::GraphProblem problem_;
  bound::PlanGraph plan_graph_;
  Curves curves_ = {};
};

}  // namespace

void add_cache_aware(report::Report& report, const Loaded& loaded, const einsum::Graph& graph,
                     const std::vector<arch::Machine>& machines, const AnalyzeOptions& options,
                     const std::atomic<bool>* cancel) {
  const auto work = graph_work(graph);
  if (!work) return;  // then there is no fused row either
  Planner planner(loaded, graph, options, work->traffic.value);
  std::vector<report::Bound> rows;
  for (size_t i = 0; i < report.bounds.size(); ++i) {
    rows.push_back(report.bounds[i]);
    const std::string& arch = report.bounds[i].arch;
    const bool last = i + 1 == report.bounds.size() || report.bounds[i + 1].arch != arch;
    if (!last || (cancel != nullptr && cancel->load())) continue;
    const auto machine = std::find_if(machines.begin(), machines.end(),
                                      [&](const arch::Machine& m) { return m.id == arch; });
    const auto fused =
        std::find_if(report.bounds.begin(), report.bounds.end(),
                     [&](const report::Bound& b) { return b.arch == arch && b.mode == "fused"; });
    if (machine != machines.end() && fused != report.bounds.end())
      rows.push_back(planner.row(*fused, *machine));
  }
  report.bounds = std::move(rows);
}

}  // namespace solar::driver

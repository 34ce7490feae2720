#include "driver/fill_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"

namespace solar::driver {
namespace {

report::Totals totals_of(const einsum::Graph& graph) {
  const einsum::Totals& t = graph.totals;
  report::Totals out;
  out.macs = t.macs.value;
  out.macs_useful = t.macs_useful.value;
  out.flops = t.flops.value;
  out.elementwise_ops = t.elementwise_ops;
  out.special_ops = t.special_ops;
  out.bytes_read_inputs = t.bytes_read_inputs.example.value;
  out.bytes_read_params = t.bytes_read_params.example.value;
  out.bytes_written_outputs = t.bytes_written_outputs.example.value;
  if (t.depends_on_data) {
    out.data_dependent = report::DataDependent{
        t.bytes_read_inputs.min.value + t.bytes_read_params.min.value,
        t.bytes_read_inputs.example.value + t.bytes_read_params.example.value,
        t.bytes_read_inputs.max.value + t.bytes_read_params.max.value, t.example_known};
  }
  const auto is_least = [](const einsum::ByteRange& r) { return r.min == r.example; };
  if (!is_least(t.bytes_read_inputs) || !is_least(t.bytes_read_params) ||
      !is_least(t.bytes_written_outputs)) {
    out.least = report::LeastTraffic{t.bytes_read_inputs.min.value, t.bytes_read_params.min.value,
                                     t.bytes_written_outputs.min.value};
  }
  out.exact = graph.exact;
  out.sparse_weights =
      std::any_of(graph.nodes.begin(), graph.nodes.end(),
                  [](const einsum::Node& n) { return n.sparse_weight.has_value(); });
  return out;
}

std::vector<report::Node> nodes_of(const einsum::Graph& graph) {
  std::vector<report::Node> nodes;
  for (const einsum::Operator& op : graph.operators) {
    report::Node node;
    node.id = fmt::format("n{}", einsum::index(op.id));
    node.op = op.name;
    node.at = op.at;
    node.module = op.module;
    node.einsum = op.einsum;
    node.macs = op.macs.value;
    node.macs_useful = op.macs_useful.value;
    node.elementwise_ops = op.elementwise_ops;
    node.special_ops = op.special_ops;
    node.formula = op.formula;
    node.bytes_in = op.bytes_in.example.value;
    node.bytes_out = op.bytes_out.example.value;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// The bytes of random numbers that are read.
Bytes draws_of(const einsum::Graph& graph) {
  int64_t bytes = 0;
  for (const einsum::Footprint& read : graph.reads) {
    if (read.role == ir::Role::Rng) bytes = saturating_add(bytes, read.bytes.min.value);
  }
  return {bytes};
}

}  // namespace

void add_assumptions(std::vector<std::string>& assumptions, const einsum::Graph& graph) {
  const auto add = [&](const std::string& assumption) {
    if (std::find(assumptions.begin(), assumptions.end(), assumption) == assumptions.end()) {
      assumptions.push_back(assumption);
    }
  };
  for (const std::string& assumption : graph.assumptions) add(assumption);
  if (draws_of(graph).value > 0) add("random-draws-read");
}

report::Bound bound_of(const std::string& mode, const roofline::Bound& bound,
                       const arch::Machine& machine, const roofline::Policy& policy,
                       const einsum::Graph& graph) {
  report::Bound out;
  out.arch = machine.id;
  out.precision = roofline::name(policy.precision);
  out.storage = graph.storage;
  out.cache = policy.warm_cache ? "warm" : "cold";
  out.mode = mode;
  out.time_s = bound.time.total.value;
  out.compute_s = bound.time.compute.value;
  out.memory_s = bound.time.memory.value;
  out.traffic_bytes = bound.time.traffic.value;
  out.limiter = roofline::name(bound.time.limiter);
  if (bound.time.operational_intensity)
    out.operational_intensity = bound.time.operational_intensity->value;
  out.strict = policy.strict;
  out.assumptions = bound.assumptions;
  for (const roofline::Without& one : bound.without)
    out.without.push_back({one.assumption, one.time.value});
  add_assumptions(out.assumptions, graph);
  return out;
}

void fill_bounds(report::Report& report, const roofline::Bounds& bounds,
                 const arch::Machine& machine, const roofline::Policy& policy,
                 const einsum::Graph& graph) {
  report::Bound unfused = bound_of("unfused", bounds.unfused, machine, policy, graph);
  for (size_t i = 0; i < bounds.operators.size(); ++i) {
    const roofline::Time& t = bounds.operators[i];
    report::NodeTime time = {
        i,  t.total.value,  t.compute.value, t.memory.value, std::string(roofline::name(t.limiter)),
        {}, t.traffic.value};
    if (t.operational_intensity) time.operational_intensity = t.operational_intensity->value;
    unfused.node_times.push_back(std::move(time));
  }
  unfused.edge_savings =
      edge_savings(graph, bounds.operators, roofline::bandwidth_of(machine, policy).rate);
  report.bounds.push_back(std::move(unfused));
  report::Bound fused = bound_of("fused", bounds.fused, machine, policy, graph);
  const Bytes draws = draws_of(graph);
  if (draws.value > 0 && !policy.warm_cache) {
    const Bytes others = {bounds.fused.time.traffic.value - draws.value};
    const Seconds memory = others / roofline::bandwidth_of(machine, policy).rate;
    fused.without.push_back({"random-draws-read", std::max(fused.compute_s, memory.value)});
  }
  report.bounds.push_back(std::move(fused));
  report.arch_names[machine.id] = machine.name;
}

void add_warnings(std::vector<std::string>& warnings, const Loaded& loaded,
                  const einsum::Graph& graph) {
  warnings = loaded.warnings;
  const report::Validation& v = loaded.validation;
  if (v.status != "passed")
    warnings.push_back(fmt::format("validation {}: {}", v.status, v.reason));
  if (!graph.exact)
    warnings.push_back("some counts are proved minima, not exact; bounds stay valid");
  if (graph.totals.depends_on_data && !graph.totals.example_known) {
    warnings.push_back(
        "data-dependent reads were not run at the example inputs; their `example` is the maximum");
  }
}

void fill_program(report::Report& report, const Loaded& loaded) {
  report.source = loaded.source;
  report.mode = loaded.mode;
  report.validation = loaded.validation;
  report.warnings = loaded.warnings;
  report.timings_s.trace = loaded.trace_s;
  report.timings_s.validate = loaded.validate_s;
  if (!loaded.program) return;
  report.program = (*loaded.program)->name;
  for (const ir::Dim& dim : (*loaded.program)->dims)
    report.dims.push_back({dim.name, dim.value, dim.expression});
}

void fill_counts(report::Report& report, const Loaded& loaded, const einsum::Graph& graph) {
  report.totals = totals_of(graph);
  report.nodes = nodes_of(graph);
  report.edges = edges_of(graph, **loaded.program);
  add_warnings(report.warnings, loaded, graph);
}

}  // namespace solar::driver

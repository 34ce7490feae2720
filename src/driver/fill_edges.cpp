#include <algorithm>

#include "driver/fill_report.h"

namespace solar::driver {

std::vector<report::Edge> edges_of(const einsum::Graph& graph, const ir::Program& program) {
  std::vector<report::Edge> edges;
  edges.reserve(graph.edges.size());
  for (const einsum::Edge& edge : graph.edges) {
    const ir::Tensor& tensor = program.tensor(edge.tensor);
    report::Edge out;
    out.from = einsum::index(edge.producer);
    out.to = einsum::index(edge.consumer);
    out.tensor = tensor.name;
    out.saves_bytes = edge.saved.value;
    out.tileable_axes = edge.tileable;
    for (const einsum::Obstacle obstacle : edge.obstacles)
      out.obstacles.emplace_back(einsum::name(obstacle));
    out.fusibility = edge.obstacles.empty()   ? "pointwise"
                     : !edge.tileable.empty() ? "tileable"
                                              : "whole";
    edges.push_back(std::move(out));
  }
  return edges;
}

std::vector<report::EdgeSaving> edge_savings(const einsum::Graph& graph,
                                             const std::vector<roofline::Time>& operators,
                                             BytesPerSecond bandwidth) {
  std::vector<report::EdgeSaving> savings;
  if (operators.size() != graph.operators.size()) return savings;
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const einsum::Edge& edge = graph.edges[i];
    const roofline::Time& a = operators[einsum::index(edge.producer)];
    const roofline::Time& b = operators[einsum::index(edge.consumer)];
    const Seconds compute = std::max(a.tensor + b.tensor, a.vector + b.vector);
    const double memory =
        a.memory.value + b.memory.value - static_cast<double>(edge.saved.value) / bandwidth.value;
    const double apart = a.total.value + b.total.value;
    const double saves = apart - std::max(compute.value, std::max(memory, 0.0));
    if (saves > apart * 1e-12) savings.push_back({i, saves});  // else rounding
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const auto& a, const auto& b) { return a.saves_s > b.saves_s; });
  return savings;
}

}  // namespace solar::driver

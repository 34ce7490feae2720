#pragma once
// Small random graphs of products, sums and pointwise nodes, as the planner takes them.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bound/plan_graph.h"
#include "bound/single_cases.h"

namespace solar::bound {

class RandomChain {
 public:
  explicit RandomChain(uint64_t seed) : random_(seed) {}

  PlanGraph graph(int units) {
    graph_ = {};
    shapes_.clear();
    int32_t last = array({extent(), extent()}, -1);
    for (int i = 0; i < units; ++i) last = add(last);
    graph_.arrays[static_cast<size_t>(last)].stored = true;
    return graph_;
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  int64_t extent() { return pick(1, 5); }

  int32_t array(std::vector<int64_t> shape, int32_t writer) {
    PlanArray made{.name = "a" + std::to_string(graph_.arrays.size()),
                   .width = {pick(1, 4) * 32},
                   .writer = writer};
    int64_t elements = 1;
    for (const int64_t one : shape) elements *= one;
    made.bytes = bytes_of(elements, made.width);
    graph_.arrays.push_back(std::move(made));
    shapes_.push_back(std::move(shape));
    return static_cast<int32_t>(graph_.arrays.size()) - 1;
  }

  /// A unit over dims of these extents; accesses are lists of dims, the last one is written.
  int32_t unit(const std::vector<int64_t>& extents,
               std::vector<std::pair<int32_t, std::vector<int32_t>>> reads,
               const std::vector<int32_t>& written) {
    const auto number = static_cast<int32_t>(graph_.units.size());
    std::vector<int64_t> shape;
    for (const int32_t dim : written) shape.push_back(extents[static_cast<size_t>(dim)]);
    const int32_t output = array(shape, number);
    reads.emplace_back(output, written);
    PlanUnit made;
    made.einsum.name = "u" + std::to_string(number);
    made.einsum.points = 1;
    for (const int64_t one : extents) {
      made.einsum.dims.push_back(
          {.name = "d" + std::to_string(made.einsum.dims.size()), .extent = one});
      made.einsum.points *= one;
    }
    for (const auto& [array, dims] : reads) {
      PlanArray& at = graph_.arrays[static_cast<size_t>(array)];
      Tensor tensor{.name = at.name,
                    .array = array,
                    .dram = at.width,
                    .on_chip = at.width,
                    .partial = at.width};
      tensor.footprint = 1;
      for (const int32_t dim : dims) {
        tensor.axes.push_back(axis(dim));
        tensor.footprint *= extents[static_cast<size_t>(dim)];
      }
      tensor.is_output = array == output;
      if (!tensor.is_output && (at.readers.empty() || at.readers.back() != number))
        at.readers.push_back(number);
      made.einsum.tensors.push_back(std::move(tensor));
    }
    graph_.units.push_back(std::move(made));
    return output;
  }

  int32_t add(int32_t last) {
    const std::vector<int64_t> shape = shapes_[static_cast<size_t>(last)];
    if (shape.size() == 1) {  // back to two axes
      const int64_t other = extent();
      return unit({shape[0], other}, {{last, {0}}, {array({shape[0], other}, -1), {0, 1}}}, {0, 1});
    }
    const int64_t m = shape[0];
    const int64_t n = shape[1];
    switch (pick(0, 6)) {
      case 0: {  // product with a weight
        const int64_t out = extent();
        return unit({m, out, n}, {{last, {0, 2}}, {array({n, out}, -1), {2, 1}}}, {0, 1});
      }
      case 1:
        return unit({m, n}, {{last, {0, 1}}}, {0, 1});
      case 2:
        return unit({m, n}, {{last, {0, 1}}, {array({n}, -1), {1}}}, {0, 1});
      case 3:  // a sum over rows
        return unit({m, n}, {{last, {0, 1}}}, {0});
      case 4:  // transposed
        return unit({m, n}, {{last, {0, 1}}}, {1, 0});
      case 5: {  // a product of a transposed operand
        const int64_t out = extent();
        return unit({m, n, out}, {{last, {0, 1}}, {array({m, out}, -1), {0, 2}}}, {1, 2});
      }
      default: {  // with an earlier array of the same shape
        std::vector<int32_t> same;
        for (size_t i = 0; i < shapes_.size(); ++i) {
          if (shapes_[i] == shape) same.push_back(static_cast<int32_t>(i));
        }
        const int32_t other =
            same[static_cast<size_t>(pick(0, static_cast<int64_t>(same.size()) - 1))];
        return unit({m, n}, {{last, {0, 1}}, {other, {0, 1}}}, {0, 1});
      }
    }
  }

  std::mt19937_64 random_;
  PlanGraph graph_ = {};
  std::vector<std::vector<int64_t>> shapes_ = {};
};

}  // namespace solar::bound

#pragma once
// Small random einsums and mappings, each from a seed.

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bound/access.h"
#include "bound/einsum.h"
#include "bound/mapping.h"

namespace solar::bound {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t in(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 engine_;
};

/// Sets what follows from dims, axes and guards: footprints and the number of points that count.
inline void count_elements(Einsum& einsum) {
  std::vector<std::set<std::vector<int64_t>>> touched(einsum.tensors.size());
  std::vector<int64_t> point(einsum.dims.size(), 0);
  einsum.points = 0;
  const auto value = [&](const Affine& affine) {
    int64_t sum = affine.offset;
    for (const Term& term : affine.terms)
      sum += term.coefficient * point[static_cast<size_t>(term.dim)];
    return sum;
  };
  for (bool more = true; more;) {
    if (std::all_of(einsum.guards.begin(), einsum.guards.end(),
                    [&](const Guard& g) { return value(g) >= 0; })) {
      ++einsum.points;
      for (size_t t = 0; t < einsum.tensors.size(); ++t) {
        std::vector<int64_t> element;
        for (const Affine& axis : einsum.tensors[t].axes) element.push_back(value(axis));
        touched[t].insert(std::move(element));
      }
    }
    more = false;
    for (size_t d = 0; d < point.size() && !more; ++d) {
      if (++point[d] < einsum.dims[d].extent)
        more = true;
      else
        point[d] = 0;
    }
  }
  for (size_t t = 0; t < einsum.tensors.size(); ++t)
    einsum.tensors[t].footprint = static_cast<int64_t>(touched[t].size());
}

struct Shape {
  int64_t dims = 3;
  int64_t largest = 6;
  int64_t inputs = 2;
  bool windows = false;
  bool widths = false;
  int64_t guards = 0;
};

inline Einsum random_einsum(Random& random, const Shape& shape) {
  Einsum einsum{.name = "random"};
  for (int64_t d = 0; d < shape.dims; ++d)
    einsum.dims.push_back({.name = std::string(1, static_cast<char>('a' + d)),
                           .extent = random.in(1, shape.largest)});
  const int64_t widths[] = {32, 64, 128, 18};
  for (int64_t t = 0; t <= shape.inputs; ++t) {
    Tensor tensor{.name = "T" + std::to_string(t),
                  .array = static_cast<int32_t>(t),
                  .is_output = t == shape.inputs};
    for (int32_t d = 0; d < static_cast<int32_t>(shape.dims); ++d)
      if (random.in(0, 2) != 0)
        tensor.axes.push_back({.terms = {{.dim = d}}, .offset = random.in(0, 1)});
    if (shape.windows && tensor.axes.size() >= 2 && random.in(0, 1) == 0) {
      // Two axes become one window.
      Affine& axis = tensor.axes[0];
      axis.terms[0].coefficient = random.in(1, 3);
      axis.terms.push_back({.dim = tensor.axes[1].terms[0].dim,
                            .coefficient = random.in(0, 3) == 0 ? -1 : random.in(1, 2)});
      tensor.axes.erase(tensor.axes.begin() + 1);
      if (random.in(0, 4) == 0)
        tensor.axes.push_back({.terms = {axis.terms[1]}});  // tells them apart
    }
    if (shape.widths) {
      tensor.dram.bytes_per_32 = widths[random.in(0, 3)];
      tensor.on_chip.bytes_per_32 = widths[random.in(0, 3)];
      tensor.partial.bytes_per_32 = widths[random.in(0, 3)];
    }
    einsum.tensors.push_back(std::move(tensor));
  }
  for (int64_t g = 0; g < shape.guards && shape.dims > 1; ++g) {
    const auto a = static_cast<int32_t>(random.in(0, shape.dims - 2));
    const auto b = static_cast<int32_t>(random.in(a + 1, shape.dims - 1));
    const int64_t sign = random.in(0, 1) == 0 ? -1 : 1;
    einsum.guards.push_back(
        {.terms = {{.dim = a, .coefficient = sign * random.in(1, 2)},
                   {.dim = b, .coefficient = random.in(0, 2) == 0 ? sign : -sign}},
         .offset = random.in(-1, 4)});
  }
  count_elements(einsum);
  return einsum;
}

/// The axes of a tensor that a buffer may hold as ranges.
inline uint32_t ranges(const Einsum& einsum, int32_t tensor) {
  uint32_t all = 0;
  for (const Rank& rank : ranks_of(einsum.tensors[static_cast<size_t>(tensor)]))
    if (rank.axis >= 0 && whole_range(rank, einsum)) all |= uint32_t{1} << rank.axis;
  return all;
}

inline Mapping random_mapping(Random& random, const Einsum& einsum) {
  std::vector<int32_t> order;
  for (size_t t = 0; t < einsum.tensors.size(); ++t) order.push_back(static_cast<int32_t>(t));
  for (size_t t = order.size(); t > 1; --t)
    std::swap(order[t - 1], order[static_cast<size_t>(random.in(0, static_cast<int64_t>(t) - 1))]);
  Mapping mapping;
  for (int32_t t : order) {
    for (int64_t loops = random.in(0, 3); loops > 0 && !einsum.dims.empty(); --loops) {
      const auto d =
          static_cast<int32_t>(random.in(0, static_cast<int64_t>(einsum.dims.size()) - 1));
      mapping.steps.push_back(
          {.index = d, .tile = random.in(1, einsum.dims[static_cast<size_t>(d)].extent)});
    }
    const auto axes = static_cast<int64_t>(einsum.tensors[static_cast<size_t>(t)].axes.size());
    const auto whole =
        static_cast<uint32_t>(random.in(0, 1) * random.in(0, (int64_t{1} << axes) - 1));
    mapping.steps.push_back(
        {.kind = Step::Kind::Store, .index = t, .whole = whole & ranges(einsum, t)});
  }
  return mapping;
}

/// For messages: what a mapping does, on one line.
inline std::string describe(const Einsum& einsum, const Mapping& mapping) {
  std::string text;
  for (const Step& step : mapping.steps) {
    const auto i = static_cast<size_t>(step.index);
    if (step.kind == Step::Kind::Store)
      text += " [" + einsum.tensors[i].name + (step.whole != 0 ? " whole]" : "]");
    else
      text += " " + einsum.dims[i].name + ":" + std::to_string(step.tile);
  }
  return text;
}

}  // namespace solar::bound

#pragma once
// How a kernel becomes a matrix product: its loops as batch, rows, columns and summed, and how each
// side is packed.

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "exec/nest.h"
#include "exec/strip.h"

namespace solar::exec {

inline constexpr int64_t kDepthBlock = 256;  // summed points packed at once

/// The loops of one side of the product, or the summed ones; the last runs fastest.
struct Axes {
  const Nest* nest = nullptr;
  std::vector<int> loops = {};
  int64_t size = 1;

  int64_t inner_extent() const { return nest->extents[static_cast<size_t>(loops.back())]; }
  void seek(int64_t flat, int64_t* values) const {
    for (size_t i = loops.size(); i-- > 0;) {
      const int64_t extent = nest->extents[static_cast<size_t>(loops[i])];
      values[loops[i]] = flat % extent;
      flat /= extent;
    }
  }
  void make_last(int loop) {
    const auto place = std::find(loops.begin(), loops.end(), loop);
    if (place != loops.end()) std::rotate(place, place + 1, loops.end());
  }
};

struct Side {
  Axes axes = {};
  int32_t root = -1;
  int lane = -1;
  double cost = std::numeric_limits<double>::infinity();  // ns an element packed
  bool lane_is_summed = false;
  bool masked = false;  // a guard over summed loops leaves zeros in the packed block
  int64_t block = 1;
  StripProgram program = {};
};

struct ContractionPlan {
  const Nest* nest = nullptr;
  Axes batch = {}, summed = {};
  Side rows = {}, columns = {};
  StripProgram guards = {};  // those over output elements alone
  bool guarded = false;
  std::optional<StripProgram> init = {}, otherwise = {};
};

/// Nothing when the kernel is no sum of products or, unless `even_if_slow`, would gain nothing.
std::optional<ContractionPlan> plan_contraction(const Nest& nest, int threads, bool even_if_slow);

/// The number of blocks that cover `size`.
inline int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

}  // namespace solar::exec

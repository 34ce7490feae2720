#pragma once
// A rewrite by itself: the statements that it is about as a program of their own, everything that
// they read from elsewhere being an input. Private to algebra/.

#include <vector>

#include "algebra/working.h"

namespace solar::algebra {

struct Slice {
  ir::Program before = {};
  ir::Program after = {};
};

/// Of a kernel that is to be replaced by `built`, written out in terms of the producers `merged`.
Slice slice_of(const Working& working, ir::TensorId root, const std::vector<ir::TensorId>& merged,
               const std::vector<ir::Statement>& built);

}  // namespace solar::algebra

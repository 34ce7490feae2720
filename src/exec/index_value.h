#pragma once
// The value of an index expression at one point, for what is computed once rather than by strips:
// the range of a ragged loop, the start of a slice.

#include <optional>
#include <vector>

#include "exec/nest.h"

namespace solar::exec {

/// A data-dependent subscript that left its axis.
struct Fault {
  ir::TensorId tensor = {};
  int axis = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

struct IndexPoint {
  const std::vector<ir::Atom>& atoms;
  const std::vector<DataRef>& sources;  // per atom; set for DataReads
  const int64_t* loops = nullptr;
  const int64_t* steps = nullptr;
};

/// A data read that leaves its tensor sets `fault` and counts as 0.
int64_t index_value(const ir::Linear& linear, const IndexPoint& at, std::optional<Fault>& fault);

}  // namespace solar::exec

#pragma once
// What a mapping of an einsum costs: the bytes its buffers take and the bytes that cross between
// them and DRAM. A closed form over trip counts; the simulator of bound/replay.h counts the same.

#include <cstdint>
#include <vector>

#include "bound/access.h"
#include "bound/einsum.h"
#include "bound/mapping.h"

namespace solar::bound {

struct TensorTraffic {
  int64_t held = 0;     // the largest number of elements in its buffer
  int64_t entered = 0;  // elements that came into it, each time counted
  friend bool operator==(const TensorTraffic&, const TensorTraffic&) = default;
};

struct Cost {
  int64_t capacity = 0;  // bytes; INT64_MAX where it does not fit
  int64_t traffic = 0;
  std::vector<TensorTraffic> tensors = {};
};

/// Bytes of a buffer that holds this many elements.
int64_t held_bytes(const Tensor& tensor, int64_t elements);
/// Bytes to and from DRAM where this many elements, `distinct` different ones, came into the
/// buffer: an input is read each time; an output is written each time and, but for the first, read
/// back.
int64_t moved_bytes(const Tensor& tensor, int64_t entered, int64_t distinct);

/// An einsum prepared for the evaluation of many mappings.
class CostModel {
 public:
  explicit CostModel(const Einsum& einsum);
  /// Exact where the footprints are (bound/access.h) and no guard cuts the box; otherwise not less
  /// than what an execution moves. The mapping must store every tensor once.
  Cost cost(const Mapping& mapping) const;
  /// Distinct elements of a tensor that an execution moves.
  int64_t distinct(size_t tensor) const { return distinct_[tensor]; }
  /// Elements of the whole box that no useful point touches: an execution leaves them outside.
  int64_t untouched(size_t tensor) const { return untouched_[tensor]; }
  const std::vector<Rank>& ranks(size_t tensor) const { return ranks_[tensor]; }
  /// The same where a buffer holds the whole range of these axes, bit by bit.
  std::vector<Rank> ranks(size_t tensor, uint32_t whole) const;
  /// Bytes that every execution moves: each input once, each output once.
  int64_t compulsory() const;

 private:
  const Einsum* einsum_;
  std::vector<std::vector<Rank>> ranks_ = {};
  std::vector<int64_t> distinct_ = {};
  std::vector<int64_t> untouched_ = {};
};

/// The cost of one mapping.
Cost cost(const Einsum& einsum, const Mapping& mapping);

}  // namespace solar::bound

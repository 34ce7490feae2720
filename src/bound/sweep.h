#pragma once
// The boxes that a nest of tile loops leaves, counted by their sizes instead of walked.

#include <cstdint>
#include <vector>

#include "bound/access.h"
#include "bound/einsum.h"
#include "bound/few.h"
#include "bound/mapping.h"

namespace solar::bound {

/// So many intervals of this length.
struct Pieces {
  int64_t length = 1;
  int64_t count = 1;
};

/// An interval inside a larger one.
struct Interval {
  int64_t start = 0;
  int64_t length = 1;
};

/// Two intervals that follow each other in time, `shift` between their starts, so many times.
struct Succession {
  int64_t count = 1;
  int64_t before = 1;
  int64_t after = 1;
  int64_t shift = 0;
};

/// The loops above one storage node, outermost first.
class Sweep {
 public:
  Sweep(const Einsum& einsum, std::vector<Step> loops);
  size_t loops() const { return loops_.size(); }
  int32_t dim_of(size_t loop) const { return loops_[loop].index; }
  /// The intervals of a dim that the loops before `loop` leave.
  Few<Pieces> pieces(int32_t dim, size_t loop) const;
  /// The intervals that all loops leave.
  Few<Pieces> leaves(int32_t dim) const { return pieces(dim, loops_.size()); }
  /// How many there are, and each.
  int64_t count(int32_t dim) const;
  std::vector<Interval> intervals(int32_t dim) const;
  /// The first, longest of them.
  int64_t longest(int32_t dim) const;
  /// What a dim's interval does when loop `loop` takes a step: the loops inside it start over.
  Few<Succession> at_step(int32_t dim, size_t loop) const;

 private:
  Interval first(int32_t dim, int64_t length, size_t from) const;
  Interval last(int32_t dim, int64_t length, size_t from) const;

  const Einsum* einsum_;
  std::vector<Step> loops_;
};

/// Sum over all boxes that the loops leave of what each touches in one rank.
int64_t total_image(const Rank& rank, const Sweep& sweep);
/// Sum over the steps of one loop of what the box before and the box after share in one rank.
int64_t total_overlap(const Rank& rank, const Sweep& sweep, size_t loop);

struct Entering {
  __int128 elements = 0;
  /// Every element of the whole box entered at least so many times.
  __int128 each = 1;
};

/// What enters a buffer below the loops: what all boxes touch, less what each shares with the one
/// before where the step from that one is of loop `from` or further inwards. `others` are the dims
/// that loops may split and no rank has. Must fit: the box has at most 2^63 points.
Entering total_entering(const std::vector<Rank>& ranks, const std::vector<int32_t>& others,
                        const Sweep& sweep, size_t from);

}  // namespace solar::bound

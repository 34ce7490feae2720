#pragma once
// Where a sequence of symbols repeats itself at once. Private to ir/.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace solar::ir {

/// symbols[i] == symbols[i + period] for begin <= i and i + period < end; at least two periods.
struct TandemRun {
  size_t begin = 0;
  size_t end = 0;
  size_t period = 0;
  size_t copies() const { return (end - begin) / period; }
  friend bool operator==(const TandemRun&, const TandemRun&) = default;
};

struct TandemRuns {
  std::vector<TandemRun> runs = {};
  int64_t steps = 0;  // comparisons made
};

/// The maximal runs of three periods and more with the shortest period, and most of two periods;
/// negative symbols equal nothing. At most 64 comparisons a symbol: of a sequence that would take
/// more, only some runs.
TandemRuns tandem_runs(const std::vector<int32_t>& symbols);

}  // namespace solar::ir

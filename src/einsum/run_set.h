#pragma once
// Sets of non-negative integers as sorted runs: the building block of regions and domains. A
// triangle of n rows is n runs, a box one. All operations are exact; cost is linear in the number
// of runs.

#include <cstdint>
#include <memory>
#include <vector>

namespace solar::einsum {

/// The integers begin <= x < end.
struct Run {
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

/// A set of integers: sorted, disjoint, non-adjacent runs, so that equal sets compare equal.
class RunSet {
 public:
  RunSet() = default;
  static RunSet interval(int64_t begin, int64_t end);
  /// Any runs in any order; overlapping ones are merged, empty ones dropped.
  static RunSet from_runs(std::vector<Run> runs);

  const std::vector<Run>& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  int64_t count() const { return count_; }
  bool contains(int64_t value) const;
  bool covers(const RunSet& other) const;
  bool is_interval(int64_t begin, int64_t end) const;
  /// The first run that ends after `value`.
  std::vector<Run>::const_iterator first_ending_after(int64_t value) const;

  friend bool operator==(const RunSet&, const RunSet&) = default;

 private:
  std::vector<Run> runs_ = {};
  int64_t count_ = 0;
};

using SharedRunSet = std::shared_ptr<const RunSet>;

RunSet unite(const RunSet& a, const RunSet& b);
RunSet intersect(const RunSet& a, const RunSet& b);
RunSet subtract(const RunSet& a, const RunSet& b);

/// Collects runs in any order. Keeps memory bounded: beyond `kMaximumRuns` disjoint runs it drops
/// what is added and says so, and the result is a subset.
class RunSetBuilder {
 public:
  static constexpr size_t kMaximumRuns = size_t{1} << 22;

  /// All values added lie in [0, universe).
  explicit RunSetBuilder(int64_t universe) : universe_(universe) {}
  void add(int64_t begin, int64_t end);
  bool truncated() const { return truncated_; }
  RunSet finish();

 private:
  void compact();
  void mark(int64_t begin, int64_t end);

  int64_t universe_ = 0;
  std::vector<Run> runs_ = {};
  std::vector<uint64_t> bits_ = {};  // used instead of runs_ when many runs arrive out of order
  size_t compact_at_ = size_t{1} << 14;
  bool sorted_ = true;
  bool truncated_ = false;
};

}  // namespace solar::einsum

#pragma once
// Walks some loops of a nest in written order, the last fastest, ragged ones over their range.

#include <optional>
#include <vector>

#include "exec/index_value.h"

namespace solar::exec {

struct LoopRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// The values that a loop visits, given the loops before it.
LoopRange range_of(const Nest& nest, int loop, const int64_t* loops, std::optional<Fault>& fault);

class NestWalk {
 public:
  NestWalk(const Nest& nest, std::vector<int> loops)
      : nest_(&nest), loops_(std::move(loops)), ends_(loops_.size()) {}

  /// Puts `values` at the first point. False: there is none, or a fault.
  bool first(int64_t* values) { return enter(0, values); }
  bool next(int64_t* values) { return step(loops_.size(), values); }
  const std::optional<Fault>& fault() const { return fault_; }

  /// Part of one loop's range; all other loops stay whole.
  void limit(int loop, LoopRange range) {
    limited_ = loop;
    limit_ = range;
  }

 private:
  bool enter(size_t at, int64_t* values);
  bool step(size_t at, int64_t* values);

  const Nest* nest_;
  std::vector<int> loops_;
  std::vector<int64_t> ends_;
  int limited_ = -1;
  LoopRange limit_ = {};
  std::optional<Fault> fault_ = {};
};

}  // namespace solar::exec

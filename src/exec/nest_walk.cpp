#include "exec/nest_walk.h"

#include <algorithm>

namespace solar::exec {

LoopRange range_of(const Nest& nest, int loop, const int64_t* loops, std::optional<Fault>& fault) {
  const auto index = static_cast<size_t>(loop);
  const int64_t extent = nest.extents[index];
  if (!nest.has_ragged || !nest.ragged[index]) return {0, extent};
  const IndexPoint at = {nest.atoms, nest.atom_sources, loops, nest.steps};
  return {std::max<int64_t>(index_value(nest.ragged[index]->begin, at, fault), 0),
          std::min(index_value(nest.ragged[index]->end, at, fault), extent)};
}

/// Sets the loops from `at` on to their first values, moving loops before it on where a range is
/// empty.
bool NestWalk::enter(size_t at, int64_t* values) {
  for (; at < loops_.size(); ++at) {
    LoopRange range = range_of(*nest_, loops_[at], values, fault_);
    if (fault_) return false;
    if (loops_[at] == limited_) {
      range = {std::max(range.begin, limit_.begin), std::min(range.end, limit_.end)};
    }
    values[loops_[at]] = range.begin;
    ends_[at] = range.end;
    if (range.begin < range.end) continue;
    while (true) {
      if (at == 0) return false;
      --at;
      if (++values[loops_[at]] < ends_[at]) break;
    }
  }
  return true;
}

bool NestWalk::step(size_t at, int64_t* values) {
  while (at-- > 0) {
    if (++values[loops_[at]] < ends_[at]) return enter(at + 1, values);
  }
  return false;
}

}  // namespace solar::exec

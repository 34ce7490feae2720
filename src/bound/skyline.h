#pragma once
// The points of capacity and traffic that no other point beats in both.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace solar::bound {

/// Capacity strictly ascending, traffic strictly descending. `What` says how a point is reached.
template <class What>
class Skyline {
 public:
  struct Entry {
    int64_t capacity = 0;
    int64_t traffic = 0;
    What what = {};
  };

  /// Whether some point is nowhere worse.
  bool beats(int64_t capacity, int64_t traffic) const {
    const auto after = first_above(capacity);
    return after != entries_.begin() && std::prev(after)->traffic <= traffic;
  }

  void add(int64_t capacity, int64_t traffic, What what) {
    if (beats(capacity, traffic)) return;
    const auto from = std::lower_bound(entries_.begin(), entries_.end(), capacity,
                                       [](const Entry& e, int64_t c) { return e.capacity < c; });
    auto to = from;
    while (to != entries_.end() && to->traffic >= traffic) ++to;
    if (to == from) {
      entries_.insert(from, Entry{capacity, traffic, std::move(what)});
      return;
    }
    *from = Entry{capacity, traffic, std::move(what)};
    entries_.erase(from + 1, to);
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  auto first_above(int64_t capacity) const {
    return std::upper_bound(entries_.begin(), entries_.end(), capacity,
                            [](int64_t c, const Entry& e) { return c < e.capacity; });
  }
  std::vector<Entry> entries_ = {};
};

}  // namespace solar::bound

#pragma once
// Elements as unsigned integers of the same order: NaN is largest and equal to itself, -0 equals 0.

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "exec/element.h"
#include "exec/nest.h"

namespace solar::exec {

inline uint64_t sort_key(float x) {
  if (std::isnan(x)) return UINT32_MAX;
  const auto bits = std::bit_cast<uint32_t>(x == 0 ? 0.0F : x);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
inline uint64_t sort_key(double x) {
  if (std::isnan(x)) return UINT64_MAX;
  const auto bits = std::bit_cast<uint64_t>(x == 0 ? 0.0 : x);
  return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
}
inline uint64_t sort_key(int64_t x) { return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63); }
inline uint64_t sort_key(uint8_t x) { return x; }

/// An element to sort: its key, and its position, which makes the order stable.
struct SortItem {
  uint64_t key = 0;
  int64_t position = 0;
  friend bool operator<(const SortItem& a, const SortItem& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  }
};

/// Fills `items` with elements first + stride * i of `from`. `descending` turns the keys round.
inline void load_items(const DataRef& from, int64_t first, int64_t stride, bool descending,
                       std::vector<SortItem>& items) {
  const uint64_t turn = descending ? UINT64_MAX : 0;
  with_codec(from.type, [&](auto codec) {
    using C = decltype(codec);
    const auto* data = reinterpret_cast<const typename C::Storage*>(from.data);
    for (size_t i = 0; i < items.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      items[i] = {sort_key(C::load(data[first + stride * at])) ^ turn, at};
    }
  });
}

}  // namespace solar::exec

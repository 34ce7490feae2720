#include "bound/live.h"

#include <algorithm>

#include "base/checked.h"

namespace solar::bound {
namespace {

constexpr int64_t kMostIntervals = int64_t{1} << 14;

// The guards over one pair of dims.
struct GuardedPair {
  int32_t a = 0, b = 0;
  std::vector<const Guard*> guards = {};
};

std::vector<GuardedPair> guarded_pairs(const Einsum& einsum) {
  std::vector<GuardedPair> pairs;
  for (const Guard& guard : einsum.guards) {
    if (guard.terms.size() != 2) continue;
    const int32_t a = guard.terms[0].dim, b = guard.terms[1].dim;
    const auto same = std::find_if(pairs.begin(), pairs.end(),
                                   [&](const GuardedPair& p) { return p.a == a && p.b == b; });
    const bool taken = std::any_of(pairs.begin(), pairs.end(), [&](const GuardedPair& p) {
      return p.a == a || p.a == b || p.b == a || p.b == b;
    });
    if (same != pairs.end())
      same->guards.push_back(&guard);
    else if (!taken)
      pairs.push_back({.a = a, .b = b, .guards = {&guard}});
  }
  return pairs;
}

// Sum over pairs of intervals that no guard empties of the elements: lengths where the tensor has
// the dim, else one.
__int128 sum_of_pairs(const GuardedPair& pair, const std::vector<Interval>& first, bool has_a,
                      const std::vector<Interval>& second, bool has_b) {
  std::vector<int64_t> before = {0};
  for (const Interval& interval : second)
    before.push_back(before.back() + (has_b ? interval.length : 1));
  __int128 sum = 0;
  for (const Interval& interval : first) {
    auto from = second.begin(), to = second.end();
    for (const Guard* guard : pair.guards) {
      const int64_t c = guard->terms[0].coefficient, d = guard->terms[1].coefficient;
      const int64_t best = c > 0 ? interval.start + interval.length - 1 : interval.start;
      const int64_t rest = saturating_add(saturating_mul(c, best), guard->offset);
      // An interval of b lives if its best end does; they ascend.
      const auto lives = [&](const Interval& other) {
        const int64_t end = d > 0 ? other.start + other.length - 1 : other.start;
        return saturating_add(saturating_mul(d, end), rest) >= 0;
      };
      if (d > 0)
        from = std::max(from, std::partition_point(second.begin(), second.end(),
                                                   [&](const Interval& i) { return !lives(i); }));
      else
        to = std::min(to, std::partition_point(second.begin(), second.end(), lives));
    }
    if (from >= to) continue;
    const int64_t lived = before[static_cast<size_t>(to - second.begin())] -
                          before[static_cast<size_t>(from - second.begin())];
    sum += static_cast<__int128>(has_a ? interval.length : 1) * lived;
  }
  return sum;
}

}  // namespace

std::optional<__int128> total_live(const Einsum& einsum, const std::vector<Rank>& ranks,
                                   const std::vector<int32_t>& others, const Sweep& sweep) {
  std::vector<bool> alone(einsum.dims.size(), false), windowed = alone, done = alone;
  for (const Rank& rank : ranks)
    for (int32_t dim : rank.dims)
      (rank.is_window() ? windowed : alone)[static_cast<size_t>(dim)] = true;
  __int128 total = 1;
  bool any = false;
  for (const GuardedPair& pair : guarded_pairs(einsum)) {
    const auto a = static_cast<size_t>(pair.a), b = static_cast<size_t>(pair.b);
    if (windowed[a] || windowed[b] || sweep.count(pair.a) > kMostIntervals ||
        sweep.count(pair.b) > kMostIntervals)
      continue;
    total *=
        sum_of_pairs(pair, sweep.intervals(pair.a), alone[a], sweep.intervals(pair.b), alone[b]);
    done[a] = done[b] = any = true;
  }
  if (!any) return std::nullopt;
  for (const Rank& rank : ranks)
    if (!done[static_cast<size_t>(rank.dims[0])]) total *= total_image(rank, sweep);
  for (int32_t dim : others)
    if (!done[static_cast<size_t>(dim)]) total *= sweep.count(dim);
  return total;
}

}  // namespace solar::bound

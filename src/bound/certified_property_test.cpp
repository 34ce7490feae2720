// Lower bounds against every execution of tiny products, and against tilings and caches of random
// ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <random>
#include <unordered_map>

#include "bound/certified.h"
#include "bound/curve.h"
#include "bound/random_einsum.h"
#include "bound/single_cases.h"

namespace solar::bound {
namespace {

TEST(CertifiedProperty, NeverAboveATilingOfARandomEinsum) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    Shape shape{.dims = 3, .largest = 5};
    shape.windows = seed % 2 == 0;
    shape.widths = seed % 3 == 0;
    shape.guards = seed % 5 == 0 ? 1 : 0;
    const Einsum einsum = random_einsum(random, shape);
    for (const Point& point : traffic_curve(einsum))
      EXPECT_LE(certified_traffic(einsum, point.capacity).bytes, point.traffic)
          << "seed " << seed << " capacity " << point.capacity;
  }
}

/// The fewest transfers of any execution of a product with `capacity` elements on chip: a search
/// over which elements are there, how far each result is, and which products are done.
class Pebbles {
 public:
  Pebbles(int m, int k, int n, int capacity) : m_(m), k_(k), n_(n), capacity_(capacity) {}

  int best() {
    const int elements = m_ * k_ + k_ * n_ + m_ * n_;
    using State = std::pair<uint64_t, uint64_t>;  // what is there; what is done and in DRAM
    const auto hash = [](const State& state) {
      return (state.first * 0x9E3779B97F4A7C15u) ^ (state.second * 0xC2B2AE3D27D4EB4Fu);
    };
    std::unordered_map<State, int, decltype(hash)> cost(1 << 16, hash);
    std::deque<State> open;
    const State start{0, 0};
    cost[start] = 0;
    open.push_back(start);
    const auto products = static_cast<uint64_t>(m_ * k_ * n_);
    const uint64_t all = (uint64_t{1} << products) - 1;
    while (!open.empty()) {
      const State at = open.front();
      open.pop_front();
      const int spent = cost.at(at);
      const auto [there, rest] = at;
      const uint64_t done = rest & all;
      const uint64_t saved = rest >> products;  // results whose latest value is in DRAM
      if (done == all && saved == (uint64_t{1} << (m_ * n_)) - 1) return spent;
      const auto step = [&](uint64_t next_there, uint64_t next_done, uint64_t next_saved,
                            int more) {
        const State next{next_there, next_done | next_saved << products};
        const auto [known, added] = cost.try_emplace(next, spent + more);
        if (!added && known->second <= spent + more) return;
        known->second = spent + more;
        more == 0 ? open.push_front(next) : open.push_back(next);
      };
      const int held = std::popcount(there);
      for (int e = 0; e < elements; ++e) {
        const uint64_t bit = uint64_t{1} << e;
        const int result = e - m_ * k_ - k_ * n_;
        if (there & bit) {
          const bool lost = result >= 0 && !(saved >> result & 1) && started(result, done);
          if (!lost) step(there & ~bit, done, saved, 0);
          if (result >= 0 && !(saved >> result & 1))
            step(there, done, saved | uint64_t{1} << result, 1);
        } else if (held < capacity_) {
          const bool fresh = result >= 0 && !started(result, done);
          step(there | bit, done, saved, fresh ? 0 : 1);
        }
      }
      for (int i = 0; i < m_; ++i) {
        for (int j = 0; j < n_; ++j) {
          for (int l = 0; l < k_; ++l) {
            const uint64_t product = uint64_t{1} << ((i * n_ + j) * k_ + l);
            const uint64_t needed = uint64_t{1} << (i * k_ + l) |
                                    uint64_t{1} << (m_ * k_ + l * n_ + j) |
                                    uint64_t{1} << (m_ * k_ + k_ * n_ + i * n_ + j);
            if ((done & product) || (there & needed) != needed) continue;
            step(there, done | product, saved & ~(uint64_t{1} << (i * n_ + j)), 0);
          }
        }
      }
    }
    return -1;
  }

 private:
  bool started(int result, uint64_t done) const {
    return (done >> (result * k_) & ((uint64_t{1} << k_) - 1)) != 0;
  }

  int m_;
  int k_;
  int n_;
  int capacity_;
};

TEST(CertifiedProperty, NeverAboveTheBestExecution) {
  // 0-1 breadth-first: zero-cost steps go to the front.
  struct Size {
    int m, k, n, most;
  };
  for (const Size size : {Size{1, 2, 2, 6}, Size{2, 1, 2, 6}, Size{2, 2, 2, 3}}) {
    for (int capacity = 3; capacity <= size.most; ++capacity) {
      const int best = Pebbles(size.m, size.k, size.n, capacity).best();
      ASSERT_GT(best, 0);
      if (size.m * size.k * size.n == 8) {
        EXPECT_EQ(best, 17);  // known
      }
      const Einsum einsum = matmul(size.m, size.k, size.n);
      EXPECT_LE(certified_traffic(einsum, capacity).bytes, best) << capacity;
      for (const Point& point : traffic_curve(einsum)) {
        if (point.capacity > capacity) break;
        EXPECT_GE(point.traffic, best) << capacity;
      }
    }
  }
}

/// Transfers of a sequence of products through a cache of `capacity` elements that drops the
/// element used last (or first) in the future (or past).
int64_t through_a_cache(const std::vector<std::vector<int64_t>>& uses, int64_t first_result,
                        int64_t capacity, bool knows_the_future) {
  std::map<int64_t, std::vector<size_t>> times;
  for (size_t t = 0; t < uses.size(); ++t) {
    for (const int64_t element : uses[t]) times[element].push_back(t);
  }
  struct Held {
    size_t last = 0;
    bool changed = false;
  };
  std::map<int64_t, Held> cache;
  std::map<int64_t, bool> written;  // results that were in DRAM before
  int64_t moved = 0;
  const auto next_use = [&](int64_t element, size_t after) {
    const auto& all = times[element];
    const auto at = std::upper_bound(all.begin(), all.end(), after);
    return at == all.end() ? uses.size() + 1 : *at;
  };
  const auto drop_one = [&](const std::vector<int64_t>& needed, size_t now) {
    auto worst = cache.end();
    for (auto at = cache.begin(); at != cache.end(); ++at) {
      if (std::find(needed.begin(), needed.end(), at->first) != needed.end()) continue;
      const auto rank = [&](const auto& one) {
        return knows_the_future ? next_use(one->first, now) : uses.size() - one->second.last;
      };
      if (worst == cache.end() || rank(at) > rank(worst)) worst = at;
    }
    if (worst->second.changed) {
      ++moved;
      written[worst->first] = true;
    }
    cache.erase(worst);
  };
  for (size_t t = 0; t < uses.size(); ++t) {
    for (const int64_t element : uses[t]) {
      const bool result = element >= first_result;
      if (!cache.contains(element)) {
        if (static_cast<int64_t>(cache.size()) == capacity) drop_one(uses[t], t);
        if (!result || written[element]) ++moved;
        cache[element] = {};
      }
      cache[element].last = t;
      cache[element].changed = cache[element].changed || result;
    }
  }
  for (const auto& [element, held] : cache) moved += held.changed ? 1 : 0;
  return moved;
}

TEST(CertifiedProperty, NeverAboveACache) {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const int64_t m = pick(1, 6);
    const int64_t k = pick(1, 6);
    const int64_t n = pick(1, 6);
    const int64_t tile_m = pick(1, m);
    const int64_t tile_k = pick(1, k);
    const int64_t tile_n = pick(1, n);
    std::vector<std::vector<int64_t>> uses;
    for (int64_t i0 = 0; i0 < m; i0 += tile_m)
      for (int64_t l0 = 0; l0 < k; l0 += tile_k)
        for (int64_t j0 = 0; j0 < n; j0 += tile_n)
          for (int64_t i = i0; i < std::min(m, i0 + tile_m); ++i)
            for (int64_t l = l0; l < std::min(k, l0 + tile_k); ++l)
              for (int64_t j = j0; j < std::min(n, j0 + tile_n); ++j)
                uses.push_back({i * k + l, m * k + l * n + j, m * k + k * n + i * n + j});
    if (seed % 3 == 0) std::shuffle(uses.begin(), uses.end(), random);
    for (int64_t capacity = 3; capacity <= 40; capacity += 1 + capacity / 4) {
      const int64_t least = certified_traffic(matmul(m, k, n), capacity).bytes;
      EXPECT_LE(least, through_a_cache(uses, m * k + k * n, capacity, true)) << "seed " << seed;
      EXPECT_LE(least, through_a_cache(uses, m * k + k * n, capacity, false)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace solar::bound

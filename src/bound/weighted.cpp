#include "bound/weighted.h"

#include <algorithm>
#include <cmath>

#include "bound/conservative.h"

namespace solar::bound {

namespace {

class Search {
 public:
  Search(const std::vector<Transfer>& transfers, const std::vector<Products>& products,
         long double overlap, int64_t capacity, CacheState cache)
      : transfers_(transfers),
        products_(products),
        overlap_(overlap),
        capacity_(static_cast<long double>(capacity)),
        boundaries_(cache == CacheState::Cold ? 1 : 0),
        shares_(transfers.size(), 0) {
    long double all = 0;
    for (const Products& one : products) {
      const auto points = static_cast<long double>(one.points);
      all += points;
      for (const int32_t at : one.tensors) shares_[static_cast<size_t>(at)] += points;
    }
    for (long double& share : shares_) share = all > 0 ? share / all : 1;
  }

  Excess best() {
    // The value is smooth in h with one hill for given weights: a coarse walk, then finer ones.
    long double factor = 2;
    long double around = 1;
    for (long double h = 1; h < 1e18L; h *= factor) try_segments(h);
    for (int round = 0; round < 40; ++round) {
      around = static_cast<long double>(best_.segments);
      factor = std::sqrt(factor);
      try_segments(std::floor(around * factor));
      try_segments(std::ceil(around / factor));
    }
    for (int step = -3; step <= 3; ++step) try_segments(around + step);
    return best_;
  }

 private:
  void try_segments(long double h) {
    if (!(h >= 1) || h > 1e18L) return;
    const auto whole = static_cast<int64_t>(h);
    std::vector<long double> weights(transfers_.size(), 1);
    keep(whole, weights);
    // Each weight wants weight * width * elements to be the cube root, and at most 1.
    for (int round = 0; round < 24; ++round) {
      const long double root = cube_root(whole, weights);
      long double change = 0;
      for (size_t i = 0; i < weights.size(); ++i) {
        const long double bytes =
            transfers_[i].width * static_cast<long double>(transfers_[i].elements);
        const long double wanted = bytes > 0 ? std::min(1.0L, shares_[i] * root / bytes) : 1;
        const long double next = std::sqrt(weights[i] * std::max(wanted, 1e-12L));
        change = std::max(change, std::fabs(next - weights[i]) / weights[i]);
        weights[i] = next;
      }
      if (change < 1e-9L) break;
    }
    keep(whole, weights);
  }

  long double cube_root(int64_t h, const std::vector<long double>& weights) const {
    long double all = 0;
    for (const Products& one : products_) {
      long double weight = 1;
      for (const int32_t at : one.tensors)
        weight *= weights[static_cast<size_t>(at)] * transfers_[static_cast<size_t>(at)].width;
      all += static_cast<long double>(one.points) / one.spread * std::sqrt(weight);
    }
    all /= overlap_;
    return std::cbrt(static_cast<long double>(h) * all * all);
  }

  void keep(int64_t h, std::vector<long double> weights) {
    for (long double& weight : weights) weight = static_cast<double>(weight);  // as reported
    LowerSum sum;
    sum.add(3 * cube_root(h, weights));
    long double largest = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      const long double width = weights[i] * transfers_[i].width;
      largest = std::max(largest, width);
      sum.add(-width * static_cast<long double>(transfers_[i].elements));
    }
    // A segment ends before the transfer that would overfill it: up to one element is lost.
    sum.add(-(static_cast<long double>(h) - boundaries_) * capacity_);
    sum.add(-(static_cast<long double>(h) - 1) * largest);
    const int64_t bytes = sum.floor();
    if (bytes <= best_.bytes) return;
    best_.bytes = bytes;
    best_.segments = h;
    best_.weights.assign(weights.begin(), weights.end());
  }

  const std::vector<Transfer>& transfers_;
  const std::vector<Products>& products_;
  long double overlap_;
  long double capacity_;
  long double boundaries_;
  std::vector<long double> shares_;  // of all products, those that use the tensor
  Excess best_ = {};
};

}  // namespace

Excess weighted_excess(const std::vector<Transfer>& transfers,
                       const std::vector<Products>& products, long double overlap, int64_t capacity,
                       CacheState cache) {
  return Search(transfers, products, overlap, capacity, cache).best();
}

}  // namespace solar::bound

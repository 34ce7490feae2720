#include "bound/certified.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "base/checked.h"
#include "bound/conservative.h"
#include "bound/weighted.h"

namespace solar::bound {

namespace {

constexpr double kExponents[] = {0, 1.0 / 3, 0.5, 2.0 / 3, 1};
constexpr size_t kMostTensors = 5;  // of which all exponents are tried

bool uses(const Tensor& tensor, int32_t dim) {
  return std::any_of(tensor.axes.begin(), tensor.axes.end(), [&](const Affine& axis) {
    return std::any_of(axis.terms.begin(), axis.terms.end(),
                       [&](const Term& term) { return term.dim == dim; });
  });
}

/// The narrowest in which an element crosses to or from DRAM, or is kept.
Width narrowest(const Tensor& tensor) {
  const Width width = std::min(tensor.dram, tensor.on_chip);
  return tensor.is_output ? std::min(width, tensor.partial) : width;
}

long double bytes_each(Width width) { return static_cast<long double>(width.bytes_per_32) / 32; }

bool repeats_an_array(const Einsum& einsum) {
  for (size_t i = 0; i < einsum.tensors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (einsum.tensors[i].array == einsum.tensors[j].array) return true;
    }
  }
  return false;
}

/// A product of two inputs into one output.
bool is_product(const Einsum& einsum) {
  return einsum.tensors.size() == 3 && !einsum.tensors[0].is_output &&
         !einsum.tensors[1].is_output && einsum.tensors[2].is_output;
}

/// Points over one axis that share its value, at most: of sums of two dims the exact number.
int64_t multiplicity(const Einsum& einsum, const Affine& axis) {
  std::vector<Term> terms;
  for (const Term& term : axis.terms) {
    if (einsum.dims[static_cast<size_t>(term.dim)].extent > 1) terms.push_back(term);
  }
  const auto extent = [&](const Term& term) {
    return einsum.dims[static_cast<size_t>(term.dim)].extent;
  };
  if (terms.size() < 2) return 1;
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return std::abs(a.coefficient) > std::abs(b.coefficient);
  });
  // Digits of a number: each step is larger than all that the smaller ones span.
  int64_t span = 0;
  bool digits = true;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    digits = digits && std::abs(term->coefficient) > span;
    span = saturating_add(span, saturating_mul(std::abs(term->coefficient), extent(*term) - 1));
  }
  if (digits) return 1;
  if (terms.size() == 2) {
    const int64_t step = std::gcd(terms[0].coefficient, terms[1].coefficient);
    const auto chain = [&](const Term& moved, const Term& other) {
      const int64_t stride = std::abs(other.coefficient) / step;
      return (extent(moved) + stride - 1) / stride;
    };
    return std::min(chain(terms[0], terms[1]), chain(terms[1], terms[0]));
  }
  // All dims but the longest decide the value of that one.
  int64_t all = 1;
  int64_t longest = 1;
  for (const Term& term : terms) longest = std::max(longest, extent(term));
  bool left_out = false;
  for (const Term& term : terms) {
    if (!left_out && extent(term) == longest) {
      left_out = true;
    } else {
      all = saturating_mul(all, extent(term));
    }
  }
  return all;
}

class Segmented {
 public:
  Segmented(const Einsum& einsum, int64_t capacity)
      : einsum_(einsum), capacity_(static_cast<long double>(capacity)) {
    for (const Tensor& tensor : einsum.tensors) {
      widths_.push_back(bytes_each(narrowest(tensor)));
      multiplicities_.push_back(static_cast<long double>(multiplicity(einsum, tensor)));
    }
    const auto [least, most] = std::minmax_element(widths_.begin(), widths_.end());
    largest_ = *most;
    uniform_ = *least == *most;
  }

  Certified best() {
    std::vector<double> exponents(einsum_.tensors.size(), 0);
    choose(0, exponents);
    return best_;
  }

 private:
  void choose(size_t at, std::vector<double>& exponents) {
    if (at == exponents.size()) return try_exponents(exponents);
    for (const double exponent : kExponents) {
      exponents[at] = exponent;
      choose(at + 1, exponents);
    }
  }

  void try_exponents(const std::vector<double>& exponents) {
    const long double sum = std::accumulate(exponents.begin(), exponents.end(), 0.0L);
    if (sum <= 0) return;
    long double factor = uncovered(einsum_, exponents);
    for (size_t t = 0; t < exponents.size(); ++t) {
      if (exponents[t] == 0) continue;
      const auto exponent = static_cast<long double>(exponents[t]);
      factor *= std::pow(multiplicities_[t] * exponent / (sum * widths_[t]), exponent);
    }
    const long double best = sum > 1 ? capacity_ / (sum - 1) : capacity_;
    for (const long double reads :
         {best, best / 2, best * 2, capacity_ / 4, capacity_ / 2, capacity_, capacity_ * 2,
          capacity_ * 4, best * 0.9L, best * 1.1L}) {
      try_reads(exponents, sum, factor, reads);
    }
  }

  /// A segment is a run of transfers as long as they read no more than `reads` bytes.
  void try_reads(const std::vector<double>& exponents, long double sum, long double factor,
                 long double reads) {
    const long double whole = std::floor(reads / largest_) * largest_;
    const long double sure = uniform_ ? whole : whole - largest_;  // read in each but the last
    if (sure <= 0 || whole > 4e18L) return;
    const long double most =
        factor * std::pow(capacity_ + whole, sum) * (1 + 64 * LowerSum::kRelativeError);
    const long double needed =
        std::ceil(static_cast<long double>(einsum_.points) / most * (1 - 1e-15L));
    if (!(needed >= 2)) return;
    const long double bytes = sure * (needed - 1);  // exact below 2^59: widths are 32nds
    if (!(bytes < 0x1p59L)) return;
    if (static_cast<int64_t>(bytes) <= best_.bytes) return;
    best_ = {static_cast<int64_t>(bytes), Theorem::Segments, static_cast<int64_t>(needed),
             static_cast<int64_t>(whole), exponents,         {}};
  }

  const Einsum& einsum_;
  long double capacity_;
  std::vector<long double> widths_ = {};
  std::vector<long double> multiplicities_ = {};
  long double largest_ = 0;
  bool uniform_ = true;
  Certified best_ = {};
};

int64_t footprint_bytes(const Tensor& tensor) { return bytes_of(tensor.footprint, tensor.dram); }

}  // namespace

std::string_view name(Theorem theorem) {
  switch (theorem) {
    case Theorem::Compulsory:
      return "compulsory";
    case Theorem::Segments:
      return "segments";
    case Theorem::Weighted:
      return "weighted-segments";
    case Theorem::Pairs:
      return "pairs";
  }
  return "";
}

int64_t compulsory_traffic(const Einsum& einsum) {
  std::map<int32_t, int64_t> read;
  int64_t total = 0;
  for (const Tensor& tensor : einsum.tensors) {
    if (tensor.is_output) {
      total = saturating_add(total, footprint_bytes(tensor));
    } else {
      int64_t& most = read[tensor.array];
      most = std::max(most, footprint_bytes(tensor));
    }
  }
  for (const auto& [array, bytes] : read) total = saturating_add(total, bytes);
  return total;
}

int64_t multiplicity(const Einsum& einsum, const Tensor& tensor) {
  int64_t all = 1;
  for (const Affine& axis : tensor.axes) all = saturating_mul(all, multiplicity(einsum, axis));
  return all;
}

long double uncovered(const Einsum& einsum, const std::vector<double>& exponents) {
  long double product = 1;
  for (size_t d = 0; d < einsum.dims.size(); ++d) {
    const int64_t extent = einsum.dims[d].extent;
    if (extent <= 1) continue;
    long double covered = 0;
    for (size_t t = 0; t < einsum.tensors.size(); ++t) {
      if (uses(einsum.tensors[t], static_cast<int32_t>(d))) covered += exponents[t];
    }
    if (covered < 1)
      product *= std::pow(static_cast<long double>(extent), 1 - covered) * (1 + 1e-16L);
  }
  return product;
}

Certified certified_traffic(const Einsum& einsum, int64_t capacity, CacheState cache) {
  Certified best;
  best.bytes = compulsory_traffic(einsum);
  if (cache == CacheState::Warm)  // each byte of the cache saves a transfer
    best.bytes = std::max<int64_t>(0, best.bytes - capacity);
  // Where everything fits, compulsory traffic is reached.
  const bool fits = capacity >= compulsory_traffic(einsum);
  if (capacity <= 0 || fits || repeats_an_array(einsum) || !is_product(einsum)) return best;
  if (cache == CacheState::Cold && einsum.tensors.size() <= kMostTensors) {
    const Certified segmented = Segmented(einsum, capacity).best();
    if (segmented.bytes > best.bytes) best = segmented;
  }
  std::vector<Transfer> transfers;
  long double spread = uncovered(einsum, {0.5, 0.5, 0.5});
  for (const Tensor& tensor : einsum.tensors) {
    transfers.push_back({tensor.footprint, bytes_each(narrowest(tensor))});
    spread *= std::sqrt(static_cast<long double>(multiplicity(einsum, tensor)));
  }
  const Excess excess =
      weighted_excess(transfers, {{einsum.points, spread, {0, 1, 2}}}, 1, capacity, cache);
  const int64_t weighted =
      excess.bytes > 0 ? saturating_add(compulsory_traffic(einsum), excess.bytes) : 0;
  if (weighted > best.bytes) {
    best = {weighted, Theorem::Weighted, excess.segments, 0, {}, excess.weights};
  }
  return best;
}

}  // namespace solar::bound

#include "einsum/carried_reads.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "einsum/prepare.h"

namespace solar::einsum {
namespace {

/// What a tensor is, and what it may be at the steps of its loop.
struct Identity {
  ir::TensorId own = {};
  std::vector<ir::TensorId> starts = {};  // through the loops around it
  std::optional<ir::TensorId> next = {};
  int32_t loop = -1;
  int32_t body = -1;
};

Identity identity_of(const ProgramIndex& index, ir::TensorId tensor) {
  const auto base = [&](ir::TensorId id) { return whole_read(index, id).access.base; };
  Identity made;
  made.own = tensor;
  const ir::Carried* carried = index.carried_of(tensor);
  if (carried == nullptr) return made;
  const Placed& carry = index.placed(index.producer(tensor));
  made.loop = carry.owner;
  made.body = carry.block;
  made.next = base(carried->next);
  for (; carried != nullptr; carried = index.carried_of(made.starts.back()))
    made.starts.push_back(base(carried->initial));
  return made;
}

bool contains(const std::vector<ir::TensorId>& all, ir::TensorId one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Whether the carried value is `other` in some step. One that the same body makes anew each step
/// is not: the carried value is that of the step before.
bool goes_on_as(const ProgramIndex& index, const Identity& carried, const Identity& other) {
  if (carried.next != other.own) return false;
  return other.loop >= 0 || !index.is_in(other.own, carried.body);
}

bool may_be_one(const ProgramIndex& index, const Identity& a, const Identity& b) {
  if (contains(a.starts, b.own) || contains(b.starts, a.own)) return true;
  if (std::any_of(a.starts.begin(), a.starts.end(),
                  [&](ir::TensorId start) { return contains(b.starts, start); })) {
    return true;
  }
  if (a.loop == b.loop) return a.next && a.next == b.next;
  return goes_on_as(index, a, b) || goes_on_as(index, b, a);
}

}  // namespace

int64_t read_as_another(const ProgramIndex& index, const std::vector<Transfer>& reads) {
  const bool none = std::none_of(reads.begin(), reads.end(), [&](const Transfer& read) {
    return index.carried_of(read.tensor) != nullptr;
  });
  if (none || reads.size() < 2) return 0;
  std::vector<Identity> identities;
  for (const Transfer& read : reads) identities.push_back(identity_of(index, read.tensor));
  std::vector<size_t> set(reads.size());
  std::iota(set.begin(), set.end(), size_t{0});
  for (size_t i = 0; i < reads.size(); ++i) {
    if (identities[i].loop < 0) continue;
    for (size_t j = 0; j < reads.size(); ++j) {
      if (j == i || set[i] == set[j] || !may_be_one(index, identities[i], identities[j])) continue;
      std::replace(set.begin(), set.end(), size_t{set[j]}, size_t{set[i]});
    }
  }
  int64_t all = 0;
  std::vector<int64_t> largest(reads.size(), 0);
  for (size_t i = 0; i < reads.size(); ++i) {
    all += reads[i].bytes.min.value;
    largest[set[i]] = std::max(largest[set[i]], reads[i].bytes.min.value);
  }
  return all - std::accumulate(largest.begin(), largest.end(), int64_t{0});
}

}  // namespace solar::einsum

#include "bound/access.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/checked.h"
#include "bound/few.h"

namespace solar::bound {
namespace {

constexpr int64_t kLargestSpan = int64_t{1} << 20;
constexpr int64_t kLargestGroup = int64_t{1} << 16;

int64_t magnitude_of(int64_t value) { return value < 0 ? -value : value; }

// Whether a point can be told from its axes, solving one dim after the other.
bool tells_dims_apart(const Rank& rank) {
  std::vector<bool> known(rank.dims.size(), false);
  size_t left = rank.dims.size();
  for (bool progress = true; progress && left > 0;) {
    progress = false;
    for (const auto& axis : rank.axes) {
      std::optional<size_t> only;
      int unknown = 0;
      for (size_t i = 0; i < axis.size(); ++i) {
        if (axis[i] == 0 || known[i]) continue;
        ++unknown;
        only = i;
      }
      if (unknown != 1) continue;
      known[*only] = true;
      --left;
      progress = true;
    }
  }
  return left == 0;
}

// The values of one axis: from the smallest on, every `step`-th, `count` of them.
struct ValueRun {
  int64_t smallest = 0;
  int64_t step = 1;
  int64_t count = 1;
};

int64_t smallest_value(const std::vector<int64_t>& axis, std::span<const int64_t> lengths) {
  int64_t smallest = 0;
  for (size_t i = 0; i < axis.size(); ++i)
    if (axis[i] < 0) smallest = saturating_add(smallest, saturating_mul(axis[i], lengths[i] - 1));
  return smallest;
}

// None where the values have holes.
std::optional<ValueRun> as_run(const std::vector<int64_t>& axis, std::span<const int64_t> lengths) {
  Few<std::pair<int64_t, int64_t>> terms;  // coefficient, length
  ValueRun run{.smallest = smallest_value(axis, lengths)};
  for (size_t i = 0; i < axis.size(); ++i)
    if (lengths[i] > 1) terms.push_back({magnitude_of(axis[i]), lengths[i]});
  if (terms.empty()) return run;
  std::sort(terms.begin(), terms.end());
  run.step = terms[0].first;
  for (auto [coefficient, length] : terms) {
    if (coefficient % run.step != 0 || coefficient / run.step > run.count) return std::nullopt;
    const auto more = checked_mul(coefficient / run.step, length - 1);
    if (!more) return std::nullopt;
    run.count = saturating_add(run.count, *more);
  }
  return run;
}

// All between the ends.
ValueRun range_of(const Rank& rank, std::span<const int64_t> lengths) {
  const auto& axis = rank.axes[0];
  ValueRun run{.smallest = smallest_value(axis, lengths), .step = rank.range_step};
  for (size_t i = 0; i < axis.size(); ++i)
    run.count =
        saturating_add(run.count, saturating_mul(magnitude_of(axis[i]) / run.step, lengths[i] - 1));
  return run;
}

// Values in both; -1 where the steps differ.
int64_t shared_values(const ValueRun& a, const ValueRun& b) {
  if (a.count == 1 || b.count == 1) {
    const ValueRun& one = a.count == 1 ? a : b;
    const ValueRun& other = a.count == 1 ? b : a;
    const int64_t from = one.smallest - other.smallest;
    return from >= 0 && from % other.step == 0 && from / other.step < other.count;
  }
  if (a.step != b.step || (a.smallest - b.smallest) % a.step != 0) return a.step == b.step ? 0 : -1;
  const int64_t from = std::max(a.smallest, b.smallest);
  const int64_t left_a = a.count - (from - a.smallest) / a.step;
  const int64_t left_b = b.count - (from - b.smallest) / b.step;
  return std::max<int64_t>(0, std::min(left_a, left_b));
}

// Which of the values from the smallest on are there; none where there are too many.
std::optional<std::vector<uint8_t>> value_set(const std::vector<int64_t>& axis,
                                              std::span<const int64_t> lengths) {
  int64_t span = 1;
  for (size_t i = 0; i < axis.size(); ++i)
    span = saturating_add(span, saturating_mul(magnitude_of(axis[i]), lengths[i] - 1));
  if (span > kLargestSpan) return std::nullopt;
  std::vector<uint8_t> there(static_cast<size_t>(span), 0);
  there[0] = 1;
  for (size_t i = 0; i < axis.size(); ++i) {
    const auto step = static_cast<size_t>(magnitude_of(axis[i]));
    if (step == 0 || lengths[i] == 1) continue;
    // How far back the last value that was there before is, in steps.
    std::vector<int64_t> since(there.size(), lengths[i]);
    for (size_t v = 0; v < there.size(); ++v) {
      if (there[v])
        since[v] = 0;
      else if (v >= step)
        since[v] = std::min(lengths[i], since[v - step] + 1);
      there[v] = since[v] < lengths[i];
    }
  }
  return there;
}

int64_t product_of_lengths(std::span<const int64_t> lengths) {
  int64_t result = 1;
  for (int64_t length : lengths) result = saturating_mul(result, length);
  return result;
}

// The elements of a group of axes, by enumeration; the shift moves the box.
std::optional<std::set<std::vector<int64_t>>> group_elements(const Rank& rank,
                                                             std::span<const int64_t> lengths,
                                                             std::span<const int64_t> shift) {
  if (product_of_lengths(lengths) > kLargestGroup) return std::nullopt;
  std::set<std::vector<int64_t>> all;
  std::vector<int64_t> at(lengths.size(), 0);
  for (;;) {
    std::vector<int64_t> element;
    for (const auto& axis : rank.axes) {
      int64_t value = 0;
      for (size_t i = 0; i < at.size(); ++i)
        value += axis[i] * (at[i] + (shift.empty() ? 0 : shift[i]));
      element.push_back(value);
    }
    all.insert(std::move(element));
    size_t i = 0;
    while (i < at.size() && ++at[i] == lengths[i]) at[i++] = 0;
    if (i == at.size()) return all;
  }
}

int64_t axis_image(const std::vector<int64_t>& axis, std::span<const int64_t> lengths) {
  if (const auto run = as_run(axis, lengths)) return run->count;
  if (const auto there = value_set(axis, lengths))
    return std::count(there->begin(), there->end(), uint8_t{1});
  int64_t points = 1, span = 1;
  for (size_t i = 0; i < axis.size(); ++i) {
    if (axis[i] != 0) points = saturating_mul(points, lengths[i]);
    span = saturating_add(span, saturating_mul(magnitude_of(axis[i]), lengths[i] - 1));
  }
  return std::min(points, span);
}

}  // namespace

std::vector<Rank> ranks_of(const Tensor& tensor) {
  // Groups of axes that share dims.
  std::vector<std::set<int32_t>> groups;
  std::vector<std::vector<size_t>> members;
  for (size_t a = 0; a < tensor.axes.size(); ++a) {
    std::set<int32_t> dims;
    for (const Term& term : tensor.axes[a].terms) dims.insert(term.dim);
    if (dims.empty()) continue;
    std::vector<size_t> axes = {a};
    for (size_t g = 0; g < groups.size();) {
      const bool meets =
          std::any_of(dims.begin(), dims.end(), [&](int32_t d) { return groups[g].count(d); });
      if (!meets) {
        ++g;
        continue;
      }
      dims.insert(groups[g].begin(), groups[g].end());
      axes.insert(axes.end(), members[g].begin(), members[g].end());
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(g));
    }
    groups.push_back(std::move(dims));
    members.push_back(std::move(axes));
  }
  std::vector<Rank> ranks;
  for (size_t g = 0; g < groups.size(); ++g) {
    Rank rank{.dims = {groups[g].begin(), groups[g].end()}};
    for (size_t a : members[g]) {
      std::vector<int64_t> row(rank.dims.size(), 0);
      for (const Term& term : tensor.axes[a].terms)
        for (size_t i = 0; i < rank.dims.size(); ++i)
          if (rank.dims[i] == term.dim) row[i] = term.coefficient;
      rank.axes.push_back(std::move(row));
    }
    if (members[g].size() == 1) rank.axis = static_cast<int32_t>(members[g][0]);
    if (tells_dims_apart(rank)) {
      for (int32_t dim : rank.dims) ranks.push_back({.dims = {dim}, .axes = {{1}}});
    } else {
      ranks.push_back(std::move(rank));
    }
  }
  return ranks;
}

std::optional<Rank> whole_range(const Rank& rank, const Einsum& einsum) {
  if (!rank.is_window() || rank.axes.size() != 1) return std::nullopt;
  std::vector<int64_t> extents;
  for (int32_t dim : rank.dims) extents.push_back(einsum.dims[static_cast<size_t>(dim)].extent);
  const auto all = as_run(rank.axes[0], extents);
  if (!all) return std::nullopt;
  const auto& axis = rank.axes[0];
  const bool holes =
      std::any_of(axis.begin(), axis.end(), [&](int64_t c) { return magnitude_of(c) > all->step; });
  if (!holes) return std::nullopt;
  Rank result = rank;
  result.range_step = all->step;
  return result;
}

int64_t image(const Rank& rank, std::span<const int64_t> lengths) {
  if (rank.dims.size() == 1) return lengths[0];
  if (rank.range_step > 0) return range_of(rank, lengths).count;
  if (rank.axes.size() == 1) return axis_image(rank.axes[0], lengths);
  if (const auto all = group_elements(rank, lengths, {})) return static_cast<int64_t>(all->size());
  int64_t result = 1;
  for (const auto& axis : rank.axes) result = saturating_mul(result, axis_image(axis, lengths));
  return std::min(result, product_of_lengths(lengths));
}

int64_t overlap(const Rank& rank, std::span<const int64_t> first, std::span<const int64_t> second,
                std::span<const int64_t> shift) {
  if (rank.dims.size() == 1)
    return std::max<int64_t>(
        0, std::min(first[0], shift[0] + second[0]) - std::max<int64_t>(0, shift[0]));
  const bool same = std::all_of(shift.begin(), shift.end(), [](int64_t s) { return s == 0; }) &&
                    std::equal(first.begin(), first.end(), second.begin());
  if (same) return image(rank, first);
  if (rank.axes.size() > 1) {
    const auto before = group_elements(rank, first, {});
    const auto after = group_elements(rank, second, shift);
    if (!before || !after) return 0;
    return std::count_if(after->begin(), after->end(),
                         [&](const auto& element) { return before->count(element) != 0; });
  }
  const auto& axis = rank.axes[0];
  int64_t moved = 0;
  for (size_t i = 0; i < axis.size(); ++i)
    moved = saturating_add(moved, saturating_mul(axis[i], shift[i]));
  const bool range = rank.range_step > 0;
  const auto before = range ? range_of(rank, first) : as_run(axis, first);
  auto after = range ? range_of(rank, second) : as_run(axis, second);
  if (before && after) {
    after->smallest = saturating_add(after->smallest, moved);
    const int64_t both = shared_values(*before, *after);
    if (both >= 0) return both;
  }
  const auto there = value_set(axis, first);
  const auto next = value_set(axis, second);
  if (!there || !next) return 0;
  const int64_t from = moved + smallest_value(axis, second) - smallest_value(axis, first);
  int64_t both = 0;
  for (size_t v = 0; v < next->size(); ++v) {
    const int64_t at = from + static_cast<int64_t>(v);
    if ((*next)[v] && at >= 0 && at < static_cast<int64_t>(there->size()))
      both += (*there)[static_cast<size_t>(at)];
  }
  return both;
}

int64_t box_image(const Einsum& einsum, const Tensor& tensor) {
  int64_t result = 1;
  for (const Rank& rank : ranks_of(tensor)) {
    std::vector<int64_t> lengths;
    for (int32_t dim : rank.dims) lengths.push_back(einsum.dims[static_cast<size_t>(dim)].extent);
    result = saturating_mul(result, image(rank, lengths));
  }
  return result;
}

}  // namespace solar::bound

#include "bound/sweep.h"

#include <algorithm>
#include <utility>

namespace solar::bound {
namespace {

void add_pieces(Few<Pieces>& pieces, int64_t length, int64_t count) {
  if (length == 0 || count == 0) return;
  for (Pieces& piece : pieces) {
    if (piece.length != length) continue;
    piece.count += count;
    return;
  }
  pieces.push_back({.length = length, .count = count});
}

int64_t count_of(const Few<Pieces>& pieces) {
  int64_t count = 0;
  for (const Pieces& piece : pieces) count += piece.count;
  return count;
}

}  // namespace

Sweep::Sweep(const Einsum& einsum, std::vector<Step> loops)
    : einsum_(&einsum), loops_(std::move(loops)) {}

Few<Pieces> Sweep::pieces(int32_t dim, size_t loop) const {
  Few<Pieces> all;
  all.push_back({.length = einsum_->dims[static_cast<size_t>(dim)].extent});
  for (size_t j = 0; j < loop; ++j) {
    if (loops_[j].index != dim) continue;
    Few<Pieces> split;
    for (const Pieces& piece : all) {
      add_pieces(split, std::min(loops_[j].tile, piece.length),
                 std::max<int64_t>(1, piece.length / loops_[j].tile) * piece.count);
      if (piece.length > loops_[j].tile)
        add_pieces(split, piece.length % loops_[j].tile, piece.count);
    }
    all = std::move(split);
  }
  return all;
}

int64_t Sweep::count(int32_t dim) const { return count_of(leaves(dim)); }

std::vector<Interval> Sweep::intervals(int32_t dim) const {
  std::vector<Interval> all = {{.length = einsum_->dims[static_cast<size_t>(dim)].extent}};
  for (const Step& loop : loops_) {
    if (loop.index != dim) continue;
    std::vector<Interval> split;
    for (const Interval& whole : all)
      for (int64_t at = 0; at < whole.length; at += loop.tile)
        split.push_back(
            {.start = whole.start + at, .length = std::min(loop.tile, whole.length - at)});
    all = std::move(split);
  }
  return all;
}

int64_t Sweep::longest(int32_t dim) const {
  return first(dim, einsum_->dims[static_cast<size_t>(dim)].extent, 0).length;
}

Interval Sweep::first(int32_t dim, int64_t length, size_t from) const {
  for (size_t j = from; j < loops_.size(); ++j)
    if (loops_[j].index == dim) length = std::min(length, loops_[j].tile);
  return {.start = 0, .length = length};
}

Interval Sweep::last(int32_t dim, int64_t length, size_t from) const {
  Interval at{.start = 0, .length = length};
  for (size_t j = from; j < loops_.size(); ++j) {
    if (loops_[j].index != dim || at.length <= loops_[j].tile) continue;
    const int64_t before = (at.length - 1) / loops_[j].tile * loops_[j].tile;
    at.start += before;
    at.length -= before;
  }
  return at;
}

Few<Succession> Sweep::at_step(int32_t dim, size_t loop) const {
  Few<Succession> all;
  for (const Pieces& piece : pieces(dim, loop)) {
    if (dim != loops_[loop].index) {
      const Interval end = last(dim, piece.length, loop);
      all.push_back({.count = piece.count,
                     .before = end.length,
                     .after = first(dim, piece.length, loop).length,
                     .shift = -end.start});
      continue;
    }
    const int64_t tile = loops_[loop].tile;
    if (piece.length <= tile) continue;
    const Interval end = last(dim, tile, loop + 1);
    const int64_t full = piece.length / tile - 1;
    const int64_t rest = piece.length % tile;
    const Succession step{.before = end.length, .shift = tile - end.start};
    if (full > 0) {
      all.push_back(step);
      all.back().count = full * piece.count;
      all.back().after = first(dim, tile, loop + 1).length;
    }
    if (rest > 0) {
      all.push_back(step);
      all.back().count = piece.count;
      all.back().after = first(dim, rest, loop + 1).length;
    }
  }
  return all;
}

int64_t total_image(const Rank& rank, const Sweep& sweep) {
  if (rank.dims.size() == 1) {
    int64_t sum = 0;
    for (const Pieces& piece : sweep.leaves(rank.dims[0])) sum += piece.length * piece.count;
    return sum;
  }
  std::vector<Few<Pieces>> choices;
  for (int32_t dim : rank.dims) choices.push_back(sweep.leaves(dim));
  std::vector<size_t> at(choices.size(), 0);
  std::vector<int64_t> lengths(choices.size(), 1);
  for (int64_t sum = 0;;) {
    int64_t count = 1;
    for (size_t i = 0; i < at.size(); ++i) {
      lengths[i] = choices[i][at[i]].length;
      count *= choices[i][at[i]].count;
    }
    sum += count * image(rank, lengths);
    size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size()) at[i++] = 0;
    if (i == at.size()) return sum;
  }
}

int64_t total_overlap(const Rank& rank, const Sweep& sweep, size_t loop) {
  if (rank.dims.size() == 1) {
    int64_t sum = 0;
    for (const Succession& step : sweep.at_step(rank.dims[0], loop))
      sum += step.count * overlap(rank, {&step.before, 1}, {&step.after, 1}, {&step.shift, 1});
    return sum;
  }
  std::vector<Few<Succession>> choices;
  for (int32_t dim : rank.dims) {
    choices.push_back(sweep.at_step(dim, loop));
    if (choices.back().empty()) return 0;
  }
  std::vector<size_t> at(choices.size(), 0);
  std::vector<int64_t> before(at.size(), 1), after(at.size(), 1), shift(at.size(), 0);
  for (int64_t sum = 0;;) {
    int64_t count = 1;
    for (size_t i = 0; i < at.size(); ++i) {
      const Succession& step = choices[i][at[i]];
      before[i] = step.before;
      after[i] = step.after;
      shift[i] = step.shift;
      count *= step.count;
    }
    sum += count * overlap(rank, before, after, shift);
    size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size()) at[i++] = 0;
    if (i == at.size()) return sum;
  }
}

Entering total_entering(const std::vector<Rank>& ranks, const std::vector<int32_t>& others,
                        const Sweep& sweep, size_t from) {
  Entering result{.elements = 1};
  for (const Rank& rank : ranks) result.elements *= total_image(rank, sweep);
  for (int32_t dim : others) result.each *= sweep.count(dim);
  result.elements *= result.each;
  bool anew = true;  // each combination of the others' steps starts from nothing
  for (size_t j = from; j < sweep.loops(); ++j) {
    __int128 shared = 1;
    bool between = false;
    for (int32_t dim : others) {
      int64_t count = 0;
      between = between || dim == sweep.dim_of(j);
      if (dim == sweep.dim_of(j))
        for (const Succession& step : sweep.at_step(dim, j)) count += step.count;
      else
        count = count_of(sweep.pieces(dim, j));
      shared *= count;
    }
    for (size_t r = 0; r < ranks.size() && shared != 0; ++r)
      shared *= total_overlap(ranks[r], sweep, j);
    result.elements -= shared;
    anew = anew && !(between && shared != 0);
  }
  if (!anew || from > 0) result.each = 1;
  return result;
}

}  // namespace solar::bound

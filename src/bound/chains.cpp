#include "bound/chains.h"

#include <algorithm>

namespace solar::bound {
namespace {

// Past it only halves are tried.
constexpr int64_t kLongest = int64_t{1} << 28;

// A gap where a dim may be split; where `free`, to single steps without loss.
struct Place {
  int32_t gap = 0;
  bool free = false;
};

std::vector<Place> places(const Presence& where, const Order& order, bool everywhere,
                          bool mind_windows) {
  const auto count = static_cast<int32_t>(where.has.size());
  std::vector<Place> all;
  const auto add = [&](int32_t gap) {
    gap = std::max(gap, order.first_gap);
    if (all.empty() || all.back().gap < gap) all.push_back({.gap = gap});
  };
  for (int32_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (everywhere) {
      add(i);
      continue;
    }
    if (!where.has[at]) continue;
    const bool starts = i == 0 || !where.has[at - 1];
    const bool below_window = mind_windows && i > 0 && where.window[at - 1];
    // A run that starts too early starts at the first gap that may have loops.
    if (starts || below_window || i == order.first_gap) {
      if (i >= order.first_gap) add(i);
    }
  }
  if (all.empty()) return all;
  const auto last = static_cast<size_t>(all.back().gap);
  bool free = true;
  for (size_t i = last; i < where.has.size(); ++i)
    free = free && where.has[i] && !(mind_windows && where.window[i]);
  all.back().free = free;
  return all;
}

// Of ascending tiles, about `limit`, evenly spaced in ratio, the ends among them.
std::vector<int64_t> thinned(std::vector<int64_t> tiles, int64_t limit) {
  if (static_cast<int64_t>(tiles.size()) <= limit || limit < 2) return tiles;
  std::vector<int64_t> kept;
  // Bit lengths stand for logarithms: limit / bits tiles in each octave, evenly spaced.
  int64_t octaves = 0;
  while ((tiles.back() >> octaves) != 0) ++octaves;
  const int64_t each = std::max<int64_t>(1, limit / octaves);
  for (int64_t octave = 0; octave < octaves; ++octave) {
    const auto from = std::lower_bound(tiles.begin(), tiles.end(), int64_t{1} << octave);
    const auto to = std::lower_bound(tiles.begin(), tiles.end(), int64_t{1} << (octave + 1));
    const int64_t there = to - from;
    for (int64_t i = 0; i < std::min(each, there); ++i)
      kept.push_back(*(from + i * there / std::min(each, there)));
  }
  if (kept.empty() || kept.back() != tiles.back()) kept.push_back(tiles.back());
  return kept;
}

void add_trip_tiles(int64_t length, std::vector<int64_t>& tiles) {
  if (length > kLongest) {
    for (int64_t tile = length; tile > 1; tile -= tile / 2) tiles.push_back(tile);
    tiles.push_back(1);
    return;
  }
  // ceil(length / q) for all q: the smallest tile of each trip count.
  for (int64_t q = 1; q <= length;) {
    const int64_t tile = (length + q - 1) / q;
    tiles.push_back(tile);
    if (tile == 1) break;
    q = (length + tile - 2) / (tile - 1);  // the first q with a smaller one
  }
}

class ChainBuilder {
 public:
  struct Tiles {
    bool all_tiles = false;  // at the first place every integer
    bool ragged = false;     // further in also what suits the ragged last tiles
    bool once = false;       // further in only single steps
    int64_t limit = 0;
  };
  ChainBuilder(int32_t dim, const std::vector<Place>& places, const Tiles& tiles)
      : dim_(dim), places_(places), rules_(tiles) {}

  std::vector<std::vector<GapLoop>> run(int64_t extent) {
    extend(0, {extent});
    return std::move(found_);
  }

 private:
  // `lengths`: of the pieces so far, the longest first.
  void extend(size_t at, const std::vector<int64_t>& lengths) {
    if (at == places_.size()) {
      found_.push_back(loops_);
      return;
    }
    std::vector<int64_t> tiles;
    if (places_[at].free) {
      tiles = {1};
    } else if (rules_.once && at > 0) {
      tiles = {lengths[0]};
      if (lengths[0] > 1) tiles.push_back(1);
    } else if (rules_.all_tiles && at == 0) {
      for (int64_t tile = 1; tile <= lengths[0]; ++tile) tiles.push_back(tile);
    } else {
      for (int64_t length : lengths)
        if (rules_.ragged || length == lengths[0]) add_trip_tiles(length, tiles);
      std::sort(tiles.begin(), tiles.end());
      tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
      tiles = thinned(std::move(tiles), rules_.limit);
    }
    for (int64_t tile : tiles) {
      if (tile >= lengths[0]) {
        extend(at + 1, lengths);
        continue;
      }
      std::vector<int64_t> next = {tile};
      for (int64_t length : lengths) {
        const int64_t rest = length < tile ? length : length % tile;
        if (rest != 0 && std::find(next.begin(), next.end(), rest) == next.end())
          next.push_back(rest);
      }
      loops_.push_back({.gap = places_[at].gap, .dim = dim_, .tile = tile});
      extend(at + 1, next);
      loops_.pop_back();
    }
  }

  int32_t dim_;
  const std::vector<Place>& places_;
  Tiles rules_;
  std::vector<GapLoop> loops_ = {};
  std::vector<std::vector<GapLoop>> found_ = {};
};

}  // namespace

Presence presence(const CostModel& model, const Order& order, int32_t dim) {
  Presence where;
  for (int32_t t : order.tensors) {
    bool has = false, window = false;
    const std::vector<Rank>& ranks = model.ranks(static_cast<size_t>(t));
    for (const Rank& rank : ranks) {
      if (std::find(rank.dims.begin(), rank.dims.end(), dim) == rank.dims.end()) continue;
      has = true;
      where.in_window = where.in_window || rank.is_window();
    }
    for (const Rank& rank : ranks) window = window || rank.is_window();
    where.has.push_back(has);
    where.window.push_back(window);
  }
  return where;
}

std::vector<std::vector<GapLoop>> chains(const Einsum& einsum, const Order& order, int32_t dim,
                                         const Presence& where, const SplitRules& rules) {
  const Dim& what = einsum.dims[static_cast<size_t>(dim)];
  if (what.ordered) return {{{.gap = order.first_gap, .dim = dim, .tile = 1}}};
  const bool windows =
      std::find(where.window.begin(), where.window.end(), true) != where.window.end();
  const bool narrow = windows && rules.windows == SplitRules::Windows::Narrow && !rules.thorough;
  const bool everywhere = rules.thorough ? windows : where.in_window && !narrow;
  // Narrowly, a window is held back only by splits of its own dims.
  const auto at = places(where, order, everywhere, windows && (where.in_window || !narrow));
  const auto choices =
      std::count_if(at.begin(), at.end(), [](const Place& place) { return !place.free; });
  const bool all_tiles =
      rules.thorough && (windows || choices > 1 || (choices == 1 && at.size() > 1));
  return ChainBuilder(dim, at,
                      {.all_tiles = all_tiles,
                       .ragged = rules.thorough,
                       .once = narrow,
                       .limit = rules.limit})
      .run(what.extent);
}

}  // namespace solar::bound

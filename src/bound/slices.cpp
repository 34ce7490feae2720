#include "bound/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/checked.h"

namespace solar::bound {

namespace {

constexpr size_t kMostLoops = 4;

/// The dim that an axis consists of, or -1.
int32_t sole_dim(const Affine& axis) {
  const bool plain = axis.offset == 0 && axis.terms.size() == 1 && axis.terms[0].coefficient == 1;
  return plain ? axis.terms[0].dim : -1;
}

/// Which dims of the units move together: they stand on the same axes of the arrays between them.
class SharedDims {
 public:
  SharedDims(const PlanGraph& graph, int32_t first, int32_t last)
      : graph_(graph), first_(first), last_(last) {
    for (int32_t unit = first; unit < last; ++unit) {
      offsets_.push_back(static_cast<int32_t>(parent_.size()));
      for (size_t d = 0; d < einsum(unit).dims.size(); ++d)
        parent_.push_back(static_cast<int32_t>(parent_.size()));
    }
    broken_.assign(parent_.size(), false);
    join();
  }

  int32_t shared(int32_t unit, int32_t dim) {
    return root(offsets_[static_cast<size_t>(unit - first_)] + dim);
  }

  /// Loops over these are legal around the group: every unit has the dim once, on an axis of its
  /// own of what it writes.
  std::vector<int32_t> loops() {
    std::vector<int32_t> found;
    const Einsum& last = einsum(last_ - 1);
    for (const Affine& axis : last.tensors.back().axes) {
      const int32_t dim = sole_dim(axis);
      if (dim < 0 || last.dims[static_cast<size_t>(dim)].extent <= 1) continue;
      const int32_t loop = shared(last_ - 1, dim);
      const bool known = std::find(found.begin(), found.end(), loop) != found.end();
      if (!known && is_legal(loop)) found.push_back(loop);
    }
    return found;
  }

  int64_t extent(int32_t loop) {
    for (size_t d = 0; d < einsum(last_ - 1).dims.size(); ++d) {
      if (shared(last_ - 1, static_cast<int32_t>(d)) == loop)
        return einsum(last_ - 1).dims[d].extent;
    }
    return 1;
  }

  std::string name(int32_t loop) {
    for (size_t d = 0; d < einsum(last_ - 1).dims.size(); ++d) {
      if (shared(last_ - 1, static_cast<int32_t>(d)) == loop) return einsum(last_ - 1).dims[d].name;
    }
    return "";
  }

 private:
  const Einsum& einsum(int32_t unit) const {
    return graph_.units[static_cast<size_t>(unit)].einsum;
  }

  int32_t root(int32_t at) {
    while (parent_[static_cast<size_t>(at)] != at) at = parent_[static_cast<size_t>(at)];
    return at;
  }

  void join() {
    struct Place {
      int32_t unit;
      const Tensor* tensor;
    };
    std::map<int32_t, std::vector<Place>> accesses;
    for (int32_t unit = first_; unit < last_; ++unit) {
      for (const Tensor& tensor : einsum(unit).tensors) {
        const int32_t writer = graph_.arrays[static_cast<size_t>(tensor.array)].writer;
        if (writer >= first_ && writer < last_) accesses[tensor.array].push_back({unit, &tensor});
      }
    }
    for (const auto& [array, places] : accesses) {
      size_t rank = places[0].tensor->axes.size();
      bool same_rank = true;
      for (const Place& place : places) same_rank = same_rank && place.tensor->axes.size() == rank;
      for (size_t axis = 0; axis < rank || !same_rank; ++axis) {
        bool plain = same_rank;
        for (const Place& place : places) plain = plain && sole_dim(place.tensor->axes[axis]) >= 0;
        for (const Place& place : places) {
          if (axis >= place.tensor->axes.size()) continue;
          for (const Term& term : place.tensor->axes[axis].terms) {
            const int32_t mine = shared(place.unit, term.dim);
            if (!plain) {
              broken_[static_cast<size_t>(mine)] = true;
            } else {
              const int32_t other = shared(places[0].unit, sole_dim(places[0].tensor->axes[axis]));
              if (mine == other) continue;
              broken_[static_cast<size_t>(other)] =
                  broken_[static_cast<size_t>(other)] || broken_[static_cast<size_t>(mine)];
              parent_[static_cast<size_t>(mine)] = other;
            }
          }
        }
        const auto more = [&](const Place& place) { return axis + 1 < place.tensor->axes.size(); };
        if (!same_rank && std::none_of(places.begin(), places.end(), more)) break;
      }
    }
  }

  bool is_legal(int32_t loop) {
    for (size_t i = 0; i < parent_.size(); ++i) {
      if (broken_[i] && root(static_cast<int32_t>(i)) == loop) return false;
    }
    for (int32_t unit = first_; unit < last_; ++unit) {
      int count = 0;
      for (size_t d = 0; d < einsum(unit).dims.size(); ++d) {
        if (shared(unit, static_cast<int32_t>(d)) != loop) continue;
        ++count;
        if (einsum(unit).dims[d].ordered) return false;
      }
      if (count != 1) return false;
      int written = 0;
      for (const Affine& axis : einsum(unit).tensors.back().axes) {
        const int32_t dim = sole_dim(axis);
        if (dim >= 0 && shared(unit, dim) == loop) ++written;
      }
      if (written != 1) return false;
    }
    return true;
  }

  const PlanGraph& graph_;
  int32_t first_;
  int32_t last_;
  std::vector<int32_t> offsets_ = {};
  std::vector<int32_t> parent_ = {};
  std::vector<bool> broken_ = {};
};

/// One array as the group moves it: per loop, whether it is sliced along it.
struct Stream {
  int32_t array = 0;
  std::vector<bool> along = {};
  std::vector<std::pair<int64_t, int32_t>> axes = {};  // extent, place of the loop or -1
  int64_t bytes = 0;                                   // of all slices, each once
  int32_t begin = 0;                                   // units between which it is on chip
  int32_t end = 0;
  bool external = false;
};

class Slicer {
 public:
  Slicer(const PlanGraph& graph, int32_t first, int32_t last, int64_t capacity)
      : graph_(graph),
        first_(first),
        last_(last),
        capacity_(capacity),
        dims_(graph, first, last),
        all_loops_(dims_.loops()) {
    if (all_loops_.size() > kMostLoops) all_loops_.resize(kMostLoops);
  }

  std::optional<Group> best() {
    for (size_t count = 0; count <= all_loops_.size(); ++count) {
      loops_.assign(all_loops_.begin(), all_loops_.begin() + static_cast<std::ptrdiff_t>(count));
      make_streams();
      for (const bool hold : {true, false}) {
        hold_ = hold;
        try_tiles();
      }
      if (best_ && best_->traffic == least_) break;
    }
    return best_;
  }

 private:
  const Einsum& einsum(int32_t unit) const {
    return graph_.units[static_cast<size_t>(unit)].einsum;
  }

  void make_streams() {
    streams_.clear();
    for (int32_t unit = first_; unit < last_; ++unit) {
      for (const Tensor& tensor : einsum(unit).tensors) add_stream(unit, tensor);
    }
    least_ = bytes_left_by(graph_, first_, last_);
    for (const Stream& stream : streams_) {
      if (stream.external) least_ = saturating_add(least_, stream.bytes);
    }
  }

  void add_stream(int32_t unit, const Tensor& tensor) {
    const PlanArray& array = graph_.arrays[static_cast<size_t>(tensor.array)];
    Stream stream{.array = tensor.array, .begin = unit, .end = unit + 1};
    stream.external = array.writer < first_ || array.writer >= last_;
    stream.along.assign(loops_.size(), false);
    for (const Affine& axis : tensor.axes) {
      const int32_t dim = sole_dim(axis);
      int64_t extent = std::max<int64_t>(1, axis.whole);
      for (const Term& term : axis.terms) {
        const int64_t steps = einsum(unit).dims[static_cast<size_t>(term.dim)].extent - 1;
        extent = saturating_add(extent, saturating_mul(std::abs(term.coefficient), steps));
      }
      int32_t place = -1;
      for (size_t l = 0; l < loops_.size() && dim >= 0; ++l) {
        if (dims_.shared(unit, dim) == loops_[l]) place = static_cast<int32_t>(l);
      }
      if (place >= 0) stream.along[static_cast<size_t>(place)] = true;
      stream.axes.emplace_back(extent, place);
    }
    stream.bytes = bytes_of(tensor.footprint, array.width);
    if (array.generated) return;
    const auto same = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& other) {
      return other.array == stream.array && (loops_.empty() || other.axes == stream.axes);
    });
    if (same == streams_.end()) return streams_.push_back(std::move(stream));
    same->end = std::max(same->end, unit + 1);
    same->bytes = std::min(std::max(array.bytes, same->bytes),
                           stream.external ? saturating_add(same->bytes, stream.bytes)
                                           : std::max(same->bytes, stream.bytes));
  }

  int64_t slice_bytes(const Stream& stream, int64_t tile) const {
    if (loops_.empty()) return stream.bytes;
    int64_t elements = 1;
    for (const auto& [extent, loop] : stream.axes) {
      const bool last = loop + 1 == static_cast<int32_t>(loops_.size());
      elements = saturating_mul(elements, loop < 0 ? extent : last ? tile : 1);
    }
    return bytes_of(elements, graph_.arrays[static_cast<size_t>(stream.array)].width);
  }

  bool is_sliced(const Stream& stream) const {
    return std::find(stream.along.begin(), stream.along.end(), true) != stream.along.end();
  }

  /// Held from one slice to the next, or fetched anew where it is used.
  bool is_held(const Stream& stream) const {
    if (!stream.external) return false;
    return hold_ || is_sliced(stream);
  }

  int64_t working_set(int64_t tile) const {
    int64_t most = 0;
    for (int32_t unit = first_; unit < last_; ++unit) {
      int64_t live = 0;
      for (const Stream& stream : streams_) {
        const bool here = is_held(stream) || (stream.begin <= unit && unit < stream.end);
        if (here) live = saturating_add(live, slice_bytes(stream, tile));
      }
      most = std::max(most, live);
    }
    return most;
  }

  int64_t trips(size_t loop, int64_t tile) {
    const int64_t extent = dims_.extent(loops_[loop]);
    return loop + 1 == loops_.size() ? (extent + tile - 1) / tile : extent;
  }

  int64_t traffic(int64_t tile) {
    int64_t total = bytes_left_by(graph_, first_, last_);
    for (const Stream& stream : streams_) {
      if (!stream.external) continue;
      int64_t times = 1;
      // Loops further out than its innermost one bring it again.
      size_t inner = 0;
      for (size_t l = 0; l < loops_.size(); ++l) {
        if (stream.along[l]) inner = l;
      }
      const bool again = is_sliced(stream) || !is_held(stream);
      const size_t until = is_sliced(stream) ? inner : loops_.size();
      for (size_t l = 0; again && l < until; ++l) {
        if (!stream.along[l]) times = saturating_mul(times, trips(l, tile));
      }
      total = saturating_add(total, saturating_mul(stream.bytes, times));
    }
    return total;
  }

  /// The largest tile of the innermost loop that fits: larger ones move less.
  void try_tiles() {
    int64_t low = 1;
    int64_t high = loops_.empty() ? 1 : dims_.extent(loops_.back());
    if (working_set(low) > capacity_) return;
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      if (working_set(middle) <= capacity_) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const int64_t moved = traffic(low);
    if (best_ && best_->traffic <= moved) return;
    best_ = Group{.first = first_,
                  .last = last_,
                  .strategy = loops_.empty() ? "resident" : "sliced",
                  .schedule = schedule(low),
                  .capacity = working_set(low),
                  .traffic = moved,
                  .loops = group_loops(low),
                  .holds = hold_};
  }

  std::vector<GroupLoop> group_loops(int64_t tile) {
    std::vector<GroupLoop> found;
    for (size_t l = 0; l < loops_.size(); ++l) {
      GroupLoop loop{.tile = l + 1 == loops_.size() ? tile : 1};
      for (int32_t unit = first_; unit < last_; ++unit) {
        for (size_t d = 0; d < einsum(unit).dims.size(); ++d) {
          if (dims_.shared(unit, static_cast<int32_t>(d)) == loops_[l])
            loop.dims.push_back(static_cast<int32_t>(d));
        }
      }
      found.push_back(std::move(loop));
    }
    return found;
  }

  std::string schedule(int64_t tile) {
    std::string text;
    for (size_t l = 0; l < loops_.size(); ++l) {
      const int64_t step = l + 1 == loops_.size() ? tile : 1;
      text += fmt::format("for {} in {}s of {}: ", dims_.name(loops_[l]), step,
                          dims_.extent(loops_[l]));
    }
    return text + names_of(graph_, first_, last_);
  }

  const PlanGraph& graph_;
  int32_t first_;
  int32_t last_;
  int64_t capacity_;
  SharedDims dims_;
  std::vector<int32_t> all_loops_;
  std::vector<int32_t> loops_ = {};
  std::vector<Stream> streams_ = {};
  int64_t least_ = 0;
  bool hold_ = true;
  std::optional<Group> best_ = {};
};

}  // namespace

std::optional<Group> sliced(const PlanGraph& graph, int32_t first, int32_t last, int64_t capacity) {
  return Slicer(graph, first, last, capacity).best();
}

}  // namespace solar::bound

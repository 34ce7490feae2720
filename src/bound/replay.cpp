#include "bound/replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/checked.h"

namespace solar::bound {
namespace {

constexpr int64_t kReplayPrime = 1'000'003;

using ReplayElement = std::vector<int64_t>;

struct ReplayBox {
  std::vector<int64_t> start = {};
  std::vector<int64_t> length = {};
};

int64_t affine_at(const Affine& affine, const std::vector<int64_t>& point) {
  int64_t value = affine.offset;
  for (const Term& term : affine.terms)
    value += term.coefficient * point[static_cast<size_t>(term.dim)];
  return value;
}

ReplayElement element_at(const Tensor& tensor, const std::vector<int64_t>& point) {
  ReplayElement element;
  for (const Affine& axis : tensor.axes) element.push_back(affine_at(axis, point));
  return element;
}

// Calls `body` with every point of the box in lexicographic order.
template <class Body>
void for_points_of(const ReplayBox& box, Body body) {
  std::vector<int64_t> point = box.start;
  for (;;) {
    body(point);
    size_t d = point.size();
    while (d > 0 && ++point[d - 1] == box.start[d - 1] + box.length[d - 1]) {
      point[d - 1] = box.start[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

class ReplayMachine {
 public:
  ReplayMachine(const Einsum& einsum, const Mapping& mapping, uint64_t seed)
      : einsum_(einsum), mapping_(mapping), state_(einsum.tensors.size()), random_(seed) {
    for (size_t t = 0; t < state_.size(); ++t) state_[t].place = t;
  }

  Replay run() {
    ReplayBox all;
    for (const Dim& dim : einsum_.dims) {
      all.start.push_back(0);
      all.length.push_back(dim.extent);
    }
    prepare(all);
    walk(0, all);
    Replay result;
    for (State& state : state_) {
      refill(state, {});
      const Tensor& tensor = einsum_.tensors[state.place];
      result.cost.tensors.push_back(state.traffic);
      result.cost.capacity =
          saturating_add(result.cost.capacity, held_bytes(tensor, state.traffic.held));
      result.cost.traffic = saturating_add(
          result.cost.traffic,
          tensor.is_output ? saturating_add(bytes_of(state.written - state.read_back, tensor.dram),
                                            bytes_of(2 * state.read_back, tensor.partial))
                           : bytes_of(state.traffic.entered, tensor.dram));
      if (tensor.is_output && state.dram != state.expected) fail("wrong values of " + tensor.name);
      if (!state.stored) fail(tensor.name + " has no buffer");
    }
    result.fault = fault_;
    return result;
  }

 private:
  struct State {
    size_t place = 0;
    bool stored = false;
    std::map<ReplayElement, int64_t> dram = {};
    std::map<ReplayElement, int64_t> expected = {};
    std::map<ReplayElement, int64_t> buffer = {};
    std::set<ReplayElement> touched = {};
    std::set<ReplayElement> unfinished = {};  // outputs of which partial sums are in DRAM
    TensorTraffic traffic = {};
    int64_t written = 0;
    int64_t read_back = 0;
  };

  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }

  bool counts(const std::vector<int64_t>& point) const {
    return std::all_of(einsum_.guards.begin(), einsum_.guards.end(),
                       [&](const Guard& guard) { return affine_at(guard, point) >= 0; });
  }

  // Whether some guard lets no point of the box count.
  bool emptied(const ReplayBox& box) const {
    return std::any_of(einsum_.guards.begin(), einsum_.guards.end(), [&](const Guard& guard) {
      int64_t most = guard.offset;
      for (const Term& term : guard.terms) {
        const auto d = static_cast<size_t>(term.dim);
        most += term.coefficient *
                (term.coefficient > 0 ? box.start[d] + box.length[d] - 1 : box.start[d]);
      }
      return most < 0;
    });
  }

  int64_t random() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((random_ >> 33) % kReplayPrime);
  }

  void prepare(const ReplayBox& all) {
    for_points_of(all, [&](const std::vector<int64_t>& point) {
      if (!counts(point)) return;
      int64_t product = 1;
      for (State& state : state_) {
        const Tensor& tensor = einsum_.tensors[state.place];
        ReplayElement element = element_at(tensor, point);
        if (!tensor.is_output) {
          const auto [at, fresh] = state.dram.try_emplace(element, 0);
          if (fresh) at->second = random();
          product = product * at->second % kReplayPrime;
        } else {
          int64_t& sum = state.expected[element];
          sum = (sum + product) % kReplayPrime;
        }
        state.touched.insert(std::move(element));
      }
    });
  }

  // Touched elements that differ from one of the box only in axes of `whole`, and lie between its
  // ends there.
  std::set<ReplayElement> between_ends(const State& state, uint32_t whole,
                                       const ReplayBox& box) const {
    std::set<ReplayElement> result;
    if (whole == 0) return result;
    const Tensor& tensor = einsum_.tensors[state.place];
    const auto without = [&](ReplayElement element) {
      for (size_t a = 0; a < element.size() && a < 32; ++a)
        if ((whole >> a & 1) != 0) element[a] = 0;
      return element;
    };
    std::map<ReplayElement, std::pair<ReplayElement, ReplayElement>>
        ends;  // smallest and largest, axis by axis
    for_points_of(box, [&](const std::vector<int64_t>& point) {
      const ReplayElement element = element_at(tensor, point);
      auto& [low, high] = ends.try_emplace(without(element), element, element).first->second;
      for (size_t a = 0; a < element.size(); ++a) {
        low[a] = std::min(low[a], element[a]);
        high[a] = std::max(high[a], element[a]);
      }
    });
    for (const ReplayElement& element : state.touched) {
      const auto found = ends.find(without(element));
      if (found == ends.end()) continue;
      bool inside = true;
      for (size_t a = 0; a < element.size(); ++a)
        inside =
            inside && found->second.first[a] <= element[a] && element[a] <= found->second.second[a];
      if (inside) result.insert(element);
    }
    return result;
  }

  // The buffer holds exactly `wanted` after this.
  void refill(State& state, const std::set<ReplayElement>& wanted) {
    const bool output = einsum_.tensors[state.place].is_output;
    for (auto at = state.buffer.begin(); at != state.buffer.end();) {
      if (wanted.count(at->first) != 0) {
        ++at;
        continue;
      }
      if (output) {
        state.dram[at->first] = at->second;
        state.unfinished.insert(at->first);
        ++state.written;
      }
      at = state.buffer.erase(at);
    }
    for (const ReplayElement& element : wanted) {
      if (state.buffer.count(element) != 0) continue;
      ++state.traffic.entered;
      if (output && state.unfinished.count(element) == 0) {
        state.buffer[element] = 0;
        continue;
      }
      state.read_back += output;
      state.buffer[element] = state.dram.at(element);
    }
    state.traffic.held = std::max(state.traffic.held, static_cast<int64_t>(state.buffer.size()));
  }

  void walk(size_t at, const ReplayBox& box) {
    if (at == mapping_.steps.size()) return compute(box);
    const Step& step = mapping_.steps[at];
    if (step.kind == Step::Kind::Store) {
      State& state = state_[static_cast<size_t>(step.index)];
      state.stored = true;
      std::set<ReplayElement> wanted = between_ends(state, step.whole, box);
      for_points_of(box, [&](const std::vector<int64_t>& point) {
        ReplayElement element = element_at(einsum_.tensors[state.place], point);
        if (state.touched.count(element) != 0) wanted.insert(std::move(element));
      });
      refill(state, wanted);
      return walk(at + 1, box);
    }
    const auto d = static_cast<size_t>(step.index);
    ReplayBox tile = box;
    for (int64_t from = 0; from < box.length[d]; from += step.tile) {
      tile.start[d] = box.start[d] + from;
      tile.length[d] = std::min(step.tile, box.length[d] - from);
      if (!emptied(tile)) walk(at + 1, tile);
    }
  }

  void compute(const ReplayBox& box) {
    for_points_of(box, [&](const std::vector<int64_t>& point) {
      if (!counts(point)) return;
      int64_t product = 1;
      for (State& state : state_) {
        const Tensor& tensor = einsum_.tensors[state.place];
        const auto found = state.buffer.find(element_at(tensor, point));
        if (found == state.buffer.end())
          return fail("an element of " + tensor.name + " is not in its buffer");
        if (tensor.is_output)
          found->second = (found->second + product) % kReplayPrime;
        else
          product = product * found->second % kReplayPrime;
      }
    });
  }

  const Einsum& einsum_;
  const Mapping& mapping_;
  std::vector<State> state_;
  uint64_t random_;
  std::string fault_ = {};
};

}  // namespace

Replay replay(const Einsum& einsum, const Mapping& mapping, uint64_t seed) {
  return ReplayMachine(einsum, mapping, seed).run();
}

}  // namespace solar::bound

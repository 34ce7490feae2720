#include "bound/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/checked.h"
#include "bound/merge.h"
#include "bound/slices.h"

namespace solar::bound {

namespace {

constexpr int32_t kLongest = 16;    // units of a group that is not the whole graph
constexpr size_t kMostTensors = 4;  // of an einsum whose tilings are looked for

class Planner {
 public:
  Planner(const PlanGraph& graph, int64_t capacity, const CurveSource& curves)
      : graph_(graph), capacity_(capacity), curves_(curves) {
    std::map<std::string, int64_t> numbers;
    for (const PlanUnit& unit : graph.units) {
      const auto number = static_cast<int64_t>(numbers.size());
      structures_.push_back(numbers.try_emplace(structure_of(unit.einsum), number).first->second);
    }
  }

  std::optional<Plan> run() {
    const auto count = static_cast<int32_t>(graph_.units.size());
    if (count == 0) return Plan{};
    if (auto whole = sliced(graph_, 0, count, capacity_); whole && whole->strategy == "resident")
      return Plan{{*whole}, whole->traffic};
    constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> best(static_cast<size_t>(count) + 1, kNone);
    std::vector<int32_t> from(static_cast<size_t>(count) + 1, 0);
    best[0] = 0;
    for (int32_t last = 1; last <= count; ++last) {
      for (int32_t first = std::max(0, last - kLongest); first < last; ++first) {
        if (best[static_cast<size_t>(first)] == kNone) continue;
        const auto traffic = traffic_of(first, last);
        if (!traffic) continue;
        const int64_t total = saturating_add(best[static_cast<size_t>(first)], *traffic);
        if (total >= best[static_cast<size_t>(last)]) continue;
        best[static_cast<size_t>(last)] = total;
        from[static_cast<size_t>(last)] = first;
      }
    }
    if (best.back() == kNone) return std::nullopt;
    Plan plan;
    plan.traffic = best.back();
    for (int32_t last = count; last > 0; last = plan.groups.back().first)
      plan.groups.push_back(*cheapest(from[static_cast<size_t>(last)], last));
    std::reverse(plan.groups.begin(), plan.groups.end());
    return plan;
  }

 private:
  /// Of the cheapest group, found once for all that are alike.
  std::optional<int64_t> traffic_of(int32_t first, int32_t last) {
    std::vector<int64_t> key = shape_of(first, last);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    const auto group = cheapest(first, last);
    const auto traffic = group ? std::optional(group->traffic) : std::nullopt;
    known_.emplace(std::move(key), traffic);
    return traffic;
  }

  /// The structures of the units and how their arrays hang together.
  std::vector<int64_t> shape_of(int32_t first, int32_t last) {
    std::vector<int64_t> shape;
    std::map<int32_t, int64_t> places;
    for (int32_t unit = first; unit < last; ++unit) {
      shape.push_back(structures_[static_cast<size_t>(unit)]);
      for (const Tensor& tensor : graph_.units[static_cast<size_t>(unit)].einsum.tensors) {
        const PlanArray& array = graph_.arrays[static_cast<size_t>(tensor.array)];
        const auto [place, added] =
            places.try_emplace(tensor.array, static_cast<int64_t>(places.size()));
        shape.push_back(place->second);
        if (!added) continue;
        const bool inside = array.writer >= first && array.writer < last;
        const bool leaves = array.stored || array.is_read_outside(first, last);
        shape.push_back(array.bytes);
        shape.push_back((inside ? 4 : 0) + (inside && leaves ? 2 : 0) + (array.generated ? 1 : 0));
      }
    }
    return shape;
  }

  std::optional<Group> cheapest(int32_t first, int32_t last) {
    auto best = sliced(graph_, first, last, capacity_);
    if (best && best->traffic <= least_bytes(graph_, first, last)) return best;
    const auto tiled = with_epilogue(first, last);
    if (tiled && (!best || tiled->traffic < best->traffic)) best = tiled;
    return best;
  }

  /// The first unit by its own tiling; the others are done to each of its results when that is
  /// finished, before it leaves.
  std::optional<Group> with_epilogue(int32_t first, int32_t last) {
    const Einsum& main = graph_.units[static_cast<size_t>(first)].einsum;
    if (main.tensors.size() > kMostTensors || !is_regular(main)) return std::nullopt;
    Einsum einsum = main;
    Tensor& output = einsum.tensors.back();
    int64_t held = 0;   // bytes beside the tiles
    int64_t moved = 0;  // bytes beside those of the tiling
    int32_t current = output.array;
    for (int32_t unit = first + 1; unit < last; ++unit) {
      const Einsum& next = graph_.units[static_cast<size_t>(unit)].einsum;
      const Tensor* input = follows(next, current);
      if (input == nullptr) return std::nullopt;
      const PlanArray& before = graph_.arrays[static_cast<size_t>(current)];
      if (before.stored || before.is_read_outside(first, last))
        moved = saturating_add(moved, before.bytes);
      for (const Tensor& other : next.tensors) {
        if (other.is_output || &other == input) continue;
        if (!add_operand(other, first, unit, held, moved)) return std::nullopt;
      }
      current = next.tensors.back().array;
    }
    const PlanArray& result = graph_.arrays[static_cast<size_t>(current)];
    // The finished element leaves once, as what the last unit makes of it.
    output.dram = result.width;
    output.partial = std::max(output.partial, result.width);
    for (Tensor& tensor : einsum.tensors)
      std::erase_if(tensor.axes, [](const Affine& axis) { return axis.terms.empty(); });
    const Point* point = best_point(curves_(einsum), capacity_ - held);
    if (point == nullptr) return std::nullopt;
    std::string schedule = schedule_text(einsum, *point);
    if (last - first > 1) schedule += ", " + names_of(graph_, first + 1, last);
    return Group{.first = first,
                 .last = last,
                 .strategy = last - first == 1 ? "alone" : "epilogue",
                 .schedule = std::move(schedule),
                 .capacity = saturating_add(point->capacity, held),
                 .traffic = saturating_add(point->traffic, moved)};
  }

  static bool is_regular(const Einsum& einsum) {
    return std::all_of(einsum.tensors.begin(), einsum.tensors.end(), [](const Tensor& tensor) {
      return std::all_of(tensor.axes.begin(), tensor.axes.end(),
                         [](const Affine& axis) { return axis.whole == 0; });
    });
  }

  /// The read of `array` by a unit that makes one element of each of its elements.
  const Tensor* follows(const Einsum& next, int32_t array) const {
    const Tensor& output = next.tensors.back();
    size_t used = 0;
    for (const Dim& dim : next.dims) used += dim.extent > 1 ? 1u : 0u;
    size_t written = 0;
    for (const Affine& axis : output.axes) {
      const bool plain = axis.terms.size() == 1 && axis.terms[0].coefficient == 1;
      if (!plain) return nullptr;
      written += next.dims[static_cast<size_t>(axis.terms[0].dim)].extent > 1 ? 1u : 0u;
    }
    if (used != written) return nullptr;  // it sums
    const Tensor* found = nullptr;
    for (const Tensor& tensor : next.tensors) {
      if (tensor.is_output || tensor.array != array) continue;
      if (found != nullptr || tensor.axes != output.axes) return nullptr;
      found = &tensor;
    }
    return found;
  }

  /// An operand of a later unit: one element at a time where it has the result's own axes, else
  /// held as a whole.
  bool add_operand(const Tensor& other, int32_t first, int32_t unit, int64_t& held,
                   int64_t& moved) const {
    const PlanArray& array = graph_.arrays[static_cast<size_t>(other.array)];
    if (array.generated) return true;
    if (array.writer >= first && array.writer < unit) return false;  // passes on two ways
    const int64_t bytes = bytes_of(other.footprint, array.width);
    const Tensor& output = graph_.units[static_cast<size_t>(unit)].einsum.tensors.back();
    const int64_t room = other.axes == output.axes ? bytes_of(1, array.width) : bytes;
    held = saturating_add(held, room);
    moved = saturating_add(moved, bytes);
    return held <= capacity_;
  }

  static const Point* best_point(const Curve& curve, int64_t capacity) {
    const Point* best = nullptr;
    for (const Point& point : curve) {
      if (point.capacity <= capacity) best = &point;
    }
    return best;
  }

  static std::string schedule_text(const Einsum& einsum, const Point& point) {
    const Einsum merged = merge_dims(einsum);
    std::string text;
    for (const Step& step : point.mapping.steps) {
      const auto at = static_cast<size_t>(step.index);
      if (step.kind == Step::Kind::Store) {
        text += fmt::format("keep {}: ", merged.tensors[at].name);
      } else {
        text += fmt::format("for {} by {}: ", merged.dims[at].name, step.tile);
      }
    }
    return text + einsum.name;
  }

  const PlanGraph& graph_;
  int64_t capacity_;
  const CurveSource& curves_;
  std::vector<int64_t> structures_ = {};  // per unit: a number for all that are alike
  std::map<std::vector<int64_t>, std::optional<int64_t>> known_ = {};
};

}  // namespace

std::optional<Plan> plan(const PlanGraph& graph, int64_t capacity, const CurveSource& curves) {
  if (!graph.obstacles.empty()) return std::nullopt;
  return Planner(graph, capacity, curves).run();
}

}  // namespace solar::bound

#pragma once
// Runs a sliced group element by element: what each slice needs, what is there already, what moves.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bound/plan.h"

namespace solar::bound {

struct GroupReplay {
  int64_t capacity = 0;
  int64_t traffic = 0;
  std::string fault = {};
};

class GroupSimulator {
 public:
  GroupSimulator(const PlanGraph& graph, const Group& group) : graph_(graph), group_(group) {}

  GroupReplay run() {
    walk(0, {});
    for (int32_t unit = group_.first; unit < group_.last; ++unit) {
      const Einsum& einsum = this->einsum(unit);
      int64_t box = 1;
      for (const Dim& dim : einsum.dims) box *= dim.extent;
      if (points_[unit] != box) result_.fault = einsum.name + " is not done once at every point";
    }
    for (const auto& [array, elements] : written_) {
      const PlanArray& at = graph_.arrays[static_cast<size_t>(array)];
      if (at.stored || at.is_read_outside(group_.first, group_.last))
        result_.traffic += bytes_of(static_cast<int64_t>(elements.size()), at.width);
    }
    return result_;
  }

 private:
  using Element = std::vector<int64_t>;
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;  // per loop: first, one past

  const Einsum& einsum(int32_t unit) const {
    return graph_.units[static_cast<size_t>(unit)].einsum;
  }

  void walk(size_t loop, Ranges ranges) {
    if (loop == group_.loops.size()) return slice(ranges);
    const GroupLoop& at = group_.loops[loop];
    const int64_t extent = einsum(group_.first).dims[static_cast<size_t>(at.dims[0])].extent;
    for (int64_t begin = 0; begin < extent; begin += at.tile) {
      ranges.resize(loop);
      ranges.emplace_back(begin, std::min(extent, begin + at.tile));
      walk(loop + 1, ranges);
    }
  }

  /// Elements of a tensor that the slice's points touch.
  std::set<Element> touched(int32_t unit, const Tensor& tensor, const Ranges& ranges,
                            int64_t* points = nullptr) const {
    const Einsum& einsum = this->einsum(unit);
    Ranges box;
    for (const Dim& dim : einsum.dims) box.emplace_back(0, dim.extent);
    for (size_t l = 0; l < ranges.size(); ++l)
      box[static_cast<size_t>(group_.loops[l].dims[static_cast<size_t>(unit - group_.first)])] =
          ranges[l];
    std::set<Element> found;
    std::vector<int64_t> at;
    for (const auto& [begin, end] : box) at.push_back(begin);
    while (true) {
      Element element;
      for (const Affine& axis : tensor.axes)
        element.push_back(at[static_cast<size_t>(axis.terms[0].dim)]);
      found.insert(std::move(element));
      if (points != nullptr) ++*points;
      size_t d = box.size();
      while (d > 0 && ++at[d - 1] == box[d - 1].second) {
        at[d - 1] = box[d - 1].first;
        --d;
      }
      if (d == 0) return found;
    }
  }

  bool is_sliced(int32_t unit, const Tensor& tensor) const {
    for (const GroupLoop& loop : group_.loops) {
      for (const Affine& axis : tensor.axes) {
        if (axis.terms[0].dim == loop.dims[static_cast<size_t>(unit - group_.first)]) return true;
      }
    }
    return false;
  }

  /// Streams: an array as a unit slices it; units that slice it alike share one.
  void slice(const Ranges& ranges) {
    std::map<int32_t, std::set<Element>> made;
    struct Use {
      std::set<Element> elements;
      int32_t begin;
      int32_t end;
      bool held;
      int32_t array;
    };
    std::vector<Use> uses;
    for (int32_t unit = group_.first; unit < group_.last; ++unit) {
      for (const Tensor& tensor : einsum(unit).tensors) {
        const PlanArray& array = graph_.arrays[static_cast<size_t>(tensor.array)];
        const bool external = array.writer < group_.first || array.writer >= group_.last;
        std::set<Element> elements =
            touched(unit, tensor, ranges, tensor.is_output ? &points_[unit] : nullptr);
        if (tensor.is_output) made[tensor.array].insert(elements.begin(), elements.end());
        if (!external && !std::includes(made[tensor.array].begin(), made[tensor.array].end(),
                                        elements.begin(), elements.end()))
          result_.fault = array.name + " is read before it is made";
        const bool held = external && (group_.holds || is_sliced(unit, tensor));
        const auto same = std::find_if(uses.begin(), uses.end(), [&](const Use& use) {
          return use.array == tensor.array && (group_.loops.empty() || use.elements == elements);
        });
        if (same == uses.end()) {
          uses.push_back({std::move(elements), unit, unit + 1, held, tensor.array});
        } else {
          same->elements.insert(elements.begin(), elements.end());
          same->end = unit + 1;
        }
      }
    }
    std::vector<std::set<Element>> now;
    for (size_t i = 0; i < uses.size(); ++i) {
      const Use& use = uses[i];
      const PlanArray& array = graph_.arrays[static_cast<size_t>(use.array)];
      const bool external = array.writer < group_.first || array.writer >= group_.last;
      now.push_back(use.elements);
      if (!external) continue;
      int64_t fresh = 0;
      for (const Element& element : use.elements) {
        const bool there = use.held && i < before_.size() && before_[i].contains(element);
        fresh += there ? 0 : 1;
      }
      result_.traffic += bytes_of(fresh, array.width);
    }
    before_ = std::move(now);
    for (int32_t unit = group_.first; unit < group_.last; ++unit) {
      int64_t live = 0;
      for (const Use& use : uses) {
        if (!use.held && (unit < use.begin || unit >= use.end)) continue;
        live += bytes_of(static_cast<int64_t>(use.elements.size()),
                         graph_.arrays[static_cast<size_t>(use.array)].width);
      }
      result_.capacity = std::max(result_.capacity, live);
    }
    for (auto& [array, elements] : made) written_[array].insert(elements.begin(), elements.end());
  }

  const PlanGraph& graph_;
  const Group& group_;
  GroupReplay result_ = {};
  std::map<int32_t, int64_t> points_ = {};
  std::map<int32_t, std::set<Element>> written_ = {};
  std::vector<std::set<Element>> before_ = {};
};

}  // namespace solar::bound

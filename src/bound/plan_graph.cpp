#include "bound/plan_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.h"
#include "bound/from_graph.h"
#include "einsum/nest_form.h"

namespace solar::bound {

namespace {

class Builder {
 public:
  Builder(const einsum::Graph& graph, const ir::Program& program,
          const einsum::StoragePolicy& storage)
      : graph_(graph), program_(program), storage_(storage) {}

  PlanGraph build() {
    for (const einsum::Node& node : graph_.nodes) add(node);
    for (const einsum::Operator& op : graph_.operators) {
      if (op.nodes.empty()) plan_.obstacles.push_back(op.name);  // a copy that no node does
    }
    for (const einsum::Footprint& write : graph_.writes) {
      const auto at = place_.find(stored_value(write.tensor));
      if (at == place_.end() || plan_.arrays[static_cast<size_t>(at->second)].writer < 0) {
        plan_.obstacles.push_back(program_.tensor(write.tensor).name);
        continue;
      }
      PlanArray& array = plan_.arrays[static_cast<size_t>(at->second)];
      array.stored = true;
      array.bytes = std::max(array.bytes, write.bytes.max.value);
    }
    for (const einsum::Footprint& read : graph_.reads) {
      const auto at = place_.find(read.tensor);
      if (at == place_.end()) continue;
      plan_.arrays[static_cast<size_t>(at->second)].bytes = read.bytes.max.value;
      ports_.insert(read.tensor);
    }
    for (const auto& [tensor, at] : place_) {
      PlanArray& array = plan_.arrays[static_cast<size_t>(at)];
      array.generated = array.writer < 0 && !ports_.contains(tensor);
    }
    return std::move(plan_);
  }

 private:
  /// What becomes of a state: the value that it is updated with.
  ir::TensorId stored_value(ir::TensorId tensor) const {
    for (const ir::Update& update : program_.updates) {
      if (update.state == tensor) return update.value;
    }
    return tensor;
  }

  void add(const einsum::Node& node) {
    auto einsum = einsum_of(node, program_, storage_);
    const bool steps =
        einsum && std::any_of(node.form->loops.begin(), node.form->loops.end(),
                              [](const einsum::FormLoop& loop) { return loop.is_step; });
    if (!einsum || steps) {
      plan_.obstacles.push_back(node.name);
      return;
    }
    const auto unit = static_cast<int32_t>(plan_.units.size());
    for (Tensor& tensor : einsum->tensors) {
      const ir::TensorId id{tensor.array};
      tensor.array = place_of(id, tensor);
      PlanArray& array = plan_.arrays[static_cast<size_t>(tensor.array)];
      if (tensor.is_output) {
        array.writer = unit;
      } else if (array.readers.empty() || array.readers.back() != unit) {
        array.readers.push_back(unit);
      }
    }
    plan_.units.push_back({node.id, std::move(*einsum)});
  }

  int32_t place_of(ir::TensorId id, const Tensor& tensor) {
    const auto [known, added] = place_.try_emplace(id, static_cast<int32_t>(plan_.arrays.size()));
    if (added) {
      PlanArray array;
      array.name = program_.tensor(id).name;
      array.width = tensor.dram;
      plan_.arrays.push_back(std::move(array));
    }
    PlanArray& array = plan_.arrays[static_cast<size_t>(known->second)];
    array.bytes = std::max(array.bytes, bytes_of(tensor.footprint, tensor.dram));
    return known->second;
  }

  const einsum::Graph& graph_;
  const ir::Program& program_;
  const einsum::StoragePolicy& storage_;
  std::map<ir::TensorId, int32_t> place_ = {};
  std::set<ir::TensorId> ports_ = {};  // that are read
  PlanGraph plan_ = {};
};

}  // namespace

bool PlanArray::is_read_outside(int32_t first, int32_t last) const {
  return std::any_of(readers.begin(), readers.end(),
                     [&](int32_t unit) { return unit < first || unit >= last; });
}

int64_t bytes_left_by(const PlanGraph& graph, int32_t first, int32_t last) {
  int64_t bytes = 0;
  for (int32_t unit = first; unit < last; ++unit) {
    for (const Tensor& tensor : graph.units[static_cast<size_t>(unit)].einsum.tensors) {
      if (!tensor.is_output) continue;
      const PlanArray& array = graph.arrays[static_cast<size_t>(tensor.array)];
      if (array.stored || array.is_read_outside(first, last))
        bytes = saturating_add(bytes, array.bytes);
    }
  }
  return bytes;
}

int64_t least_bytes(const PlanGraph& graph, int32_t first, int32_t last) {
  int64_t bytes = bytes_left_by(graph, first, last);
  std::map<int32_t, int64_t> read;
  for (int32_t unit = first; unit < last; ++unit) {
    for (const Tensor& tensor : graph.units[static_cast<size_t>(unit)].einsum.tensors) {
      const PlanArray& array = graph.arrays[static_cast<size_t>(tensor.array)];
      const bool inside = array.writer >= first && array.writer < last;
      if (tensor.is_output || inside || array.generated) continue;
      int64_t& most = read[tensor.array];
      most = std::max(most, bytes_of(tensor.footprint, array.width));
    }
  }
  for (const auto& [array, most] : read) bytes = saturating_add(bytes, most);
  return bytes;
}

std::string names_of(const PlanGraph& graph, int32_t first, int32_t last) {
  constexpr int32_t kShown = 6;
  const auto name = [&](int32_t unit) {
    return graph.units[static_cast<size_t>(unit)].einsum.name;
  };
  if (last - first > kShown)
    return fmt::format("{} nodes from {} to {}", last - first, name(first), name(last - 1));
  std::string text;
  for (int32_t unit = first; unit < last; ++unit) text += (unit > first ? ", " : "") + name(unit);
  return text;
}

PlanGraph plan_graph_of(const einsum::Graph& graph, const ir::Program& program,
                        const einsum::StoragePolicy& storage) {
  return Builder(graph, program, storage).build();
}

}  // namespace solar::bound

#include "bound/graph_problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "bound/from_graph.h"
#include "einsum/nest_form.h"

namespace solar::bound {

namespace {

constexpr int kMostSteps = 64;  // from a tensor back to what it is made of, element by element

/// What an operand is made of element by element, and the narrowest of the tensors on the way.
struct Root {
  ir::TensorId tensor = {};
  Width width = {};
  bool made = false;  // by a product
};

class Builder {
 public:
  Builder(const einsum::Graph& graph, const ir::Program& program,
          const einsum::StoragePolicy& storage)
      : graph_(graph), program_(program), storage_(storage) {
    for (const einsum::Node& node : graph.nodes) maker_[node.output] = &node;
    for (const einsum::Footprint& read : graph.reads) port_[read.tensor] = read.elements.value;
  }

  GraphProblem build(int64_t compulsory) {
    problem_.compulsory = compulsory;
    for (const einsum::Node& node : graph_.nodes) {
      if (node.form && node.form->is_product) add(node);
    }
    return std::move(problem_);
  }

 private:
  void add(const einsum::Node& node) {
    const auto einsum = einsum_of(node, program_, storage_);
    if (!einsum || einsum->tensors.size() != 3) return;
    Products products;
    products.points = einsum->points;
    std::vector<Root> roots;
    for (const Tensor& tensor : einsum->tensors) {
      products.spread *= std::sqrt(static_cast<long double>(multiplicity(*einsum, tensor)));
      if (tensor.is_output) {
        roots.push_back({node.output, std::min(tensor.dram, tensor.partial), true});
      } else {
        const auto root = root_of(ir::TensorId{tensor.array});
        if (!root) return;
        roots.push_back(*root);
      }
    }
    products.spread *= uncovered(*einsum, {0.5, 0.5, 0.5});
    for (const Root& root : roots) products.tensors.push_back(place_of(root));
    problem_.products.push_back(std::move(products));
    problem_.names.push_back(node.name);
  }

  /// nullopt: it can be made anew from fewer elements, without a product.
  std::optional<Root> root_of(ir::TensorId tensor) const {
    std::optional<Width> narrowest;
    for (int step = 0; step < kMostSteps; ++step) {
      const auto width = width_of(program_.tensor(tensor), storage_);
      if (!width) return std::nullopt;
      narrowest = narrowest ? std::min(*narrowest, *width) : *width;
      if (port_.contains(tensor)) return Root{tensor, *narrowest, false};
      const auto maker = maker_.find(tensor);
      if (maker == maker_.end() || !maker->second->form) return std::nullopt;
      const einsum::NestForm& form = *maker->second->form;
      if (form.is_product) return Root{tensor, *narrowest, true};
      const auto same =
          std::find_if(form.reads.begin(), form.reads.end(), [&](const einsum::FormAccess& read) {
            return read.subscripts == form.write.subscripts &&
                   read.footprint == form.write.footprint;
          });
      if (form.is_sum || same == form.reads.end()) return std::nullopt;
      tensor = same->tensor;
    }
    return std::nullopt;
  }

  int32_t place_of(const Root& root) {
    const long double width = static_cast<long double>(root.width.bytes_per_32) / 32;
    const auto [known, added] =
        place_.try_emplace(root.tensor, static_cast<int32_t>(problem_.tensors.size()));
    if (added) {
      const auto port = port_.find(root.tensor);
      const int64_t elements = port != port_.end() ? port->second : made_elements(root.tensor);
      problem_.tensors.push_back({elements, width});
      problem_.made.push_back(root.made);
    }
    Transfer& transfer = problem_.tensors[static_cast<size_t>(known->second)];
    transfer.width = std::min(transfer.width, width);
    return known->second;
  }

  int64_t made_elements(ir::TensorId tensor) const {
    return maker_.at(tensor)->form->write.footprint;
  }

  const einsum::Graph& graph_;
  const ir::Program& program_;
  const einsum::StoragePolicy& storage_;
  std::map<ir::TensorId, const einsum::Node*> maker_ = {};
  std::map<ir::TensorId, int64_t> port_ = {};  // elements read
  std::map<ir::TensorId, int32_t> place_ = {};
  GraphProblem problem_ = {};
};

}  // namespace

GraphProblem problem_of(const einsum::Graph& graph, const ir::Program& program,
                        const einsum::StoragePolicy& storage, int64_t compulsory) {
  return Builder(graph, program, storage).build(compulsory);
}

}  // namespace solar::bound

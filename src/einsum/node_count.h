#pragma once
// The counts of single statements, from what is needed of them.

#include "einsum/contraction.h"
#include "einsum/demand.h"
#include "einsum/graph.h"

namespace solar::einsum {

class NodeCounter {
 public:
  NodeCounter(const ProgramIndex& index, const Prepared& prepared, const Grouping& grouping,
              const Demand& demand, bool sparse_weights)
      : index_(index),
        prepared_(prepared),
        grouping_(grouping),
        demand_(demand),
        sparse_weights_(sparse_weights) {}

  /// The node of a live statement, without `id` and `op`. nullopt: a count does not fit 64 bits.
  std::optional<Node> node(int32_t at) const;
  /// How often an opaque operator surely runs.
  int64_t runs(int32_t at) const;

 private:
  bool count_kernel(int32_t at, Node& node) const;
  void describe_contraction(int32_t at, const Contraction& contraction, int64_t multiplications,
                            Node& node) const;
  struct Origin {
    ir::TensorId tensor = {};
    ir::ElementType type = ir::ElementType::F32;
  };
  Origin origin_of(ir::TensorId id) const;
  /// The weight among the two factors whose zeros need no multiplication.
  std::optional<ir::TensorId> sparse_weight(const Contraction& contraction) const;
  bool count_opaque(int32_t at, const ir::Opaque& opaque, Node& node) const;
  bool count_unknown_if(int32_t at, const ir::If& branch, Node& node) const;
  bool count_block(int32_t block, std::vector<MacClass>& classes, Macs& nominal) const;

  const ProgramIndex& index_;
  const Prepared& prepared_;
  const Grouping& grouping_;
  const Demand& demand_;
  bool sparse_weights_;
};

/// Adds where it fits 64 bits.
bool accumulate(int64_t& total, int64_t more);
bool accumulate(ByteRange& total, const ByteRange& more);
bool accumulate(std::vector<MacClass>& classes, const MacClass& more);

}  // namespace solar::einsum

#pragma once
// Reads as reads of stored tensors: views, slices and index tensors that are plain index
// expressions disappear into the subscripts.

#include <functional>
#include <vector>

#include "einsum/nest.h"
#include "ir/core.h"

namespace solar::einsum {

/// A read of a port, or of a kernel's or concat's output, never of a view.
struct FoldedAccess {
  ir::TensorId base = {};
  std::vector<Linear> subscripts = {};
  friend bool operator==(const FoldedAccess&, const FoldedAccess&) = default;
};

/// Which statement defines each tensor.
class ProducerIndex {
 public:
  explicit ProducerIndex(const ir::Program& program);
  const ir::Program& program() const { return *program_; }
  /// Index into statements, or -1 for a port.
  int32_t producer(ir::TensorId id) const { return producers_[ir::index(id)]; }
  const ir::View* view_of(ir::TensorId id) const;
  const ir::Kernel* kernel_of(ir::TensorId id) const;
  bool is_port(ir::TensorId id) const { return producer(id) < 0; }
  const std::vector<int64_t>& shape(ir::TensorId id) const { return program_->tensor(id).shape; }

 private:
  const ir::Program* program_;
  std::vector<int32_t> producers_;
};

FoldedAccess fold(const ProducerIndex& index, Nest& nest, ir::TensorId tensor,
                  std::vector<Linear> subscripts);

/// What a data read becomes: the expression of an index tensor such as `y[i] = i`, else an atom
/// over its base.
Linear fold_data_read(const ProducerIndex& index, Nest& nest, Atom atom);

}  // namespace solar::einsum

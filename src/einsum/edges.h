#pragma once
// Which operators could be fused along which tensors: how the axes of a tensor between two of them
// are written and read.

#include <map>
#include <utility>
#include <vector>

#include "einsum/graph.h"
#include "einsum/prepare.h"

namespace solar::einsum {

class EdgeReader {
 public:
  /// `operators`: per placed statement the operator that it belongs to, or -1.
  EdgeReader(const ProgramIndex& index, const Prepared& prepared, std::vector<int32_t> operators);

  /// Fills `tileable` and `obstacles` of an edge.
  void classify(Edge& edge) const;

 private:
  /// What happens to an axis of a tensor inside an operator.
  struct Fate {
    bool reduction = false;
    bool halo = false;
    bool data = false;
    bool order = false;
    bool kept() const { return !reduction && !halo && !data && !order; }
    void add(const Fate& other);
  };
  using Key = std::pair<ir::TensorId, int32_t>;  // a tensor and one of its axes
  struct Reader {
    int32_t statement = -1;
    const Piece* piece = nullptr;
    const Use* use = nullptr;
  };

  void add_uses(int32_t statement, const Piece& piece, const std::vector<Use>& uses);
  /// Of axis `axis` of `tensor` in the operator: worst of all its reads there, followed through the
  /// tensors that it computes for itself.
  Fate fate(int32_t op, ir::TensorId tensor, int32_t axis, std::map<Key, Fate>& known) const;
  Fate fate_in(int32_t op, const Reader& reader, int32_t axis, std::map<Key, Fate>& known) const;
  bool is_softmax_like(int32_t op, ir::TensorId tensor, int32_t axis) const;

  const ProgramIndex& index_;
  const Prepared& prepared_;
  std::vector<int32_t> operators_;
  std::map<std::pair<int32_t, ir::TensorId>, std::vector<Reader>> readers_ = {};
};

}  // namespace solar::einsum

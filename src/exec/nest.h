#pragma once
// A kernel joined with its data: subscripts folded with the tensors' strides into one position per
// access, and loops merged where every access walks them as one. What the interpreter and engines
// compile.
//
// The body of a loop runs the same nests again and again: between two runs only the `data` pointers
// (rebind()) and the values behind `steps` change; everything else stays, so what is compiled for
// a nest can be kept in `prepared`. Data may be aligned to no more than its element.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/element.h"
#include "ir/core.h"

namespace solar::exec {

/// A tensor in memory: element (i, j, ..) is at data + sum of index * stride, in elements. Strides
/// may be 0 or negative.
struct DataRef {
  std::byte* data = nullptr;
  ElementType type = ElementType::F32;
  std::vector<int64_t> extents = {};
  std::vector<int64_t> strides = {};
  ir::TensorId tensor = {};
};

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& extents);

struct NestAccess {
  DataRef from = {};
  ir::Linear position = {};
  std::vector<ir::Linear> subscripts = {};
  bool conditional = false;     // stands in a select branch
  bool data_dependent = false;  // a subscript contains a DataRead
};

struct Nest {
  const ir::Kernel* kernel = nullptr;
  std::vector<int64_t> extents = {};  // per loop, after merging; a merged-away loop has extent 1
  std::vector<bool> target = {};      // per loop
  int ordered = -1;                   // the ordered loop, or -1
  std::vector<ir::Atom> atoms = {};
  std::vector<DataRef> atom_sources = {};  // per atom; set for DataReads
  const int64_t* steps = nullptr;          // by Atom::step: the value of a Step atom in this run
  std::vector<ir::Guard> guards = {};      // those that may fail
  /// Ragged loops. A reduced one visits its range only; one of the output is a pair of guards. An
  /// engine answers NotApplicable to a nest that has any.
  bool has_ragged = false;
  std::vector<std::shared_ptr<const ir::RaggedRange>> ragged = {};  // per loop: of reduced loops
  std::vector<NestAccess> accesses = {};
  DataRef output = {}, second_output = {};
  std::vector<int64_t> output_strides = {}, second_strides = {};  // per loop
  mutable std::shared_ptr<void> prepared = {};  // an engine's own, between runs of this nest
};

/// Of a loop; of none (-1): 1.
inline int64_t extent(const Nest& nest, int loop) {
  return loop < 0 ? 1 : nest.extents[static_cast<size_t>(loop)];
}

using FindData = std::function<DataRef(ir::TensorId)>;

/// `kernel` must outlive the nest. `keep_loops`: loops are not merged, for walks in written order.
Nest make_nest(const ir::Kernel& kernel, const FindData& find, const int64_t* steps = nullptr,
               bool keep_loops = false);

/// Points the nest to where its tensors lie now, at the same strides. `find` gives the place of a
/// tensor's first element.
void rebind(Nest& nest, const std::function<std::byte*(ir::TensorId)>& find);

/// The loops that the bounds of reduced ragged loops depend on.
uint64_t range_loops(const Nest& nest);

/// Rewrites pairs such as W * (e // W) + (e % W) to e, and drops // and % that the extents make
/// trivial.
void simplify(ir::Linear& linear, const std::vector<ir::Atom>& atoms,
              const std::vector<int64_t>& extents);

/// The loops that each atom depends on, as bits.
std::vector<uint64_t> loops_of_atoms(const std::vector<ir::Atom>& atoms);
uint64_t loops_of(const ir::Linear& linear, const std::vector<uint64_t>& atom_loops);
/// The loops that a scalar node depends on.
uint64_t loops_of_node(const Nest& nest, int node, const std::vector<uint64_t>& atom_loops);

inline uint64_t loop_bit(int loop) { return uint64_t{1} << loop; }

void add_term(ir::Linear& linear, int32_t atom, int64_t coefficient);
void add_scaled(ir::Linear& linear, const ir::Linear& other, int64_t factor);

}  // namespace solar::exec

#pragma once
// A kernel joined with its data: subscripts folded with the tensors' strides into one position per
// access, and loops merged where every access walks them as one. What the interpreter compiles.

#include <functional>
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
  std::vector<ir::Guard> guards = {};      // those that may fail
  std::vector<NestAccess> accesses = {};
  DataRef output = {}, second_output = {};
  std::vector<int64_t> output_strides = {}, second_strides = {};  // per loop
};

using FindData = std::function<DataRef(ir::TensorId)>;

/// `kernel` must outlive the nest.
Nest make_nest(const ir::Kernel& kernel, const FindData& find);

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

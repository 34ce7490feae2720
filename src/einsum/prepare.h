#pragma once
// Every statement ready for counting: nests with folded reads, constraints and structural zeros, in
// execution order. Views vanish here.

#include <memory>
#include <vector>

#include "base/result.h"
#include "einsum/kernel_reader.h"

namespace solar::einsum {

/// A nest that writes some elements of a statement's outputs: a whole kernel, or one input of a
/// concat.
struct Piece {
  const Nest* nest = nullptr;
  std::vector<Linear> target = {};           // subscripts of the outputs
  std::vector<Constraint> guards = {};       // the statement's own conditions
  std::vector<Constraint> constraints = {};  // and where the value is not structurally zero or -inf
  Region domain = {};                        // the points that satisfy `constraints`
  std::vector<Use> uses = {};                // at the points of the domain
};

struct Statement {
  std::vector<ir::TensorId> outputs = {};  // empty for a view
  std::vector<Piece> pieces = {};
  std::unique_ptr<KernelReader> reader = nullptr;  // kernels
  std::vector<std::unique_ptr<Nest>> nests = {};   // concats: one a piece
  std::vector<Use> guard_uses = {};                // read wherever the guards on indices hold
  std::vector<Use> init_uses = {};
  std::vector<Use> otherwise_uses = {};
  bool data_guarded = false;  // whether a point counts depends on data
  bool generated = false;     // computable without any input
  bool left_out_reads = false;
};

struct Prepared {
  std::vector<Statement> statements = {};              // as in the program
  std::unique_ptr<SpecialRegions> specials = nullptr;  // the readers refer to it
  std::vector<bool> generated = {};                    // per tensor
  bool dense_intermediates = false;
};

Result<Prepared> prepare(const ProducerIndex& index);

/// A read of all of `tensor`: a nest over its axes and the folded access.
struct WholeRead {
  std::unique_ptr<Nest> nest = nullptr;
  FoldedAccess access = {};
};
WholeRead whole_read(const ProducerIndex& index, ir::TensorId tensor);

}  // namespace solar::einsum

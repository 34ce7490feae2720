#pragma once
// Every statement ready for counting: nests with folded reads, constraints and structural zeros, in
// execution order. Views vanish here.

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "einsum/kernel_reader.h"

namespace solar::einsum {

/// A nest that writes some elements of an output: a whole kernel, one input of a concat, ...
struct Piece {
  const Nest* nest = nullptr;
  ir::TensorId output = {};                   // a kernel's second has the same subscripts
  std::vector<int32_t> steps = {};            // the nest's loops that are steps, outermost first
  std::vector<Linear> target = {};            // subscripts of the output, all axes
  std::vector<Constraint> guards = {};        // the statement's own conditions
  std::vector<Constraint> plain_guards = {};  // those, without ragged ranges
  std::vector<Constraint> constraints = {};   // guards, and where the value is not surely 0 or -inf
  Region domain = {};                         // the points that satisfy `constraints`
  std::vector<Use> uses = {};                 // at the points of the domain
};

/// What a scatter has besides its updates (the first piece; the second copies the base).
struct ScatterParts {
  std::vector<bool> by_data = {};    // per output axis: its subscript depends on data
  bool sets = false;                 // `=`: replaces elements
  FoldedAccess base_at_target = {};  // the base's element that an update combines with
  /// Into a donated base: the port whose memory the output is in, at the updated element.
  std::optional<FoldedAccess> storage = {};
};

struct Statement {
  std::vector<ir::TensorId> outputs = {};  // empty: nothing of its own, as a view
  std::vector<Piece> pieces = {};
  std::unique_ptr<KernelReader> reader = nullptr;  // kernels and scatters
  std::vector<std::unique_ptr<Nest>> nests = {};   // others: one a piece
  std::vector<Use> guard_uses = {};                // read wherever the guards on indices hold
  std::vector<Use> ragged_uses = {};               // likewise, ragged ranges ignored
  std::vector<Use> init_uses = {};
  std::vector<Use> otherwise_uses = {};
  std::unique_ptr<ScatterParts> scatter = nullptr;
  bool data_guarded = false;  // whether a point counts depends on data
  bool generated = false;     // computable without any input
  bool left_out_reads = false;
};

struct Prepared {
  std::vector<Statement> statements = {};              // as placed in the program
  std::unique_ptr<SpecialRegions> specials = nullptr;  // the readers refer to it
  std::vector<bool> generated = {};                    // per tensor
  bool dense_intermediates = false;
  bool lowest_as_infinite = false;  // the lowest number of a type masks as minus infinity does
  bool zero_factors = false;        // some stand inside larger values (LiftOptions::zero_factors)
  bool finite_factors = false;      // what surely zero factors multiply was left out
  bool ranges_at_example = false;   // ragged ranges are those of given index values
  bool ranges_unknown = false;
};

/// The elements of an index tensor, if known.
using IndexValueSource = std::function<std::optional<std::vector<int64_t>>(ir::TensorId)>;

/// The elements of a port that are known, or of a tensor that no input decides and that takes
/// little work to compute.
using KnownValueSource = std::function<std::optional<exec::TensorData>(ir::TensorId)>;

/// `zero_factors`: see LiftOptions.
Result<Prepared> prepare(const ProgramIndex& index, const IndexValueSource& index_values,
                         const KnownValueSource& known_values = {}, bool zero_factors = false);

/// A read of all of `tensor`: a nest over its axes and the folded access.
struct WholeRead {
  std::unique_ptr<Nest> nest = nullptr;
  FoldedAccess access = {};
};
WholeRead whole_read(const ProgramIndex& index, ir::TensorId tensor);

/// Statements that only move, copy or hide: their pieces and outputs.
class MovePreparation {
 public:
  explicit MovePreparation(const ProgramIndex& index) : index_(index) {}
  void concat(const Placed& placed, const ir::Concat& concat, Statement& statement) const;
  void carry(const Placed& placed, Statement& statement) const;
  void sort(const Placed& placed, const ir::Sort& sort, Statement& statement) const;
  void compact(const Placed& placed, const ir::Compact& compact, Statement& statement) const;
  void opaque(const Placed& placed, const ir::Opaque& opaque, Statement& statement) const;
  /// The second piece of a scatter.
  void scatter_base(const Placed& placed, const ir::Scatter& scatter, Statement& statement) const;

 private:
  /// Loops of a piece's nest: some of its own, then the steps.
  struct Loops {
    std::vector<int64_t> own = {};
    std::vector<int64_t> steps = {};
  };
  Piece& add_piece(Statement& statement, ir::TensorId output, Loops loops) const;
  void add_read(Statement& statement, ir::TensorId input, std::vector<Linear> subscripts) const;
  void add_whole_input(const Placed& placed, ir::TensorId output, ir::TensorId input,
                       Statement& statement) const;

  const ProgramIndex& index_;
};

}  // namespace solar::einsum

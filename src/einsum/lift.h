#pragma once
// VerifiedProgram -> Graph: the einsums, what they compute, what they touch.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "einsum/graph.h"
#include "einsum/storage_policy.h"
#include "exec/executor.h"
#include "ir/core.h"

namespace solar::einsum {

/// A port whose elements are known before any run.
struct KnownPort {
  exec::TensorData values = {};
  bool as_constructed = false;  // a buffer that the constructor filled; else a constant of the code
};

struct LiftOptions {
  /// The elements of an integer tensor at the example inputs, row-major, if known. Asked for the
  /// tensors that data-dependent subscripts read (ports or kernel outputs, never views).
  std::function<std::optional<std::vector<int64_t>>(ir::TensorId)> index_values = {};
  /// Which way a run at the example inputs went, per Program::controls, if recorded. Without it a
  /// `while` counts as ending at its first test, and an `if` as what both branches need.
  std::vector<exec::ControlPath> paths = {};
  /// The program is the way that its source goes at the example inputs, of several.
  bool recorded_path = false;
  /// Compute the tensors that no input decides, and use their zeros. Else structure alone counts.
  bool compute_masks = true;
  /// By name. Their zeros and infinities are structure; ports of another shape are left alone.
  std::map<std::string, KnownPort> known_ports = {};
  /// What a surely zero factor multiplies inside a larger value counts as not needed. Otherwise
  /// such counts are in Graph::least.
  bool zero_factors = false;
  /// Give nodes their nests as sums of loops (Node::form).
  bool forms = false;
  /// How tensors are kept in memory.
  StoragePolicy storage = {};
  /// Of weights that contractions multiply, two of four elements are zero (2:4 sparsity): they are
  /// neither stored nor multiplied.
  bool sparse_weights = false;
};

/// Fails only where a count does not fit 64 bits, or a nest has more loops than can be counted.
Result<Graph> lift(const ir::VerifiedProgram& program, const LiftOptions& options = {});

/// The tensors whose values `index_values` is asked for. None is defined in a body.
std::vector<ir::TensorId> index_tensors(const ir::VerifiedProgram& program);

}  // namespace solar::einsum

#pragma once
// The lifted program: a graph of extended einsums (nodes) grouped into source operators, with exact
// counts and footprints. A plain value; the bounds and reports read it and compute nothing of it
// anew.
//
// Dead code, views and what can be computed without any input are not in it. Counts that a bound
// uses (macs_useful, minimum bytes) are exact, or, where `exact` is false, too small, never too
// large.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "ir/core.h"

namespace solar::einsum {

struct NestForm;  // nest_form.h
enum class NodeId : int32_t {};
enum class OperatorId : int32_t {};
constexpr size_t index(NodeId id) { return static_cast<size_t>(id); }
constexpr size_t index(OperatorId id) { return static_cast<size_t>(id); }

/// Bytes that depend on the values of index tensors: proved minimum, at the example inputs, proved
/// maximum.
struct ByteRange {
  Bytes min = {};
  Bytes example = {};
  Bytes max = {};
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Useful multiply-accumulates of one kind: what they multiply, and whether they belong to a
/// convolution (which frameworks may run at another rate).
struct MacClass {
  ir::ElementType type = ir::ElementType::F32;
  bool is_convolution = false;
  Macs macs = {};
  friend bool operator==(const MacClass&, const MacClass&) = default;
};

/// One statement that computes, moves or hides data. In the body of a loop: all its steps.
struct Node {
  NodeId id = {};
  OperatorId op = {};
  int32_t statement = -1;  // place in the program's statements, outer ones before their bodies
  ir::TensorId output = {};
  std::string name = {};    // of the output
  std::string einsum = {};  // p[b,s,n] = sum{k} x[b,s,k] * w[n,k]
  bool is_contraction = false;
  bool is_convolution = false;
  ir::ElementType mac_type = ir::ElementType::F32;
  Macs macs = {};         // nominal: the box, inequality guards ignored, periodic ones kept
  Macs macs_useful = {};  // points that contribute to a used element and are not structurally zero
  int64_t elementwise_ops = 0;  // at useful points, without the multiply-adds counted as MACs;
                                // of a sort log2 of its count, of unique log2 of all, an element
  int64_t special_ops = 0;  // likewise: exp, log, tanh, erf, sqrt, pow, division by a tensor, ...
  std::optional<std::string> formula = {};         // of `macs` in the program's dims
  std::optional<ir::TensorId> sparse_weight = {};  // half of its elements are taken as zero
  bool exact = true;                               // macs_useful
  std::shared_ptr<const NestForm> form = nullptr;  // if asked for and there is one
};

/// What an operator reads from, or writes for, the rest of the program.
struct Transfer {
  ir::TensorId tensor = {};
  ByteRange bytes = {};
};

/// One source operator: an `op` group, or a statement outside any group. In the body of a loop it
/// runs `executions` times, each with a buffer of its own: all counts are the sum of its runs, a
/// tensor from outside the loop is read by each of them, and what a step hands to the next is
/// written and read. A group around the whole loop is one operator that runs once: it reads weights
/// once, and carried values stay inside. Producers of a carried value may come later in the order.
/// An `if` of which no run is recorded is an operator with what both branches have in common.
struct Operator {
  OperatorId id = {};
  int32_t group = -1;
  std::string name = {};  // `aten.linear`; the output's name for a kernel outside groups
  std::string at = {};
  std::string module = {};
  std::string einsum = {};  // of its largest node
  std::vector<NodeId> nodes = {};
  std::vector<OperatorId> producers = {};
  std::vector<OperatorId> consumers = {};
  int64_t executions = 1;
  Macs macs = {};  // the group's declared count times its runs, or its nodes'
  Macs macs_useful = {};
  std::vector<MacClass> mac_classes = {};  // of macs_useful; their sum
  int64_t elementwise_ops = 0;
  int64_t special_ops = 0;
  std::optional<std::string> formula = {};
  std::vector<Transfer> reads = {};
  std::vector<Transfer> writes = {};
  ByteRange bytes_in = {};   // distinct elements from outside the operator
  ByteRange bytes_out = {};  // distinct elements used outside it
  bool exact = true;
};

/// What keeps two operators from working tile by tile on the tensor between them.
enum class Obstacle : uint8_t {
  Reduction,      // the reader sums over an axis: all of it is needed for one result
  SoftmaxLike,    // the writer divides by (or subtracts) what it sums over the axis
  Halo,           // windows of neighbouring tiles overlap
  DataDependent,  // which element is read is known at run time
  Order,          // the axis is a loop's steps, or is sorted, scanned, reshaped
};
std::string_view name(Obstacle obstacle);  // `reduction`, `softmax-like`, ...

/// A tensor between two operators, and what it would take to keep it on chip.
struct Edge {
  OperatorId producer = {};
  OperatorId consumer = {};
  ir::TensorId tensor = {};
  Bytes saved =
      {};  // of DRAM traffic, at least: the read, and the write where nobody else needs it
  std::vector<int32_t> tileable = {};    // axes along which both may go tile by tile
  std::vector<Obstacle> obstacles = {};  // of the other axes, each once
};

/// What the program touches of one port: reads, or (outputs, updates) writes.
struct Footprint {
  ir::TensorId tensor = {};
  ir::Role role = ir::Role::Input;
  Elements elements = {};  // proved minimum
  ByteRange bytes = {};
};

struct Totals {
  Macs macs = {};
  Macs macs_useful = {};
  Flops flops = {};
  int64_t elementwise_ops = 0;
  int64_t special_ops = 0;
  ByteRange bytes_read_inputs = {};      // inputs and rng
  ByteRange bytes_read_params = {};      // params, buffers, state, const
  ByteRange bytes_written_outputs = {};  // outputs and updated state
  Bytes rewritten = {};                  // state that is read and written
  bool depends_on_data = false;          // some reads do
  bool example_known = true;             // the values of all index tensors were given
};

struct Graph {
  std::string program = {};
  std::string storage = "as-written";      // how tensors are kept (storage_policy.h)
  std::vector<Node> nodes = {};            // in execution order
  std::vector<Operator> operators = {};    // in order of their first node
  std::vector<Edge> edges = {};            // by consumer
  std::vector<Footprint> reads = {};       // ports, in signature order; those not read are left out
  std::vector<Footprint> writes = {};      // stored results of outputs, updated state
  std::vector<MacClass> mac_classes = {};  // of the whole graph
  Totals totals = {};
  bool exact = true;
  /// What the counts take for granted, each with a page of its name: `dense-intermediates` (some
  /// structural zeros may be counted as work), `both-branches-read` (a select on data reads both),
  /// `one-row-gathers` (a data-dependent read of an intermediate is counted as if all indices were
  /// 0), `recorded-path`, `path-not-recorded` (of `if` and `while`), `example-ranges`,
  /// `ranges-not-known` (of ragged loops), `opaque-as-declared`, `hole-not-counted`,
  /// `storage-as-asked`, `structured-sparsity`.
  std::vector<std::string> assumptions = {};
  /// The graph without what surely zero factors multiply (LiftOptions::zero_factors), where that is
  /// less: what the fused floor is of.
  std::shared_ptr<const Graph> least = nullptr;

  const Node& node(NodeId id) const { return nodes[index(id)]; }
  const Operator& op(OperatorId id) const { return operators[index(id)]; }
};

}  // namespace solar::einsum

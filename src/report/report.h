#pragma once
// What an analysis found, as pure data: filled by driver/, rendered by text.h and json.h, which
// compute nothing. Field names are those of the JSON contract (schema solar.report/1).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace solar::report {

inline constexpr const char* kSchema = "solar.report/1";

/// The first source operator whose results differ from the original's.
struct FirstWrong {
  std::string op;
  std::string at = {};
  std::string module = {};
  std::string place;     // `mul[0, 3]: expected 1.5, got 1.25`
  int64_t agreeing = 0;  // operators before it
};

struct Validation {
  std::string status = "skipped";  // passed, failed, skipped
  std::string method = {};         // full, two-trace, per-op; empty when skipped
  std::string reason = {};         // why it was skipped, or why it failed
  double max_abs_error = 0;
  double max_rel_error = 0;                      // of the tolerance's scale
  double worst_tolerance_share = 0;              // largest error / tolerance; above 1: failed
  std::string worst_place = {};                  // where that is: `y[0, 3]: expected 1.5, got 1.25`
  double tolerance_factor = 0;                   // c of the tolerance rule
  std::optional<FirstWrong> first_wrong = {};    // of a failed one, where it was found
  std::map<std::string, int64_t> bindings = {};  // of the small program, when two-trace
  int64_t seeds = 0;
  std::vector<std::string> distributions = {};
  std::vector<std::string> notes =
      {};                 // value literals that differ, dims kept at full size, not isolated, ...
  std::string mode = {};  // train, eval, mixed
};

struct DataDependent {
  int64_t min = 0;
  int64_t example = 0;
  int64_t max = 0;
  bool example_known = true;  // else `example` is the maximum
};

/// Bytes read and written at least, where they depend on data.
struct LeastTraffic {
  int64_t inputs = 0;
  int64_t params = 0;
  int64_t outputs = 0;
};

struct Totals {
  int64_t macs = 0;
  int64_t macs_useful = 0;
  int64_t flops = 0;
  int64_t elementwise_ops = 0;
  int64_t special_ops = 0;
  int64_t bytes_read_inputs = 0;
  int64_t bytes_read_params = 0;
  int64_t bytes_written_outputs = 0;
  std::optional<DataDependent> data_dependent = {};  // of all reads together
  bool sparse_weights = false;                       // zeros of 2:4 weights are not useful
  std::optional<LeastTraffic> least = {};            // absent: the bytes above, which are exact
  std::optional<int64_t> macs_least = {};  // useful ones that no zero factor makes needless
  bool exact = true;
};

/// One source operator.
struct Node {
  std::string id;
  std::string op;
  std::string at = {};
  std::string module = {};
  std::string einsum = {};
  int64_t macs = 0;
  int64_t macs_useful = 0;
  int64_t elementwise_ops = 0;
  int64_t special_ops = 0;
  std::optional<std::string> formula = {};
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
};

/// A tensor between two operators, by index into `nodes`.
struct Edge {
  size_t from = 0;
  size_t to = 0;
  std::string tensor;
  int64_t saves_bytes = 0;                  // of DRAM traffic, if it stays on chip
  std::string fusibility;                   // pointwise, tileable, whole
  std::vector<int32_t> tileable_axes = {};  // of the tensor
  std::vector<std::string> obstacles = {};  // reduction, softmax-like, halo, data-dependent, order
};

/// What keeping one edge on chip saves on one architecture, by index into `edges`.
struct EdgeSaving {
  size_t edge = 0;
  double saves_s = 0;
};

/// An operator's own time on one architecture (what `unfused` adds up), by index into `nodes`.
struct NodeTime {
  size_t node = 0;
  double time_s = 0;
  double compute_s = 0;
  double memory_s = 0;
  std::string limiter = {};
  std::optional<double> operational_intensity = {};  // flop/byte at DRAM
  int64_t traffic_bytes = 0;                         // that the time belongs to: the least
};

/// The time of a bound where one of its assumptions does not hold and all others do.
struct Without {
  std::string assumption;
  double time_s = 0;
};

/// Nodes that run together in a plan.
struct PlanGroup {
  std::vector<std::string> nodes = {};  // what they make
  std::string strategy = {};            // alone, epilogue, resident, sliced
  std::string schedule = {};
  int64_t capacity_bytes = 0;
  int64_t traffic_bytes = 0;
  double time_s = 0;
};

/// Between what no execution avoids and what a plan reaches, on a chip of finite capacity.
struct CacheAware {
  std::optional<int64_t> certified_capacity_bytes = {};  // all that can hold an operand
  int64_t certified_bytes = 0;                           // without a capacity: compulsory traffic
  double certified_s = 0;
  std::string theorem = {};                            // what certifies it
  std::vector<std::string> products = {};              // that force more than compulsory traffic
  std::optional<int64_t> witness_capacity_bytes = {};  // what a kernel can allocate
  std::optional<int64_t> witness_bytes = {};
  std::optional<double> witness_s = {};
  std::vector<PlanGroup> groups = {};
  std::vector<std::string> notes = {};  // why a side is missing
};

struct Bound {
  std::string arch;
  std::string precision = "as-written";
  std::string storage = "as-written";
  std::string cache = "cold";      // cold, warm
  std::string params = "runtime";  // runtime; frozen: algebraic only
  std::string mode;                // unfused, fused, algebraic, cache_aware
  double time_s = 0;
  double compute_s = 0;
  double memory_s = 0;
  int64_t traffic_bytes = 0;
  std::string limiter = {};  // memory, tensor, vector
  std::optional<double> operational_intensity = {};
  bool strict = false;
  std::vector<std::string> assumptions = {};
  std::vector<Without> without = {};          // those whose worth is known
  std::vector<NodeTime> node_times = {};      // unfused only
  std::vector<EdgeSaving> edge_savings = {};  // unfused only, those above 0, largest first
  std::optional<size_t> rewrites = {};  // algebraic: how many, in the report's order, it is of
  std::optional<CacheAware> cache_aware = {};  // cache_aware only
};

/// One step to a cheaper program with the same meaning.
struct Rewrite {
  std::string kind;
  std::string op = {};
  std::string at = {};
  std::string module = {};
  std::string tensor = {};
  std::string what = {};
  std::optional<int64_t> saves_macs = {};   // useful ones, and of the compulsory traffic; absent
  std::optional<int64_t> saves_bytes = {};  // where only several steps together were counted
  std::string validated = {};               // `at full size`, `at N=3 K=4`
};

/// A program that does less than it seems to.
struct Degenerate {
  std::string kind;  // constant-output, ignored-input, ignored-parameter, collapsed-product
  std::string tensor;
  std::string what;
  std::string at = {};
};

struct Timings {
  double trace = 0;
  double validate = 0;
  double lift = 0;
  double bound = 0;
  double algebra = 0;
  double cache_aware = 0;
};

struct Dim {
  std::string name;
  int64_t value = 0;
  std::string expression = {};  // derived dims
};

struct Report {
  std::string source;
  std::string program;
  std::string mode = {};  // train, eval, mixed; empty for .alir sources
  std::vector<Dim> dims = {};
  Validation validation = {};
  Totals totals = {};
  std::vector<Node> nodes = {};
  std::vector<Bound> bounds = {};  // by architecture, then the modes
  std::vector<Rewrite> rewrites = {};
  std::vector<std::string> algebra_notes = {};  // what was not done, and why
  std::vector<Degenerate> degenerate = {};
  std::vector<Edge> edges = {};
  std::map<std::string, std::string> arch_names = {};  // id -> `NVIDIA H100 SXM`
  std::vector<std::string> warnings = {};
  Timings timings_s = {};
};

/// One answer of the inverse roofline.
struct InverseMachine {
  std::string arch;
  std::string name;
  std::optional<double> tensor = {};  // have / need; absent: not needed
  std::optional<double> vector = {};
  std::optional<double> bandwidth = {};
  std::optional<double> fused =
      {};  // the smallest of them: the machine holds the target iff it is >= 1
  std::optional<double> unfused = {};
  std::string error = {};  // a missing rate
};

struct InverseFormat {
  std::string format;  // fp32, tf32, ...
  std::string unit;    // tensor, vector
  int64_t macs = 0;
  double macs_per_second = 0;
};

struct Inverse {
  std::string source;
  std::string program;
  Validation validation = {};
  double target_s = 0;
  int64_t macs_useful = 0;
  int64_t traffic_bytes = 0;
  std::vector<InverseFormat> formats = {};
  double tensor_macs_per_second = 0;
  double vector_macs_per_second = 0;
  double bandwidth_bytes_per_second = 0;
  std::vector<InverseMachine> machines = {};
  std::vector<std::string> assumptions = {};
  std::vector<std::string> warnings = {};
};

}  // namespace solar::report

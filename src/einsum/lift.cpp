#include "einsum/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.h"
#include "einsum/carried_reads.h"
#include "einsum/demand.h"
#include "einsum/edges.h"
#include "einsum/nest_form.h"
#include "einsum/node_count.h"
#include "einsum/prepare.h"
#include "einsum/special_values.h"
#include "einsum/storage.h"
#include "ir/verify.h"

namespace solar::einsum {

namespace {

Diagnostic overflow(const std::string& what, const std::string& name, const Span& span) {
  return {.kind = DiagnosticKind::CountOverflow,
          .message = fmt::format("the {} of `{}` do not fit 64 bits", what, name),
          .span = span};
}

// What computing masks may take: about a second.
constexpr int64_t kGeneratedPoints = int64_t{1} << 28;
constexpr int64_t kGeneratedMemory = int64_t{2} << 30;

class Lifter {
 public:
  Lifter(const ir::VerifiedProgram& program, const LiftOptions& options)
      : verified_(program),
        program_(*program),
        index_(*program, options.paths),
        recorded_path_(options.recorded_path),
        storage_(options.storage),
        forms_(options.forms),
        sparse_weights_(options.sparse_weights) {}

  /// After a run.
  bool has_zero_factors() const { return prepared_.zero_factors; }

  Result<Graph> run(const LiftOptions& options) {
    SOLAR_TRY(Prepared prepared,
              prepare(index_, options.index_values, known_values(options), options.zero_factors));
    prepared_ = std::move(prepared);
    assign_operators();
    demand_ = trace_demand(index_, prepared_, grouping_);
    graph_.program = program_.name;
    graph_.storage = einsum::name(storage_);
    make_nodes();
    make_operators();
    make_edges();
    make_footprints();
    make_totals();
    note_assumptions();
    if (!errors_.empty()) return std::move(errors_);
    return std::move(graph_);
  }

 private:
  KnownValueSource known_values(const LiftOptions& options) {
    return [&](ir::TensorId id) -> std::optional<exec::TensorData> {
      if (!index_.is_port(id)) return options.compute_masks ? generated_values(id) : std::nullopt;
      const auto known = options.known_ports.find(program_.tensor(id).name);
      if (known == options.known_ports.end()) return std::nullopt;
      const KnownPort& port = known->second;
      if (port.values.shape() != index_.shape(id)) return std::nullopt;
      as_constructed_ = as_constructed_ || port.as_constructed;
      return port.values;
    };
  }

  /// Computes a tensor that no input decides, within a budget for the whole program.
  std::optional<exec::TensorData> generated_values(ir::TensorId id) {
    const ir::VerifiedProgram part = ir::part_of(verified_, {id});
    const int64_t points = exec::estimate_points(part);
    if (points > generated_points_ || ir::element_count(index_.shape(id)) > kMaximumKnownElements)
      return std::nullopt;
    generated_points_ -= points;
    exec::RunOptions options;
    options.memory_limit = kGeneratedMemory;
    auto outputs = exec::interpreter()->run(part, {}, options);
    if (!outputs) return std::nullopt;
    return std::move(outputs->outputs[0]);
  }

  std::set<ir::TensorId> result_bases() const {
    std::set<ir::TensorId> results;
    for (const ir::TensorId output : program_.outputs)
      results.insert(whole_read(index_, output).access.base);
    for (const ir::Update& update : program_.updates) {
      results.insert(whole_read(index_, update.value).access.base);
    }
    return results;
  }

  void assign_operators() {
    const std::set<ir::TensorId> results = result_bases();
    std::vector<int32_t> of_group(program_.groups.size(), -1);
    grouping_.of_statement.assign(index_.placed().size(), -1);
    for (size_t i = 0; i < index_.placed().size(); ++i) {
      const Placed& placed = index_.placed()[i];
      const Statement& prepared = prepared_.statements[i];
      const bool carry = placed.statement == nullptr;
      const ir::Statement& statement = *(carry ? index_.placed(placed.owner) : placed).statement;
      const bool encloses = carry || !placed.bodies.empty();
      if (!encloses) {
        if (prepared.outputs.empty()) continue;
        // A constant result still has to be written by somebody.
        const bool is_result = std::any_of(prepared.outputs.begin(), prepared.outputs.end(),
                                           [&](ir::TensorId id) { return results.contains(id); });
        if (prepared.generated && !is_result) continue;
      }
      const bool grouped = statement.group >= 0;
      // A loop or branch is no operator by itself, but inside a group it belongs to it.
      if (!grouped && encloses && prepared.outputs.empty()) continue;
      if (!grouped && carry) continue;
      const auto next = static_cast<int32_t>(provisional_.size());
      int32_t& known =
          grouped ? of_group[static_cast<size_t>(statement.group)] : grouping_.of_statement[i];
      if (known < 0) {
        known = next;
        provisional_.push_back(i);
        grouping_.steps.push_back(index_.block_of(placed).loops.size());
      }
      grouping_.of_statement[i] = known;
    }
  }

  void make_nodes() {
    final_.assign(provisional_.size(), -1);
    const NodeCounter counter(index_, prepared_, grouping_, demand_, sparse_weights_);
    for (size_t i = 0; i < index_.placed().size(); ++i) {
      const Placed& placed = index_.placed()[i];
      const int32_t op = grouping_.of_statement[i];
      if (op < 0 || placed.statement == nullptr || !demand_.live[i]) continue;
      if (index_.block_of(placed).alternative) continue;  // the `if` counts what is sure
      const auto at = static_cast<size_t>(op);
      if (final_[at] < 0) {
        final_[at] = static_cast<int32_t>(graph_.operators.size());
        graph_.operators.push_back({.id = OperatorId{final_[at]}});
      }
      auto node = counter.node(static_cast<int32_t>(i));
      if (!node) {
        const ir::TensorId output = prepared_.statements[i].outputs[0];
        errors_.push_back(overflow("multiply-accumulates or operations",
                                   program_.tensor(output).name, placed.statement->span));
        node.emplace();
      }
      if (forms_) add_form(i, *node);
      if (node->sparse_weight) sparse_.insert(*node->sparse_weight);
      node->id = NodeId{static_cast<int32_t>(graph_.nodes.size())};
      node->op = OperatorId{final_[at]};
      graph_.operators[static_cast<size_t>(final_[at])].nodes.push_back(node->id);
      if (const auto* opaque = std::get_if<ir::Opaque>(&placed.statement->body)) {
        has_hole_ = has_hole_ || opaque->hole;
        has_opaque_ = has_opaque_ || !opaque->hole;
        declared_.emplace_back(final_[at], opaque, counter.runs(static_cast<int32_t>(i)));
      }
      graph_.nodes.push_back(std::move(*node));
    }
  }

  void add_form(size_t statement, Node& node) const {
    auto form = nest_form(index_.placed()[statement], prepared_.statements[statement],
                          demand_.useful_domain[statement], index_);
    if (form) node.form = std::make_shared<const NestForm>(std::move(*form));
  }

  std::optional<ByteRange> bytes(ir::TensorId id, const Touched& touched) {
    const ir::Tensor& tensor = program_.tensor(id);
    const auto range = element_range(touched, demand_.depends_on_data);
    const bool half_zero = sparse_.contains(id);
    const auto min = range ? bytes_of(tensor, range->min, storage_, half_zero) : std::nullopt;
    const auto example =
        range ? bytes_of(tensor, range->example, storage_, half_zero) : std::nullopt;
    const auto max = range ? bytes_of(tensor, range->max, storage_, half_zero) : std::nullopt;
    if (!min || !example || !max) {
      errors_.push_back(overflow("bytes", tensor.name, tensor.span));
      return std::nullopt;
    }
    return ByteRange{*min, *example, *max};
  }

  void make_operators() {
    for (size_t at = 0; at < provisional_.size(); ++at) {
      if (final_[at] < 0) continue;
      Operator& op = graph_.operators[static_cast<size_t>(final_[at])];
      const Placed& placed = index_.placed()[provisional_[at]];
      const ir::Statement& first = *placed.statement;
      op.group = first.group;
      op.executions = placed.executions;
      if (first.group >= 0) {
        const ir::Group& group = program_.groups[static_cast<size_t>(first.group)];
        op.name = group.op;
        op.at = group.at;
        op.module = group.module;
      } else if (const auto* opaque = std::get_if<ir::Opaque>(&first.body)) {
        op.name = opaque->op;
      } else {
        op.name = graph_.node(op.nodes[0]).name;
      }
      sum_nodes(op, first.span);
      for (const auto& [tensor, touched] : demand_.reads[at]) {
        if (const auto range = bytes(tensor, touched)) add_read(op, tensor, *range);
      }
      op.bytes_in.min.value -= read_as_another(index_, op.reads);
    }
    for (const auto& [tensor, touched] : demand_.outside) {
      const int32_t producer = index_.producer(tensor);
      const int32_t at = grouping_.of_statement[static_cast<size_t>(producer)];
      if (at < 0 || final_[static_cast<size_t>(at)] < 0) continue;
      const ir::Statement* statement = index_.placed(producer).statement;
      if (statement != nullptr && writes_as_declared(*statement)) continue;
      Operator& op = graph_.operators[static_cast<size_t>(final_[static_cast<size_t>(at)])];
      const auto range = bytes(tensor, touched);
      if (!range) continue;
      op.writes.push_back({tensor, *range});
      if (!accumulate(op.bytes_out, *range)) errors_.push_back(overflow("bytes", op.name, {}));
    }
    add_declared();
    copy_updates();
    for (Operator& op : graph_.operators) {
      std::sort(op.consumers.begin(), op.consumers.end());
      op.consumers.erase(std::unique(op.consumers.begin(), op.consumers.end()), op.consumers.end());
    }
  }

  static bool writes_as_declared(const ir::Statement& statement) {
    const auto* opaque = std::get_if<ir::Opaque>(&statement.body);
    return opaque != nullptr && (opaque->hole || opaque->writes);
  }

  // Bytes that opaque operators declare, on their first tensors.
  void add_declared() {
    for (const auto& [at, opaque, runs] : declared_) {
      Operator& op = graph_.operators[static_cast<size_t>(at)];
      if (opaque->hole) continue;
      const auto add = [&](const std::optional<int64_t>& declared,
                           const std::vector<ir::TensorId>& tensors,
                           std::vector<Transfer>& transfers, ByteRange& total) {
        if (!declared) return;
        const auto all = checked_mul(*declared, runs);
        const ByteRange range{Bytes{all.value_or(0)}, Bytes{all.value_or(0)},
                              Bytes{all.value_or(0)}};
        if (!all || !accumulate(total, range)) errors_.push_back(overflow("bytes", op.name, {}));
        if (!tensors.empty()) transfers.push_back({tensors[0], range});
      };
      add(opaque->reads, opaque->inputs, op.reads, op.bytes_in);
      add(opaque->writes, opaque->outputs, op.writes, op.bytes_out);
    }
  }

  void add_read(Operator& op, ir::TensorId tensor, const ByteRange& range) {
    op.reads.push_back({tensor, range});
    if (!accumulate(op.bytes_in, range)) errors_.push_back(overflow("bytes", op.name, {}));
    if (const ir::Carried* carried = index_.carried_of(tensor)) {
      for (const ir::TensorId from : {carried->initial, carried->next}) {
        const int32_t base = index_.producer(whole_read(index_, from).access.base);
        if (base >= 0) connect(grouping_.of_statement[static_cast<size_t>(base)], op);
      }
      return;
    }
    const int32_t producer = index_.producer(tensor);
    if (producer >= 0) connect(grouping_.of_statement[static_cast<size_t>(producer)], op);
  }

  void connect(int32_t provisional, Operator& op) {
    if (provisional < 0 || final_[static_cast<size_t>(provisional)] < 0) return;
    const OperatorId from{final_[static_cast<size_t>(provisional)]};
    if (std::find(op.producers.begin(), op.producers.end(), from) == op.producers.end()) {
      op.producers.push_back(from);
    }
    graph_.operators[index(from)].consumers.push_back(op.id);
  }

  void sum_nodes(Operator& op, const Span& span) {
    int64_t largest = -1;
    bool formulas = true;
    std::string formula;
    for (const NodeId id : op.nodes) {
      const Node& node = graph_.node(id);
      const bool fits =
          accumulate(op.macs.value, node.macs.value) &&
          accumulate(op.macs_useful.value, node.macs_useful.value) &&
          accumulate(op.elementwise_ops, node.elementwise_ops) &&
          accumulate(op.special_ops, node.special_ops) &&
          accumulate(op.mac_classes, {node.mac_type, node.is_convolution, node.macs_useful});
      if (!fits) errors_.push_back(overflow("operations", op.name, span));
      op.exact = op.exact && node.exact;
      const int64_t weight =
          std::max(node.macs.value, std::max(node.elementwise_ops, node.special_ops));
      if (weight > largest) op.einsum = node.einsum;
      largest = std::max(largest, weight);
      if (!node.is_contraction) continue;
      formulas = formulas && node.formula.has_value();
      if (node.formula) formula += (formula.empty() ? "" : " + ") + *node.formula;
    }
    if (op.group >= 0) {
      const auto& once = program_.groups[static_cast<size_t>(op.group)].nominal;
      const auto nominal = once ? checked_mul(*once, op.executions) : std::nullopt;
      if (once && !nominal) errors_.push_back(overflow("multiply-accumulates", op.name, span));
      formulas = formulas && (!nominal || *nominal == op.macs.value);
      if (nominal) op.macs = Macs{*nominal};
    }
    if (formulas && !formula.empty()) op.formula = formula;
  }

  void make_edges() {
    std::vector<int32_t> operators = grouping_.of_statement;
    for (int32_t& op : operators) {
      if (op >= 0) op = final_[static_cast<size_t>(op)];
    }
    const EdgeReader reader(index_, prepared_, std::move(operators));
    std::map<ir::TensorId, int32_t> readers;
    for (const Operator& op : graph_.operators) {
      for (const Transfer& read : op.reads) ++readers[read.tensor];
    }
    for (const Operator& op : graph_.operators) {
      for (const Transfer& read : op.reads) {
        const int32_t producer = index_.producer(read.tensor);
        if (producer < 0 || index_.carried_of(read.tensor) != nullptr) continue;
        const int32_t from = grouping_.of_statement[static_cast<size_t>(producer)];
        if (from < 0 || final_[static_cast<size_t>(from)] < 0) continue;
        Edge edge{.producer = OperatorId{final_[static_cast<size_t>(from)]},
                  .consumer = op.id,
                  .tensor = read.tensor,
                  .saved = read.bytes.min};
        if (readers[read.tensor] == 1 && !demand_.written.contains(read.tensor)) {
          for (const Transfer& write : graph_.op(edge.producer).writes) {
            if (write.tensor != read.tensor) continue;
            if (!accumulate(edge.saved.value, write.bytes.min.value))
              errors_.push_back(overflow("bytes", op.name, {}));
          }
        }
        reader.classify(edge);
        graph_.edges.push_back(std::move(edge));
      }
    }
  }

  // `update s = x` with x a port is a copy that no kernel does.
  void copy_updates() {
    for (const ir::Update& update : program_.updates) {
      const WholeRead read = whole_read(index_, update.value);
      if (!index_.is_port(read.access.base) || read.access.base == update.state) continue;
      Operator op;
      op.id = OperatorId{static_cast<int32_t>(graph_.operators.size())};
      op.name = "update";
      op.einsum = fmt::format("{} = {}", program_.tensor(update.state).name,
                              program_.tensor(read.access.base).name);
      Touched source;
      for (Region& region : source.regions) {
        region = image(*read.nest, Region::full(read.nest->extents()), read.access.subscripts,
                       index_.shape(read.access.base));
      }
      source.data_whole = Region::none(index_.shape(read.access.base));
      if (const auto range = bytes(read.access.base, source))
        add_read(op, read.access.base, *range);
      if (const auto range = whole_bytes(update.state)) {
        op.writes.push_back({update.state, *range});
        op.bytes_out = *range;
      }
      graph_.operators.push_back(std::move(op));
    }
  }

  std::optional<ByteRange> whole_bytes(ir::TensorId id) {
    Touched whole;
    for (Region& region : whole.regions) region = Region::full(index_.shape(id));
    whole.data_whole = Region::none(index_.shape(id));
    return bytes(id, whole);
  }

  void make_footprints() {
    for (const ir::TensorId port : program_.ports) {
      const auto at = demand_.ports.find(port);
      if (at == demand_.ports.end()) continue;
      const auto range = bytes(port, at->second);
      const auto elements = element_range(at->second, demand_.depends_on_data);
      if (!range || range->max.value == 0) continue;
      graph_.reads.push_back({port, program_.tensor(port).role, Elements{elements->min}, *range});
    }
    // A result that is returned and also stored as state may share its memory.
    std::set<ir::TensorId> stored;
    for (const ir::Update& update : program_.updates) {
      const WholeRead read = whole_read(index_, update.value);
      if (read.access.base == update.state) continue;
      if (demand_.written.contains(update.state)) continue;  // in its own memory
      const auto state = whole_bytes(update.state);
      if (!state) continue;
      graph_.writes.push_back({update.state, ir::Role::State,
                               Elements{ir::element_count(index_.shape(update.state))}, *state});
      stored.insert(read.access.base);
    }
    for (const auto& [tensor, touched] : demand_.written) {
      const auto range = bytes(tensor, touched);
      const auto elements = element_range(touched, demand_.depends_on_data);
      if (!range || stored.contains(tensor)) continue;
      graph_.writes.push_back(
          {tensor, program_.tensor(tensor).role, Elements{elements->min}, *range});
    }
  }

  void make_totals() {
    Totals& totals = graph_.totals;
    bool fits = true;
    for (const Operator& op : graph_.operators) {
      fits = fits && accumulate(totals.macs.value, op.macs.value) &&
             accumulate(totals.macs_useful.value, op.macs_useful.value) &&
             accumulate(totals.elementwise_ops, op.elementwise_ops) &&
             accumulate(totals.special_ops, op.special_ops);
      for (const MacClass& one : op.mac_classes) fits = fits && accumulate(graph_.mac_classes, one);
      graph_.exact = graph_.exact && op.exact;
    }
    const auto flops = to_flops(totals.macs);
    if (flops) totals.flops = *flops;
    for (const Footprint& read : graph_.reads) {
      const bool input = read.role == ir::Role::Input || read.role == ir::Role::Rng;
      fits = fits &&
             accumulate(input ? totals.bytes_read_inputs : totals.bytes_read_params, read.bytes);
    }
    for (const Footprint& write : graph_.writes) {
      fits = fits && accumulate(totals.bytes_written_outputs, write.bytes);
    }
    for (const Footprint& read : graph_.reads) {
      const auto written =
          std::find_if(graph_.writes.begin(), graph_.writes.end(),
                       [&](const Footprint& write) { return write.tensor == read.tensor; });
      if (written == graph_.writes.end()) continue;
      const Bytes both = std::min(read.bytes.max, written->bytes.max);
      fits = fits && accumulate(totals.rewritten.value, both.value);
    }
    totals.depends_on_data = demand_.depends_on_data;
    for (const auto& [tensor, touched] : demand_.ports) {
      const auto range = element_range(touched, demand_.depends_on_data);
      const bool known = touched.example_known || (range && range->min == range->max);
      totals.example_known = totals.example_known && known;
    }
    if (!fits || !flops) errors_.push_back(overflow("totals", program_.name, {}));
  }

  void note_assumptions() {
    std::vector<std::string>& all = graph_.assumptions;
    if (as_constructed_) all.push_back("buffers-as-constructed");
    if (demand_.both_branches_read) all.push_back("both-branches-read");
    if (prepared_.dense_intermediates) all.push_back("dense-intermediates");
    if (prepared_.ranges_at_example) all.push_back("example-ranges");
    if (prepared_.finite_factors) all.push_back("finite-factors");
    if (has_hole_) all.push_back("hole-not-counted");
    if (prepared_.lowest_as_infinite) all.push_back("lowest-numbers-mask");
    if (demand_.one_row_gathers) all.push_back("one-row-gathers");
    if (has_opaque_) all.push_back("opaque-as-declared");
    if (index_.path_missing()) all.push_back("path-not-recorded");
    if (prepared_.ranges_unknown) all.push_back("ranges-not-known");
    if (recorded_path_ || index_.uses_recorded_path()) all.push_back("recorded-path");
    if (!storage_.as_written()) all.push_back("storage-as-asked");
    if (!sparse_.empty()) all.push_back("structured-sparsity");
  }

  struct Declared {
    int32_t op;
    const ir::Opaque* opaque;
    int64_t runs;
    Declared(int32_t op, const ir::Opaque* opaque, int64_t runs)
        : op(op), opaque(opaque), runs(runs) {}
  };

  const ir::VerifiedProgram& verified_;
  const ir::Program& program_;
  ProgramIndex index_;
  int64_t generated_points_ = kGeneratedPoints;  // left
  Prepared prepared_ = {};
  Demand demand_ = {};
  Grouping grouping_ = {};                // operators by the numbers of provisional_
  std::vector<size_t> provisional_ = {};  // per provisional operator: its first statement
  std::vector<int32_t> final_ = {};       // per provisional operator: its id in the graph, or -1
  std::vector<Declared> declared_ = {};
  bool as_constructed_ = false;
  bool recorded_path_ = false;
  StoragePolicy storage_;
  bool forms_ = false;
  bool sparse_weights_ = false;
  std::set<ir::TensorId> sparse_ = {};  // weights of which half is zero
  bool has_hole_ = false;
  bool has_opaque_ = false;
  Graph graph_ = {};
  Diagnostics errors_ = {};
};

}  // namespace

Result<Graph> lift(const ir::VerifiedProgram& program, const LiftOptions& options) {
  Lifter lifter(program, options);
  SOLAR_TRY(Graph graph, lifter.run(options));
  if (options.zero_factors || !lifter.has_zero_factors()) return graph;
  LiftOptions without = options;
  without.zero_factors = true;
  SOLAR_TRY(Graph least, Lifter(program, without).run(without));
  if (least.totals.macs_useful == graph.totals.macs_useful &&
      least.totals.bytes_read_inputs.min == graph.totals.bytes_read_inputs.min &&
      least.totals.bytes_read_params.min == graph.totals.bytes_read_params.min)
    return graph;
  graph.least = std::make_shared<const Graph>(std::move(least));
  return graph;
}

}  // namespace solar::einsum

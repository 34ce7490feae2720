#include "einsum/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.h"
#include "einsum/contraction.h"
#include "einsum/demand.h"
#include "einsum/operations.h"
#include "einsum/prepare.h"
#include "einsum/text.h"

namespace solar::einsum {

namespace {

// `conv` as in conv2d or convolution, not as in convert.
bool names_convolution(std::string_view name) {
  for (size_t at = name.find("conv"); at != std::string_view::npos;
       at = name.find("conv", at + 1)) {
    if (name.substr(at + 4, 3) != "ert") return true;
  }
  return false;
}

Diagnostic overflow(const std::string& what, const std::string& name, const Span& span) {
  return {.kind = DiagnosticKind::CountOverflow,
          .message = fmt::format("the {} of `{}` do not fit 64 bits", what, name),
          .span = span};
}

// Bytes of `elements` elements, rounded up; nullopt if they do not fit.
std::optional<Bytes> bytes_of(int64_t elements, ir::ElementType type) {
  const auto bits = checked_mul(elements, ir::storage_bits(type));
  if (!bits) return std::nullopt;
  return Bytes{*bits / 8 + (*bits % 8 != 0 ? 1 : 0)};
}

bool accumulate(ByteRange& total, const ByteRange& more) {
  const auto min = checked_add(total.min, more.min);
  const auto example = checked_add(total.example, more.example);
  const auto max = checked_add(total.max, more.max);
  if (!min || !example || !max) return false;
  total = {*min, *example, *max};
  return true;
}

bool accumulate(int64_t& total, int64_t more) {
  const auto sum = checked_add(total, more);
  if (sum) total = *sum;
  return sum.has_value();
}

bool accumulate(std::vector<MacClass>& classes, const MacClass& more) {
  if (more.macs.value == 0) return true;
  for (MacClass& one : classes) {
    if (one.type == more.type && one.is_convolution == more.is_convolution) {
      return accumulate(one.macs.value, more.macs.value);
    }
  }
  classes.push_back(more);
  return true;
}

class Lifter {
 public:
  explicit Lifter(const ir::Program& program) : program_(program), index_(program) {}

  Result<Graph> run(const LiftOptions& options) {
    SOLAR_TRY(Prepared prepared, prepare(index_));
    prepared_ = std::move(prepared);
    assign_operators();
    demand_ = trace_demand(index_, prepared_, operators_, static_cast<int32_t>(provisional_.size()),
                           options.index_values);
    graph_.program = program_.name;
    make_nodes();
    make_operators();
    make_footprints();
    make_totals();
    note_assumptions();
    if (!errors_.empty()) return std::move(errors_);
    return std::move(graph_);
  }

 private:
  void assign_operators() {
    std::set<ir::TensorId> results;
    for (const ir::TensorId output : program_.outputs)
      results.insert(whole_read(index_, output).access.base);
    for (const ir::Update& update : program_.updates) {
      results.insert(whole_read(index_, update.value).access.base);
    }
    std::map<int32_t, int32_t> of_group;
    operators_.assign(program_.statements.size(), -1);
    for (size_t i = 0; i < program_.statements.size(); ++i) {
      const Statement& statement = prepared_.statements[i];
      if (statement.outputs.empty()) continue;
      // A constant result still has to be written by somebody.
      const bool is_result = std::any_of(statement.outputs.begin(), statement.outputs.end(),
                                         [&](ir::TensorId id) { return results.contains(id); });
      if (statement.generated && !is_result) continue;
      const int32_t group = program_.statements[i].group;
      const auto next = static_cast<int32_t>(provisional_.size());
      const auto known = of_group.find(group);
      if (group >= 0 && known != of_group.end()) {
        operators_[i] = known->second;
        continue;
      }
      if (group >= 0) of_group.emplace(group, next);
      operators_[i] = next;
      provisional_.push_back(i);
    }
  }

  bool is_inside(ir::TensorId tensor, int32_t op) const {
    const int32_t producer = index_.producer(tensor);
    return producer >= 0 && operators_[static_cast<size_t>(producer)] == op;
  }

  void make_nodes() {
    final_.assign(provisional_.size(), -1);
    for (size_t i = 0; i < program_.statements.size(); ++i) {
      if (operators_[i] < 0 || !demand_.live[i]) continue;
      const auto at = static_cast<size_t>(operators_[i]);
      if (final_[at] < 0) {
        final_[at] = static_cast<int32_t>(graph_.operators.size());
        graph_.operators.push_back({.id = OperatorId{final_[at]}});
      }
      Node node;
      node.id = NodeId{static_cast<int32_t>(graph_.nodes.size())};
      node.op = OperatorId{final_[at]};
      node.statement = static_cast<int32_t>(i);
      node.output = prepared_.statements[i].outputs[0];
      node.name = program_.tensor(node.output).name;
      node.exact = demand_.exact[i];
      if (prepared_.statements[i].reader) {
        count_node(i, *prepared_.statements[i].reader, node);
      } else {
        node.einsum = concat_text(std::get<ir::Concat>(program_.statements[i].body), program_);
      }
      graph_.operators[static_cast<size_t>(final_[at])].nodes.push_back(node.id);
      graph_.nodes.push_back(std::move(node));
    }
  }

  void count_node(size_t at, const KernelReader& reader, Node& node) {
    const Span& span = program_.statements[at].span;
    node.einsum = einsum_text(reader, program_);
    const std::vector<Contraction> contractions = contractions_of(reader);
    const Region& domain = demand_.useful_domain[at];
    const bool generated = prepared_.statements[at].generated;
    int64_t multiplications = 0;
    for (const Contraction& contraction : contractions) {
      const auto nominal = nominal_macs(contraction, reader);
      const auto useful = generated ? 0 : useful_macs(contraction, reader.kernel(), domain);
      multiplications += static_cast<int64_t>(contraction.factors.size()) - 1;
      if (!nominal || !useful || !accumulate(node.macs.value, *nominal) ||
          !accumulate(node.macs_useful.value, *useful)) {
        errors_.push_back(overflow("multiply-accumulates", node.name, span));
        return;
      }
      node.is_convolution = node.is_convolution || has_window(contraction, reader);
    }
    node.is_contraction = !contractions.empty();
    if (node.is_contraction)
      describe_contraction(at, reader, contractions[0], multiplications, node);
    if (generated) return;
    const auto points = domain.count();
    const OperationsPerPoint operations = operations_per_point(reader, contractions);
    const auto elementwise = points ? checked_mul(*points, operations.elementwise) : std::nullopt;
    const auto special = points ? checked_mul(*points, operations.special) : std::nullopt;
    if (!elementwise || !special) {
      errors_.push_back(overflow("operations", node.name, span));
      return;
    }
    node.elementwise_ops = *elementwise;
    node.special_ops = *special;
  }

  void describe_contraction(size_t at, const KernelReader& reader, const Contraction& contraction,
                            int64_t multiplications, Node& node) {
    const ir::Statement& statement = program_.statements[at];
    const std::string_view op = statement.group >= 0
                                    ? program_.groups[static_cast<size_t>(statement.group)].op
                                    : std::string_view();
    node.is_convolution =
        node.is_convolution || names_convolution(op) || names_convolution(statement.call);
    node.mac_type = mac_type(contraction, program_, reader.kernel(),
                             [&](ir::TensorId id) { return is_inside(id, operators_[at]); });
    const auto box = checked_product(reader.nest().extents());
    const auto points = box ? checked_mul(*box, multiplications) : std::nullopt;
    const std::string formula = box_formula(reader.kernel());
    if (formula.empty() || !points || *points != node.macs.value) return;
    node.formula = multiplications == 1 ? formula : fmt::format("{}*{}", multiplications, formula);
  }

  std::optional<ByteRange> bytes(ir::TensorId id, const Touched& touched) {
    const ir::ElementType type = program_.tensor(id).type;
    const auto range = element_range(touched);
    const auto min = range ? bytes_of(range->min, type) : std::nullopt;
    const auto example = range ? bytes_of(range->example, type) : std::nullopt;
    const auto max = range ? bytes_of(range->max, type) : std::nullopt;
    if (!min || !example || !max) {
      errors_.push_back(overflow("bytes", program_.tensor(id).name, program_.tensor(id).span));
      return std::nullopt;
    }
    return ByteRange{*min, *example, *max};
  }

  void make_operators() {
    for (size_t at = 0; at < provisional_.size(); ++at) {
      if (final_[at] < 0) continue;
      Operator& op = graph_.operators[static_cast<size_t>(final_[at])];
      const ir::Statement& first = program_.statements[provisional_[at]];
      op.group = first.group;
      if (first.group >= 0) {
        const ir::Group& group = program_.groups[static_cast<size_t>(first.group)];
        op.name = group.op;
        op.at = group.at;
        op.module = group.module;
      } else {
        op.name = graph_.node(op.nodes[0]).name;
      }
      sum_nodes(op, first.span);
      for (const auto& [tensor, touched] : demand_.reads[at]) {
        if (const auto range = bytes(tensor, touched)) add_read(op, tensor, *range);
      }
    }
    for (const auto& [tensor, touched] : demand_.outside) {
      const int32_t at = operators_[static_cast<size_t>(index_.producer(tensor))];
      if (at < 0 || final_[static_cast<size_t>(at)] < 0) continue;
      Operator& op = graph_.operators[static_cast<size_t>(final_[static_cast<size_t>(at)])];
      const auto range = bytes(tensor, touched);
      if (!range) continue;
      op.writes.push_back({tensor, *range});
      if (!accumulate(op.bytes_out, *range)) errors_.push_back(overflow("bytes", op.name, {}));
    }
    copy_updates();
    for (Operator& op : graph_.operators) {
      std::sort(op.consumers.begin(), op.consumers.end());
      op.consumers.erase(std::unique(op.consumers.begin(), op.consumers.end()), op.consumers.end());
    }
  }

  void add_read(Operator& op, ir::TensorId tensor, const ByteRange& range) {
    op.reads.push_back({tensor, range});
    if (!accumulate(op.bytes_in, range)) errors_.push_back(overflow("bytes", op.name, {}));
    const int32_t producer = index_.producer(tensor);
    const int32_t at = producer < 0 ? -1 : operators_[static_cast<size_t>(producer)];
    if (at < 0 || final_[static_cast<size_t>(at)] < 0) return;
    const OperatorId from{final_[static_cast<size_t>(at)]};
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
      const auto& nominal = program_.groups[static_cast<size_t>(op.group)].nominal;
      formulas = formulas && (!nominal || *nominal == op.macs.value);
      if (nominal) op.macs = Macs{*nominal};
    }
    if (formulas && !formula.empty()) op.formula = formula;
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
      const auto elements = element_range(at->second);
      if (!range || range->max.value == 0) continue;
      graph_.reads.push_back({port, program_.tensor(port).role, Elements{elements->min}, *range});
    }
    // A result that is returned and also stored as state may share its memory.
    std::set<ir::TensorId> stored;
    for (const ir::Update& update : program_.updates) {
      const WholeRead read = whole_read(index_, update.value);
      if (read.access.base == update.state) continue;
      const auto state = whole_bytes(update.state);
      if (!state) continue;
      graph_.writes.push_back({update.state, ir::Role::State,
                               Elements{ir::element_count(index_.shape(update.state))}, *state});
      stored.insert(read.access.base);
    }
    for (const auto& [tensor, touched] : demand_.written) {
      const auto range = bytes(tensor, touched);
      const auto elements = element_range(touched);
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
    totals.depends_on_data = demand_.depends_on_data;
    for (const auto& [tensor, touched] : demand_.ports) {
      totals.example_known = totals.example_known && touched.example_known;
    }
    if (!fits || !flops) errors_.push_back(overflow("totals", program_.name, {}));
  }

  void note_assumptions() {
    if (demand_.both_branches_read) graph_.assumptions.push_back("both-branches-read");
    if (prepared_.dense_intermediates) graph_.assumptions.push_back("dense-intermediates");
    if (demand_.one_row_gathers) graph_.assumptions.push_back("one-row-gathers");
  }

  const ir::Program& program_;
  ProducerIndex index_;
  Prepared prepared_ = {};
  Demand demand_ = {};
  std::vector<int32_t> operators_ = {};   // per statement: provisional operator, or -1
  std::vector<size_t> provisional_ = {};  // per provisional operator: its first statement
  std::vector<int32_t> final_ = {};       // per provisional operator: its id in the graph, or -1
  Graph graph_ = {};
  Diagnostics errors_ = {};
};

}  // namespace

Result<Graph> lift(const ir::VerifiedProgram& program, const LiftOptions& options) {
  return Lifter(*program).run(options);
}

std::vector<ir::TensorId> index_tensors(const ir::VerifiedProgram& program) {
  const ProducerIndex index(*program);
  const auto prepared = prepare(index);
  std::set<ir::TensorId> tensors;
  if (prepared) {
    for (const Statement& statement : prepared->statements) {
      if (!statement.reader) continue;
      for (const Atom& atom : statement.reader->nest().atoms()) {
        if (atom.kind == Atom::Kind::DataRead) tensors.insert(atom.tensor);
      }
    }
  }
  return {tensors.begin(), tensors.end()};
}

}  // namespace solar::einsum

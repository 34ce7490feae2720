#include "driver/flops.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/checked.h"

namespace solar::driver {
namespace {

using report::FlopsCounts;
using report::FlopsRow;

/// A module, or the whole program (the root, with an empty path).
struct Module {
  std::string path = {};
  FlopsCounts own = {};  // of the operators and parameters directly in it
  FlopsCounts all = {};
  std::vector<std::string> operators = {};
  std::vector<size_t> children = {};
};

/// False where the sum does not fit.
bool add(FlopsCounts& sum, const FlopsCounts& part) {
  bool fits = true;
  const auto add_one = [&](int64_t& value, int64_t more) {
    const auto total = checked_add(value, more);
    fits = fits && total.has_value();
    value = total.value_or(value);
  };
  add_one(sum.parameters, part.parameters);
  add_one(sum.macs, part.macs);
  add_one(sum.macs_useful, part.macs_useful);
  add_one(sum.elementwise_ops, part.elementwise_ops);
  add_one(sum.special_ops, part.special_ops);
  add_one(sum.bytes_in, part.bytes_in);
  add_one(sum.bytes_out, part.bytes_out);
  return fits;
}

int64_t measure(const FlopsCounts& c, FlopsOrder order) {
  switch (order) {
    case FlopsOrder::Source:
      return 0;
    case FlopsOrder::Parameters:
      return c.parameters;
    case FlopsOrder::Macs:
      return c.macs;
    case FlopsOrder::MacsUseful:
      return c.macs_useful;
    case FlopsOrder::Bytes:
      return checked_add(c.bytes_in, c.bytes_out).value_or(INT64_MAX);
  }
  return 0;
}

class Tree {
 public:
  Tree() : modules_(1) {}

  /// The module of a path, and those around it, made where they are not there.
  size_t at(const std::string& path) {
    if (path.empty()) return 0;
    const auto known = places_.find(path);
    if (known != places_.end()) return known->second;
    const size_t dot = path.rfind('.');
    const size_t parent = at(dot == std::string::npos ? "" : path.substr(0, dot));
    const size_t place = modules_.size();
    modules_.emplace_back().path = path;
    modules_[parent].children.push_back(place);
    places_[path] = place;
    return place;
  }

  void put(const std::string& path, const FlopsCounts& counts, const std::string& op) {
    Module& module = modules_[at(path)];
    fits_ = add(module.own, counts) && fits_;
    const bool known =
        std::find(module.operators.begin(), module.operators.end(), op) != module.operators.end();
    if (!op.empty() && !known) module.operators.push_back(op);
  }

  /// Adds up. False where a sum does not fit.
  bool sum() {
    // A module comes after those around it.
    for (size_t i = modules_.size(); i-- > 0;) {
      Module& module = modules_[i];
      fits_ = add(module.all, module.own) && fits_;
      for (const size_t child : module.children) {
        fits_ = add(module.all, modules_[child].all) && fits_;
      }
    }
    return fits_;
  }

  std::vector<FlopsRow> rows(const FlopsOptions& options) {
    std::vector<FlopsRow> rows;
    add_rows(0, 0, options, rows);
    return rows;
  }

 private:
  void add_rows(size_t place, int64_t depth, const FlopsOptions& options,
                std::vector<FlopsRow>& rows) {
    Module& module = modules_[place];
    const auto kind = place == 0 ? FlopsRow::Kind::Total : FlopsRow::Kind::Module;
    rows.push_back({kind, module.path, depth, {}, module.all});
    if (options.depth && depth >= *options.depth) return;
    std::stable_sort(module.children.begin(), module.children.end(), [&](size_t a, size_t b) {
      return measure(modules_[a].all, options.order) > measure(modules_[b].all, options.order);
    });
    for (const size_t child : module.children) add_rows(child, depth + 1, options, rows);
    const bool has_own = !module.operators.empty() || !(module.own == FlopsCounts{});
    // Of a module without parts its own row says it all.
    if (has_own && (place == 0 || !module.children.empty())) {
      rows.push_back({FlopsRow::Kind::Own, module.path, depth + 1, module.operators, module.own});
    }
  }

  std::vector<Module> modules_;  // the root first
  std::map<std::string, size_t> places_ = {};
  bool fits_ = true;
};

void add_operators(Tree& tree, const einsum::Graph& graph) {
  for (const einsum::Operator& op : graph.operators) {
    FlopsCounts counts;
    counts.macs = op.macs.value;
    counts.macs_useful = op.macs_useful.value;
    counts.elementwise_ops = op.elementwise_ops;
    counts.special_ops = op.special_ops;
    counts.bytes_in = op.bytes_in.example.value;
    counts.bytes_out = op.bytes_out.example.value;
    tree.put(op.module, counts, op.name);
  }
}

/// The module of the first operator that reads a tensor.
std::string first_reader(const einsum::Graph& graph, ir::TensorId tensor) {
  for (const einsum::Operator& op : graph.operators) {
    for (const einsum::Transfer& read : op.reads) {
      if (read.tensor == tensor) return op.module;
    }
  }
  return "";
}

void add_parameters(Tree& tree, const Loaded& loaded, const einsum::Graph& graph) {
  const ir::Program& program = **loaded.program;
  std::map<std::string, std::string> keys;
  for (const frontend::Port& port : loaded.ports) keys[port.name] = port.key;
  for (const ir::TensorId id : program.ports) {
    const ir::Tensor& tensor = program.tensor(id);
    if (tensor.role != ir::Role::Param) continue;
    const auto key = keys.find(tensor.name);
    const bool known = key != keys.end() && !key->second.empty();
    const size_t dot = known ? key->second.rfind('.') : std::string::npos;
    const std::string module = !known                     ? first_reader(graph, id)
                               : dot == std::string::npos ? ""
                                                          : key->second.substr(0, dot);
    tree.put(module, {.parameters = ir::element_count(tensor.shape)}, "");
  }
}

/// What the program has and the graph has not: operators, and statements outside any.
class Omissions {
 public:
  Omissions(const ir::Program& program, const einsum::Graph& graph) : program_(program) {
    for (const einsum::Operator& op : graph.operators) groups_.insert(op.group);
    for (const einsum::Node& node : graph.nodes) outputs_.insert(node.output);
    walk(program.statements);
    for (size_t i = 0; i < program.groups.size(); ++i) {
      if (groups_.contains(static_cast<int32_t>(i))) continue;
      const ir::Group& group = program.groups[i];
      found_.push_back({group.op, group.at, group.module, kNothing});
    }
  }

  std::vector<report::FlopsOmission> take() { return std::move(found_); }

 private:
  static constexpr const char* kNothing =
      "as it computes nothing when the program runs (a view, a constant, a result that is not "
      "used)";
  static constexpr const char* kHole = "as it has no body (a hole)";

  void walk(const std::vector<ir::Statement>& statements) {
    for (const ir::Statement& statement : statements) visit(statement);
  }

  void visit(const ir::Statement& statement) {
    if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) return walk(repeat->body);
    if (const auto* loop = std::get_if<ir::While>(&statement.body)) return walk(loop->body);
    if (const auto* branch = std::get_if<ir::If>(&statement.body)) {
      walk(branch->taken.body);
      return walk(branch->otherwise.body);
    }
    const bool grouped = statement.group >= 0;
    const auto* opaque = std::get_if<ir::Opaque>(&statement.body);
    if (opaque != nullptr && opaque->hole) {
      const ir::Group group =
          grouped ? program_.groups[static_cast<size_t>(statement.group)] : ir::Group{};
      found_.push_back({opaque->op, group.at, group.module, kHole});
      if (grouped) groups_.insert(statement.group);
      return;
    }
    if (grouped) return;
    const std::vector<ir::TensorId> defined = ir::outputs_of(statement);
    const bool counted = std::any_of(defined.begin(), defined.end(),
                                     [&](ir::TensorId id) { return outputs_.contains(id); });
    if (counted || defined.empty()) return;
    const std::string& name = program_.tensor(defined.front()).name;
    const bool is_view = std::holds_alternative<ir::View>(statement.body);
    found_.push_back(is_view ? report::FlopsOmission{"view", name, "", kNothing}
                             : report::FlopsOmission{name, "", "", kNothing});
  }

  const ir::Program& program_;
  std::set<int32_t> groups_ = {};
  std::set<ir::TensorId> outputs_ = {};
  std::vector<report::FlopsOmission> found_ = {};
};

}  // namespace

Result<report::Flops> flops(const Loaded& loaded, const einsum::Graph& graph,
                            const FlopsOptions& shown) {
  Tree tree;
  add_operators(tree, graph);
  add_parameters(tree, loaded, graph);
  if (!tree.sum()) {
    return Diagnostic{.kind = DiagnosticKind::CountOverflow,
                      .message = "the counts of all operators together do not fit 64 bits",
                      .hint = "bind smaller dims"};
  }
  report::Flops out;
  out.source = loaded.source;
  out.program = (*loaded.program)->name;
  out.validation = loaded.validation;
  out.rows = tree.rows(shown);
  out.not_counted = Omissions(**loaded.program, graph).take();
  out.warnings = loaded.warnings;
  if (!graph.exact) out.warnings.push_back("some useful counts are proved minima, not exact");
  return out;
}

Result<report::Flops> flops(const AnalyzeOptions& options, const FlopsOptions& shown,
                            const Environment& environment) {
  SOLAR_TRY(const Analysis analysis, prepare(options, environment));
  return flops(analysis.loaded, analysis.graph, shown);
}

}  // namespace solar::driver

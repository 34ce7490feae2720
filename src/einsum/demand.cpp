#include "einsum/demand.h"

#include <algorithm>

#include "base/checked.h"
#include "einsum/tracer.h"

namespace solar::einsum {

namespace {

// Whether the value needs the previous step's whichever way its selects go, at every step.
bool surely_uses_previous(const KernelReader& reader) {
  const ir::Kernel& kernel = reader.kernel();
  std::vector<bool> uses(kernel.nodes.size(), false);
  const auto used = [&](int32_t id) { return id >= 0 && uses[static_cast<size_t>(id)]; };
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::ScalarNode& node = kernel.nodes[i];
    uses[i] = node.op == ir::ScalarOp::Prev || used(node.a);
    if (node.op == ir::ScalarOp::Select) {
      uses[i] = uses[i] || (used(node.b) && used(node.c));
    } else {
      uses[i] = uses[i] || used(node.b) || used(node.c);
    }
    if (!reader.leaves_out_zero_factors()) continue;
    const auto id = static_cast<int32_t>(i);
    uses[i] = uses[i] && reader.required_for_other_than(Special::Zero, id).empty();
  }
  return used(kernel.value);
}

}  // namespace

Tracer::Tracer(const ProgramIndex& index, const Prepared& prepared, const Grouping& grouping)
    : index_(index), program_(index.program()), prepared_(prepared), grouping_(grouping) {
  const size_t statements = index_.placed().size();
  result_.useful_domain.assign(statements, Region::none({}));
  result_.wanted.assign(statements, Region::none({}));
  result_.live.assign(statements, false);
  result_.exact.assign(statements, true);
  result_.reads.resize(grouping_.steps.size());
}

Demand Tracer::run() {
  pass(Mode::Min);
  if (result_.depends_on_data) {
    pass(Mode::Example);
    pass(Mode::Max);
  }
  return std::move(result_);
}

void Tracer::pass(Mode mode) {
  mode_ = mode;
  demand_.assign(program_.tensors.size(), Region::none({}));
  stored_.clear();
  for (const ir::TensorId output : program_.outputs) need_output(output);
  for (const ir::Update& update : program_.updates) need_update(update);
  trace_block(0);
}

void Tracer::trace_block(int32_t block) {
  const std::vector<int32_t>& statements = index_.block(block).statements;
  for (size_t i = statements.size(); i-- > 0;) trace(statements[i]);
}

void Tracer::trace(int32_t at) {
  const Placed& placed = index_.placed(at);
  const Statement& statement = prepared_.statements[static_cast<size_t>(at)];
  if (std::holds_alternative<ir::If>(placed.statement->body)) return trace_if(at);
  if (!placed.bodies.empty()) return trace_loop(at);
  if (statement.outputs.empty()) return;
  operator_ = grouping_.of_statement[static_cast<size_t>(at)];
  if (statement.scatter) return trace_scatter(at, statement);
  trace_pieces(at, statement);
}

Region Tracer::wanted_of(const Statement& statement) const {
  Region wanted = Region::none({});
  for (const ir::TensorId output : statement.outputs)
    wanted = unite(wanted, demand_[ir::index(output)]);
  return wanted;
}

void Tracer::trace_pieces(int32_t id, const Statement& statement) {
  const auto at = static_cast<size_t>(id);
  const std::vector<int64_t>& shape = index_.shape(statement.outputs[0]);
  const bool alike =
      std::all_of(statement.outputs.begin(), statement.outputs.end(),
                  [&](ir::TensorId output) { return index_.shape(output) == shape; });
  const bool live =
      std::any_of(statement.outputs.begin(), statement.outputs.end(),
                  [&](ir::TensorId output) { return !demand_[ir::index(output)].empty(); });
  if (!live) return;
  bool exact = !statement.left_out_reads;
  Region wanted = alike ? wanted_of(statement) : demand_[ir::index(statement.outputs[0])];
  if (statement.reader) wanted = close_over_steps(*statement.reader, wanted, exact);
  if (mode_ == Mode::Min && !on_estimate()) {
    result_.live[at] = true;
    result_.wanted[at] = wanted;
    result_.exact[at] = exact;
  }
  if (statement.generated) return;
  for (const Piece& piece : statement.pieces) {
    trace_piece(id, statement, piece, alike ? wanted : demand_[ir::index(piece.output)]);
  }
}

void Tracer::trace_piece(int32_t id, const Statement& statement, const Piece& piece,
                         const Region& wanted) {
  const auto at = static_cast<size_t>(id);
  const Region domain = restricted(piece, piece.constraints, &piece.domain, wanted);
  const bool skipped = statement.data_guarded && mode_ == Mode::Min;
  const Region none = Region::none({});
  if (statement.data_guarded) result_.depends_on_data = true;
  if (mode_ == Mode::Min && !on_estimate() && &piece == &statement.pieces[0]) {
    result_.useful_domain[at] = skipped ? none : domain;
    if (statement.reader && (skipped || !domain.exact() || !wanted.exact()))
      result_.exact[at] = false;
  }
  const auto* opaque = std::get_if<ir::Opaque>(&index_.placed(id).statement->body);
  if (opaque != nullptr && (opaque->hole || opaque->reads)) {
    if (!domain.empty()) trace_opaque(piece, *opaque, domain);
    return;
  }
  for (const Use& use : piece.uses) read(piece, use, skipped ? none : domain, wanted);
  const auto read_guards = [&](const std::vector<Use>& uses,
                               const std::vector<Constraint>& guards) {
    if (uses.empty()) return;
    const Region guarded = restricted(piece, guards, nullptr, wanted);
    for (const Use& use : uses) read(piece, use, guarded, wanted);
  };
  read_guards(statement.guard_uses, piece.guards);
  read_guards(statement.ragged_uses, piece.plain_guards);
  read_edges(statement, piece, wanted);
}

// `constraints` at the points that write wanted elements. `known`: the solution without the wish.
Region Tracer::restricted(const Piece& piece, std::vector<Constraint> constraints,
                          const Region* known, const Region& wanted) const {
  if (wanted.is_full() && known != nullptr) return *known;
  for (Constraint& constraint : memberships(*piece.nest, piece.target, wanted)) {
    constraints.push_back(std::move(constraint));
  }
  Region domain = solve(*piece.nest, constraints);
  if (!wanted.exact()) domain.mark_inexact();
  return domain;
}

// A recurrence needs every earlier step, unless something may break the chain; then only what is
// proved.
Region Tracer::close_over_steps(const KernelReader& reader, const Region& wanted,
                                bool& exact) const {
  const ir::Kernel& kernel = reader.kernel();
  for (size_t axis = 0; axis < kernel.target_loops.size(); ++axis) {
    const auto loop = static_cast<size_t>(kernel.target_loops[axis]);
    const ir::Loop::Order order = kernel.loops[loop].order;
    if (order == ir::Loop::Order::Any) continue;
    const bool uses_previous =
        std::any_of(kernel.nodes.begin(), kernel.nodes.end(),
                    [](const ir::ScalarNode& node) { return node.op == ir::ScalarOp::Prev; });
    if (!uses_previous) return wanted;
    if (kernel.indexed || !kernel.guards.empty() || !surely_uses_previous(reader)) {
      exact = exact && wanted.is_full();
      return wanted;
    }
    return close_along(wanted, static_cast<int32_t>(axis), order == ir::Loop::Order::Descending);
  }
  return wanted;
}

// The reads of `init` and `else`, which depend on target loops only.
void Tracer::read_edges(const Statement& statement, const Piece& piece, const Region& wanted) {
  if (!statement.init_uses.empty()) {
    const bool reached_only = statement.reader->kernel().otherwise >= 0;
    const Region points =
        restricted(piece, reached_only ? piece.guards : std::vector<Constraint>{}, nullptr, wanted);
    for (const Use& use : statement.init_uses) read(piece, use, points, wanted);
  }
  if (statement.otherwise_uses.empty()) return;
  Region unreached = wanted;
  if (!statement.data_guarded || mode_ == Mode::Min) {
    const Region reached =
        image(*piece.nest, solve(*piece.nest, piece.guards), piece.target, wanted.shape());
    unreached = subtract(wanted, reached);
  }
  const Region points = solve(*piece.nest, memberships(*piece.nest, piece.target, unreached));
  for (const Use& use : statement.otherwise_uses) read(piece, use, points, unreached);
}

std::optional<ElementRange> element_range(const Touched& touched, bool by_data) {
  const auto min = touched.regions[0].count();
  if (!min) return std::nullopt;
  if (!by_data) return ElementRange{*min, *min, *min};
  const auto example = touched.regions[1].count();
  const Region& most = touched.regions[2];
  const auto plain = most.count();
  const auto reach = unite(most, touched.data_whole).count();
  const Region& shaped = most.empty() ? touched.data_whole : most;
  const auto all = shaped.empty() ? 0 : Region::full(shaped.shape()).count();
  if (!example || !plain || !reach || !all) return std::nullopt;
  ElementRange range;
  range.min = std::max(*min, touched.data_min);
  const bool exact = most.exact() && touched.data_whole.exact();
  range.max = exact ? std::min(*reach, saturating_add(*plain, touched.data_max)) : *all;
  range.max = std::max(range.max, range.min);
  range.example = touched.example_known ? std::clamp(*example, range.min, range.max) : range.max;
  return range;
}

Demand trace_demand(const ProgramIndex& index, const Prepared& prepared, const Grouping& grouping) {
  return Tracer(index, prepared, grouping).run();
}

}  // namespace solar::einsum

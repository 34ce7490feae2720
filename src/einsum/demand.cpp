#include "einsum/demand.h"

#include <algorithm>

#include "base/checked.h"

namespace solar::einsum {

namespace {

int64_t saturating_mul(int64_t a, int64_t b) { return checked_mul(a, b).value_or(INT64_MAX); }
int64_t saturating_add(int64_t a, int64_t b) { return checked_add(a, b).value_or(INT64_MAX); }

class Tracer {
 public:
  Tracer(const ProducerIndex& index, Prepared& prepared, const std::vector<int32_t>& operators,
         int32_t operator_count)
      : index_(index), program_(index.program()), prepared_(prepared), operators_(operators) {
    const size_t statements = program_.statements.size();
    result_.useful_domain.assign(statements, Region::none({}));
    result_.wanted.assign(statements, Region::none({}));
    result_.live.assign(statements, false);
    result_.exact.assign(statements, true);
    result_.reads.resize(static_cast<size_t>(operator_count));
  }

  void attach_values(const IndexValueSource& source) {
    if (!source) return;
    for (Statement& statement : prepared_.statements) {
      if (!statement.reader) continue;
      Nest& nest = statement.reader->nest();
      for (int32_t id = nest.loop_count(); id < static_cast<int32_t>(nest.atoms().size()); ++id) {
        const Atom& atom = nest.atom(id);
        if (atom.kind != Atom::Kind::DataRead) continue;
        auto values = source(atom.tensor);
        if (!values) continue;
        nest.set_values(id, std::make_shared<const std::vector<int64_t>>(std::move(*values)),
                        index_.shape(atom.tensor));
      }
    }
  }

  Demand run() {
    pass(Mode::Min);
    if (result_.depends_on_data) {
      pass(Mode::Example);
      pass(Mode::Max);
    } else {
      copy_to_other_modes();
    }
    return std::move(result_);
  }

 private:
  void pass(Mode mode) {
    mode_ = mode;
    demand_.clear();
    for (const ir::Tensor& tensor : program_.tensors) demand_.push_back(Region::none(tensor.shape));
    for (const ir::TensorId output : program_.outputs) need_output(output);
    for (const ir::Update& update : program_.updates) need_update(update);
    for (size_t i = program_.statements.size(); i-- > 0;) {
      Statement& statement = prepared_.statements[i];
      if (statement.outputs.empty()) continue;
      trace(i, statement);
    }
  }

  void copy_to_other_modes() {
    const auto copy = [](std::map<ir::TensorId, Touched>& map) {
      for (auto& [id, touched] : map) touched.regions[1] = touched.regions[2] = touched.regions[0];
    };
    copy(result_.ports);
    copy(result_.written);
    copy(result_.outside);
    for (auto& reads : result_.reads) copy(reads);
  }

  Touched& touch(std::map<ir::TensorId, Touched>& map, ir::TensorId id) {
    const auto [at, added] = map.try_emplace(id);
    if (added) {
      for (Region& region : at->second.regions) region = Region::none(index_.shape(id));
      at->second.data_whole = Region::none(index_.shape(id));
    }
    return at->second;
  }

  void merge(Touched& touched, const Region& region) {
    Region& mine = touched.regions[static_cast<size_t>(mode_)];
    mine = unite(mine, region);
  }

  void need_output(ir::TensorId output) {
    const WholeRead read = whole_read(index_, output);
    const ir::TensorId base = read.access.base;
    if (index_.is_port(base)) return;  // an alias of an input is neither read nor written
    const Region region = image(*read.nest, Region::full(read.nest->extents()),
                                read.access.subscripts, index_.shape(base));
    need_result(base, region);
  }

  void need_update(const ir::Update& update) {
    const WholeRead read = whole_read(index_, update.value);
    const ir::TensorId base = read.access.base;
    const Region region = image(*read.nest, Region::full(read.nest->extents()),
                                read.access.subscripts, index_.shape(base));
    if (!index_.is_port(base)) return need_result(base, region);
    if (base != update.state) merge(touch(result_.ports, base), region);
  }

  void need_result(ir::TensorId base, const Region& region) {
    demand_[ir::index(base)] = unite(demand_[ir::index(base)], region);
    merge(touch(result_.written, base), region);
    merge(touch(result_.outside, base), region);
  }

  void trace(size_t at, Statement& statement) {
    Region wanted = Region::none(index_.shape(statement.outputs[0]));
    for (const ir::TensorId output : statement.outputs)
      wanted = unite(wanted, demand_[ir::index(output)]);
    if (wanted.empty()) return;
    result_.live[at] = true;
    bool exact = !statement.left_out_reads;
    if (statement.reader) wanted = close_over_steps(*statement.reader, wanted, exact);
    if (mode_ == Mode::Min) result_.wanted[at] = wanted;
    if (statement.generated) return;
    operator_ = operators_[at];
    for (const Piece& piece : statement.pieces) {
      const Region domain = restricted(piece, piece.constraints, &piece.domain, wanted);
      const bool skipped = statement.data_guarded && mode_ == Mode::Min;
      const Region none = Region::none(piece.nest->extents());
      if (statement.data_guarded) result_.depends_on_data = true;
      if (mode_ == Mode::Min && statement.reader) {
        result_.useful_domain[at] = skipped ? none : domain;
        exact = exact && domain.exact() && wanted.exact();
      }
      for (const Use& use : piece.uses) read(piece, use, skipped ? none : domain, wanted);
      if (!statement.guard_uses.empty()) {
        const Region guarded = restricted(piece, piece.guards, nullptr, wanted);
        for (const Use& use : statement.guard_uses) read(piece, use, guarded, wanted);
      }
      read_edges(statement, piece, wanted);
    }
    if (mode_ == Mode::Min) result_.exact[at] = exact;
  }

  // `constraints` at the points that write wanted elements. `known`: the solution without the wish.
  Region restricted(const Piece& piece, std::vector<Constraint> constraints, const Region* known,
                    const Region& wanted) const {
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
  Region close_over_steps(const KernelReader& reader, const Region& wanted, bool& exact) const {
    const ir::Kernel& kernel = reader.kernel();
    for (size_t axis = 0; axis < kernel.target_loops.size(); ++axis) {
      const auto loop = static_cast<size_t>(kernel.target_loops[axis]);
      const ir::Loop::Order order = kernel.loops[loop].order;
      if (order == ir::Loop::Order::Any) continue;
      bool chained = !kernel.indexed && kernel.guards.empty();
      bool uses_previous = false;
      for (const ir::ScalarNode& node : kernel.nodes) {
        uses_previous = uses_previous || node.op == ir::ScalarOp::Prev;
        chained = chained && node.op != ir::ScalarOp::Select;
      }
      if (!uses_previous) return wanted;
      if (!chained) {
        exact = exact && wanted.is_full();
        return wanted;
      }
      return close_along(wanted, static_cast<int32_t>(axis), order == ir::Loop::Order::Descending);
    }
    return wanted;
  }

  // The reads of `init` and `else`, which depend on target loops only.
  void read_edges(const Statement& statement, const Piece& piece, const Region& wanted) {
    if (!statement.init_uses.empty()) {
      const bool reached_only = statement.reader->kernel().otherwise >= 0;
      const Region points = restricted(
          piece, reached_only ? piece.guards : std::vector<Constraint>{}, nullptr, wanted);
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

  void read(const Piece& piece, const Use& use, const Region& domain, const Region& wanted) {
    const ir::TensorId base = use.access.base;
    if (domain.empty() || (prepared_.generated[ir::index(base)] && !index_.is_port(base))) return;
    if (use.chosen) result_.both_branches_read = true;
    const Region* points = &domain;
    Region conditional;
    if (!use.when.empty()) {
      std::vector<Constraint> all = piece.constraints;
      all.insert(all.end(), use.when.begin(), use.when.end());
      conditional = restricted(piece, std::move(all), nullptr, wanted);
      points = &conditional;
    }
    if (points->empty()) return;
    read_points(*piece.nest, use.access, *points);
  }

  void read_points(const Nest& nest, const FoldedAccess& access, const Region& points) {
    const ir::TensorId base = access.base;
    const std::vector<int64_t>& shape = index_.shape(base);
    std::vector<bool> by_data(shape.size(), false);
    LoopMask data_loops = 0;
    bool known = true;
    std::vector<Linear> first = access.subscripts;  // index 0 wherever data decides
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (!nest.reads_data(access.subscripts[axis])) continue;
      by_data[axis] = true;
      data_loops |= nest.support(access.subscripts[axis]);
      known = known && nest.has_values_for(access.subscripts[axis]);
      first[axis] = {};
    }
    const bool data = std::find(by_data.begin(), by_data.end(), true) != by_data.end();
    if (!data) return add(base, image(nest, points, access.subscripts, shape));
    result_.depends_on_data = true;
    if (mode_ == Mode::Example && known)
      return add(base, image(nest, points, access.subscripts, shape));
    const Region row = image(nest, points, first, shape);
    const Region whole = image(nest, points, access.subscripts, shape, by_data);
    if (!index_.is_port(base)) {
      result_.one_row_gathers = true;
      const bool example_unknown = mode_ == Mode::Example;
      if (example_unknown) mark_unknown(base);
      return add(base, mode_ == Mode::Min ? row : whole);
    }
    if (mode_ == Mode::Example) return mark_unknown(base);
    const int64_t least = row.count().value_or(INT64_MAX);
    const int64_t rows = count_projection(points, data_loops).value_or(INT64_MAX);
    const int64_t most = std::min(saturating_mul(least, rows), whole.count().value_or(INT64_MAX));
    for (Touched* touched : touched_by_operator(base)) {
      if (mode_ == Mode::Min) {
        touched->data_min = std::max(touched->data_min, least);
      } else {
        touched->data_max = saturating_add(touched->data_max, most);
        touched->data_whole = unite(touched->data_whole, whole);
      }
    }
  }

  // Where a read of `base` by the present operator is accounted.
  std::vector<Touched*> touched_by_operator(ir::TensorId base) {
    std::vector<Touched*> all;
    const int32_t producer = index_.producer(base);
    if (producer < 0) all.push_back(&touch(result_.ports, base));
    if (operator_ < 0) return all;
    const bool outside = producer < 0 || operators_[static_cast<size_t>(producer)] != operator_;
    if (outside) all.push_back(&touch(result_.reads[static_cast<size_t>(operator_)], base));
    if (outside && producer >= 0) all.push_back(&touch(result_.outside, base));
    return all;
  }

  void mark_unknown(ir::TensorId base) {
    for (Touched* touched : touched_by_operator(base)) touched->example_known = false;
  }

  void add(ir::TensorId base, const Region& region) {
    if (!index_.is_port(base)) {
      Region& mine = demand_[ir::index(base)];
      mine = unite(mine, region);
    }
    for (Touched* touched : touched_by_operator(base)) merge(*touched, region);
  }

  const ProducerIndex& index_;
  const ir::Program& program_;
  Prepared& prepared_;
  const std::vector<int32_t>& operators_;
  Demand result_ = {};
  std::vector<Region> demand_ = {};
  Mode mode_ = Mode::Min;
  int32_t operator_ = -1;
};

}  // namespace

std::optional<ElementRange> element_range(const Touched& touched) {
  const auto min = touched.regions[0].count();
  const auto example = touched.regions[1].count();
  const Region& most = touched.regions[2];
  const auto plain = most.count();
  const auto reach = unite(most, touched.data_whole).count();
  const auto all = Region::full(most.shape()).count();
  if (!min || !example || !plain || !reach || !all) return std::nullopt;
  ElementRange range;
  range.min = std::max(*min, touched.data_min);
  const bool exact = most.exact() && touched.data_whole.exact();
  range.max = exact ? std::min(*reach, saturating_add(*plain, touched.data_max)) : *all;
  range.max = std::max(range.max, range.min);
  range.example = touched.example_known ? std::clamp(*example, range.min, range.max) : range.max;
  return range;
}

Demand trace_demand(const ProducerIndex& index, Prepared& prepared,
                    const std::vector<int32_t>& operators, int32_t operator_count,
                    const IndexValueSource& index_values) {
  Tracer tracer(index, prepared, operators, operator_count);
  tracer.attach_values(index_values);
  return tracer.run();
}

}  // namespace solar::einsum

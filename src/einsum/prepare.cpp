#include "einsum/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "einsum/mask_use.h"
#include "einsum/moved_values.h"
#include "einsum/special_values.h"

namespace solar::einsum {

namespace {

using ir::Reduction;
using ir::ScalarOp;

constexpr int kMaximumPasses = 4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Preparation {
 public:
  Preparation(const ProgramIndex& index, const IndexValueSource& index_values,
              const KnownValueSource& known_values, bool zero_factors)
      : index_(index),
        program_(index.program()),
        moves_(index),
        source_(index_values),
        known_values_(known_values) {
    result_.specials = std::make_unique<SpecialRegions>(program_.tensors.size());
    result_.specials->zero_factors = zero_factors;
    result_.generated.assign(program_.tensors.size(), false);
    zero_by_data_.assign(program_.tensors.size(), false);
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      if (program_.tensors[i].role != ir::Role::Const) continue;
      result_.generated[i] = true;
      note_constant(ir::TensorId{static_cast<int32_t>(i)});
    }
    for (const ir::TensorId port : program_.ports) {
      const ir::Role role = program_.tensor(port).role;
      if (role == ir::Role::Buffer) compute(port);
    }
  }

  Result<Prepared> run() {
    check_limits();
    if (!errors_.empty()) return std::move(errors_);
    result_.statements.resize(index_.placed().size());
    prepare_block(0);
    return std::move(result_);
  }

 private:
  void refuse(const std::string& what, size_t count, const std::string& parts, const Span& span) {
    errors_.push_back({.kind = DiagnosticKind::NotSupported,
                       .message = fmt::format("{} has {} {}, at most {} can be counted", what,
                                              count, parts, kMaximumLoops),
                       .span = span});
  }

  // Loops and axes are bits of a mask.
  void check_limits() {
    constexpr auto kMost = static_cast<size_t>(kMaximumLoops);
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const ir::Tensor& tensor = program_.tensors[i];
      const size_t axes = index_.shape(ir::TensorId{static_cast<int32_t>(i)}).size();
      if (axes > kMost) refuse(fmt::format("tensor `{}`", tensor.name), axes, "axes", tensor.span);
    }
    for (const Placed& placed : index_.placed()) {
      if (placed.statement == nullptr) continue;
      const auto& body = placed.statement->body;
      const auto* kernel = std::get_if<ir::Kernel>(&body);
      if (const auto* scatter = std::get_if<ir::Scatter>(&body)) kernel = &scatter->nest;
      size_t loops = index_.block_of(placed).loops.size();
      if (kernel != nullptr) loops += kernel->loops.size();
      if (const auto* opaque = std::get_if<ir::Opaque>(&body)) loops += most_axes(*opaque);
      if (const auto* compact = std::get_if<ir::Compact>(&body))
        loops += program_.tensor(compact->input).shape.size() + 2;
      if (const auto* sort = std::get_if<ir::Sort>(&body))
        loops += program_.tensor(sort->input).shape.size() + 1;
      if (loops <= kMost) continue;
      const ir::TensorId output = ir::outputs_of(*placed.statement).at(0);
      refuse(fmt::format("what computes `{}`", program_.tensor(output).name), loops, "loops",
             placed.statement->span);
    }
  }

  size_t most_axes(const ir::Opaque& opaque) const {
    const auto most = [&](const std::vector<ir::TensorId>& ids) {
      size_t axes = 0;
      for (const ir::TensorId id : ids) axes = std::max(axes, program_.tensor(id).shape.size());
      return axes;
    };
    return most(opaque.inputs) + most(opaque.outputs);
  }

  void prepare_block(int32_t id) {
    for (const int32_t at : index_.block(id).statements) prepare_statement(at);
  }

  void prepare_statement(int32_t at) {
    const Placed& placed = index_.placed(at);
    Statement statement;
    if (const auto* kernel = std::get_if<ir::Kernel>(&placed.statement->body)) {
      prepare_kernel(placed, *kernel, statement);
    } else if (const auto* scatter = std::get_if<ir::Scatter>(&placed.statement->body)) {
      prepare_scatter(placed, *scatter, statement);
    } else if (const auto* concat = std::get_if<ir::Concat>(&placed.statement->body)) {
      moves_.concat(placed, *concat, statement);
      note_move(statement);
    } else if (const auto* sort = std::get_if<ir::Sort>(&placed.statement->body)) {
      moves_.sort(placed, *sort, statement);
      note_generated(statement);
    } else if (const auto* compact = std::get_if<ir::Compact>(&placed.statement->body)) {
      moves_.compact(placed, *compact, statement);
      note_generated(statement);
    } else if (const auto* opaque = std::get_if<ir::Opaque>(&placed.statement->body)) {
      moves_.opaque(placed, *opaque, statement);
    } else if (std::holds_alternative<ir::If>(placed.statement->body)) {
      for (const int32_t body : placed.bodies) prepare_block(body);
      if (placed.bodies.size() > 1) statement.outputs = ir::outputs_of(*placed.statement);
    } else if (!placed.bodies.empty()) {
      prepare_loop(placed.bodies[0]);
    }
    for (const auto& nest : statement.nests) attach_values(*nest);
    result_.statements[static_cast<size_t>(at)] = std::move(statement);
  }

  // What is known of a carried value at later steps is known after the body: first nothing is, and
  // every further pass is still true.
  void prepare_loop(int32_t body) {
    const std::vector<int32_t>& carries = index_.block(body).carries;
    for (const int32_t carry : carries) {
      // `next` is not prepared yet; until it proves otherwise it is generated if `initial` is.
      const ir::Carried& carried = *index_.placed(carry).carried;
      const bool generated = result_.generated[ir::index(base_of(carried.initial))];
      prepare_carry(carry, generated);
    }
    for (int pass = 0;; ++pass) {
      prepare_block(body);
      bool changed = false;
      for (const int32_t carry : carries) changed = prepare_carry(carry, {}) || changed;
      if (!changed) return;
      if (pass < kMaximumPasses) continue;
      // Zeros that spread for many steps: what was found of them holds, the readers must agree.
      for (const int32_t carry : carries) prepare_carry(carry, false);
      prepare_block(body);
      return;
    }
  }

  ir::TensorId base_of(ir::TensorId id) const { return whole_read(index_, id).access.base; }

  // Whether more, or less, is known than before.
  bool prepare_carry(int32_t at, std::optional<bool> generated) {
    const ir::TensorId inside = index_.placed(at).carried->inside;
    const auto id = ir::index(inside);
    SpecialRegions& specials = *result_.specials;
    const Region not_zero = specials.without(Special::Zero)[id];
    const Region not_infinite = specials.without(Special::MinusInfinity)[id];
    const bool was_generated = result_.generated[id];
    Statement statement;
    moves_.carry(index_.placed(at), statement);
    for (const auto& nest : statement.nests) attach_values(*nest);
    note_move(statement);
    if (generated) statement.generated = result_.generated[id] = *generated;
    result_.statements[static_cast<size_t>(at)] = std::move(statement);
    return result_.generated[id] != was_generated ||
           !not_zero.same_as(specials.without(Special::Zero)[id]) ||
           !not_infinite.same_as(specials.without(Special::MinusInfinity)[id]);
  }

  // Known index values decide ragged ranges, and what is read at the example inputs.
  void attach_values(Nest& nest) {
    if (!source_) return;
    for (int32_t id = nest.loop_count(); id < static_cast<int32_t>(nest.atoms().size()); ++id) {
      const Atom& atom = nest.atom(id);
      if (atom.kind != Atom::Kind::DataRead || !index_.is_outermost(atom.tensor)) continue;
      const auto [known, added] = values_.try_emplace(atom.tensor);
      if (added) {
        if (auto values = source_(atom.tensor))
          known->second = std::make_shared<const std::vector<int64_t>>(std::move(*values));
      }
      if (known->second) nest.set_values(id, known->second, index_.shape(atom.tensor));
    }
  }

  // Guards, and the reads of all expressions. `not_zero`: points where the value is surely zero
  // will be left out.
  Piece read_nest(const Placed& placed, const ir::Kernel& kernel, Statement& statement,
                  std::span<const Linear> targets, bool not_zero) {
    statement.outputs = {kernel.output};
    if (kernel.second_output) statement.outputs.push_back(*kernel.second_output);
    const std::vector<int32_t>& loops = index_.block_of(placed).loops;
    statement.reader =
        std::make_unique<KernelReader>(index_, kernel, loops, *result_.specials, targets);
    KernelReader& reader = *statement.reader;
    attach_values(reader.nest());
    compute_masks(reader);
    Piece piece;
    piece.nest = &reader.nest();
    piece.output = kernel.output;
    piece.target = reader.target();
    for (size_t i = 0; i < loops.size(); ++i)
      piece.steps.push_back(static_cast<int32_t>(kernel.loops.size() + i));
    for (const Guard& guard : reader.guards()) {
      if (reader.nest().reads_data(guard.value)) {
        statement.data_guarded = true;
        data_uses(reader.nest(), guard.value, {}, statement.guard_uses);
      } else {
        piece.guards.push_back(guard_constraint(reader.nest(), guard));
      }
    }
    piece.plain_guards = piece.guards;
    for (const Guard& guard : reader.ragged_guards()) {
      data_uses(reader.nest(), guard.value, {}, statement.ragged_uses);
      const bool data = reader.nest().reads_data(guard.value);
      if (data && !reader.nest().has_values_for(guard.value)) {
        statement.data_guarded = result_.ranges_unknown = true;
        continue;
      }
      if (data) result_.ranges_at_example = true;
      piece.guards.push_back(guard_constraint(reader.nest(), guard));
    }
    const auto take = [&](int32_t node, std::vector<Use>& into, bool not_zero = false) {
      if (node < 0) return;
      Uses found = reader.uses(node, not_zero);
      statement.left_out_reads = statement.left_out_reads || found.left_out;
      result_.zero_factors = result_.zero_factors || found.zero_factors;
      into.insert(into.end(), found.all.begin(), found.all.end());
    };
    if (kernel.data_guard >= 0) statement.data_guarded = true;
    take(kernel.data_guard, statement.guard_uses);
    take(kernel.value, piece.uses, not_zero);
    if (kernel.second_output) take(kernel.second_value, piece.uses);
    take(kernel.init, statement.init_uses);
    take(kernel.otherwise, statement.otherwise_uses);
    std::vector<bool> made_of_inputs = result_.generated;
    made_of_inputs.flip();
    if (reader.leaves_out_factors(made_of_inputs)) result_.finite_factors = true;
    return piece;
  }

  void prepare_kernel(const Placed& placed, const ir::Kernel& kernel, Statement& statement) {
    Piece piece = read_nest(placed, kernel, statement, {}, skips_zeros(kernel));
    statement.generated = only_generated(statement, piece.uses);
    restrict_to_special(kernel, statement, piece);
    note_masks(statement, piece);
    statement.pieces.push_back(std::move(piece));
    for (const ir::TensorId output : statement.outputs) {
      result_.generated[ir::index(output)] = statement.generated;
    }
  }

  void prepare_scatter(const Placed& placed, const ir::Scatter& scatter, Statement& statement) {
    Piece piece =
        read_nest(placed, scatter.nest, statement, scatter.subscripts, drops_zeros(scatter));
    KernelReader& reader = *statement.reader;
    statement.scatter = std::make_unique<ScatterParts>();
    ScatterParts& parts = *statement.scatter;
    parts.sets = scatter.nest.reduction == Reduction::None;
    for (const Linear& subscript : piece.target) {
      parts.by_data.push_back(reader.nest().reads_data(subscript));
      data_uses(reader.nest(), subscript, {}, piece.uses);
    }
    std::vector<Constraint> zero;
    if (drops_zeros(scatter))
      zero = reader.required_for_other_than(Special::Zero, scatter.nest.value);
    piece.constraints = piece.guards;
    piece.constraints.insert(piece.constraints.end(), zero.begin(), zero.end());
    piece.domain = solve(*piece.nest, piece.constraints);
    statement.generated = only_generated(statement, piece.uses);
    const auto output = ir::index(scatter.nest.output);
    const bool sums = parts.sets || scatter.nest.reduction == Reduction::Sum;
    const Region reached = image(*piece.nest, piece.domain, piece.target,
                                 index_.shape(scatter.nest.output), parts.by_data);
    statement.pieces.push_back(std::move(piece));
    const bool on_zeros = !scatter.base || is_all_zero(*scatter.base);
    if (sums && on_zeros &&
        std::find(parts.by_data.begin(), parts.by_data.end(), true) != parts.by_data.end())
      zero_by_data_[output] = true;
    if (!scatter.base) {
      if (sums) result_.specials->without(Special::Zero)[output] = reached;
    } else {
      const std::vector<Linear> target = reader.target();
      parts.base_at_target =
          index_.fold(reader.nest(), *scatter.base, base_subscripts(*scatter.base, target));
      if (scatter.donated)
        parts.storage =
            index_.storage_of(reader.nest(), *scatter.base, base_subscripts(*scatter.base, target));
      attach_values(reader.nest());
      moves_.scatter_base(placed, scatter, statement);
      const Piece& base = statement.pieces.back();
      const ir::TensorId from = base.uses.back().access.base;
      statement.generated = statement.generated && result_.generated[ir::index(from)];
      if (parts.sets) {
        for (const Special special : {Special::Zero, Special::MinusInfinity})
          result_.specials->without(special)[output] =
              left_of_base(index_, *result_.specials, scatter, statement, special);
      } else if (sums) {
        result_.specials->without(Special::Zero)[output] =
            unite(reached, moved(index_, *result_.specials, base, Special::Zero));
      }
    }
    result_.generated[output] = statement.generated;
  }

  std::vector<Linear> base_subscripts(ir::TensorId base, std::vector<Linear> target) const {
    target.resize(index_.shape(base).size());
    return target;
  }

  bool only_generated(const Statement& statement, const std::vector<Use>& uses) const {
    const auto generated = [&](const Use& use) {
      return result_.generated[ir::index(use.access.base)];
    };
    for (const auto* list : {&uses, &statement.guard_uses, &statement.ragged_uses,
                             &statement.init_uses, &statement.otherwise_uses}) {
      if (!std::all_of(list->begin(), list->end(), generated)) return false;
    }
    return true;
  }

  // Updates that are surely zero change nothing.
  static bool drops_zeros(const ir::Scatter& scatter) {
    const Reduction reduction = scatter.nest.reduction;
    return reduction == Reduction::Sum || (reduction == Reduction::None && !scatter.base);
  }

  // Whether points where the value is surely zero are left out.
  static bool skips_zeros(const ir::Kernel& kernel) {
    return kernel.reduction == Reduction::None || kernel.reduction == Reduction::Sum;
  }

  // Points whose value is known without reading need no work; what they give is known of the
  // output.
  void restrict_to_special(const ir::Kernel& kernel, Statement& statement, Piece& piece) {
    const KernelReader& reader = *statement.reader;
    const bool plain = kernel.reduction == Reduction::None;
    std::vector<Constraint> zero;
    std::vector<Constraint> infinite;
    if (skips_zeros(kernel)) zero = reader.required_for_other_than(Special::Zero, kernel.value);
    if (plain || kernel.reduction == Reduction::Max) {
      infinite = reader.required_for_other_than(Special::MinusInfinity, kernel.value);
    }
    if (plain && infinite.empty()) infinite = required_beside_lowest(kernel, statement, piece);
    std::vector<Constraint> nonzero;  // a condition that is surely true needs no work either
    if (plain && program_.tensor(kernel.output).type == ir::ElementType::Bool)
      nonzero = reader.required_for_other_than(Special::NonZero, kernel.value);
    piece.constraints = piece.guards;
    piece.constraints.insert(piece.constraints.end(), nonzero.begin(), nonzero.end());
    piece.constraints.insert(piece.constraints.end(), zero.begin(), zero.end());
    piece.constraints.insert(piece.constraints.end(), infinite.begin(), infinite.end());
    piece.domain = solve(*piece.nest, piece.constraints);
    if (kernel.second_output) return;
    const std::vector<int64_t>& shape = index_.shape(kernel.output);
    const auto reached = [&](const std::vector<Constraint>& special) {
      std::vector<Constraint> all = piece.guards;
      all.insert(all.end(), special.begin(), special.end());
      const bool same = all.size() == piece.constraints.size();
      const Region points = same ? piece.domain : solve(*piece.nest, all);
      return image(*piece.nest, points, piece.target, shape);
    };
    const bool guarded = !piece.guards.empty() || statement.data_guarded;
    const auto output = ir::index(kernel.output);
    const bool true_elsewhere = kernel.otherwise >= 0 && reader.is_constant(kernel.otherwise, 1);
    if (!nonzero.empty() && (!guarded || true_elsewhere))
      result_.specials->without(Special::NonZero)[output] = reached(nonzero);
    if (plain && !guarded && program_.tensor(kernel.output).type == ir::ElementType::Bool)
      result_.specials->known[output] = reader.conditions(kernel.value, true).exact &&
                                        reader.conditions(kernel.value, false).exact;
    // What is known if all points, and `init` and `else` at all elements, are taken together.
    const auto note = [&](Special special, const std::vector<Constraint>& required) {
      Region others = Region::none(shape);
      for (const int32_t edge : {kernel.init, kernel.otherwise}) {
        if (edge < 0) continue;
        const auto at_edge = elements_other_than(special, edge, reader, piece, shape);
        if (!at_edge) return;
        others = unite(others, *at_edge);
      }
      if (plain && guarded && kernel.otherwise < 0) return;
      if (!required.empty() || guarded)
        result_.specials->without(special)[output] = unite(reached(required), others);
    };
    if (skips_zeros(kernel)) note(Special::Zero, zero);
    if (plain || kernel.reduction == Reduction::Max) note(Special::MinusInfinity, infinite);
  }

  // Where `edge`, which depends on the target's loops only, may give something else.
  static std::optional<Region> elements_other_than(Special special, int32_t edge,
                                                   const KernelReader& reader, const Piece& piece,
                                                   const std::vector<int64_t>& shape) {
    const auto required = reader.required_for_other_than(special, edge);
    if (required.empty()) return std::nullopt;
    const Region points = solve(*piece.nest, required);
    const auto& extents = piece.nest->extents();
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return std::nullopt;
    return image(*piece.nest, points, piece.target, shape);
  }

  // What is required for another element than the lowest number of its type, if each row along the
  // last axis has one: beside it the exponentials of the lowest are 0.
  std::vector<Constraint> required_beside_lowest(const ir::Kernel& kernel,
                                                 const Statement& statement, const Piece& piece) {
    if (!piece.guards.empty() || statement.data_guarded || kernel.second_output) return {};
    const KernelReader& reader = *statement.reader;
    result_.specials->lowest[ir::index(kernel.output)] = reader.is_lowest(kernel.value);
    std::vector<Constraint> required = reader.required_for_other_than_lowest(kernel.value);
    const std::vector<int64_t>& shape = index_.shape(kernel.output);
    if (required.empty() || shape.empty()) return {};
    const auto last = static_cast<int32_t>(shape.size()) - 1;
    const Region other = image(*piece.nest, solve(*piece.nest, required), piece.target, shape);
    const Region rows = close_along(close_along(other, last, false), last, true);
    if (!covers(rows, Region::full(shape))) return {};
    result_.lowest_as_infinite = true;
    return required;
  }

  // The zeros and infinities of a constant are known.
  void note_constant(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensor(id);
    note_values(id, [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      return ir::is_float(tensor.type) ? tensor.constant->numbers[at]
                                       : static_cast<double>(tensor.constant->integers[at]);
    });
  }

  void note_values(ir::TensorId id, const std::function<double(int64_t)>& value) {
    auto found = special_elements(index_.shape(id), program_.tensor(id).type, value);
    if (!found) return;
    SpecialRegions& specials = *result_.specials;
    specials.without(Special::Zero)[ir::index(id)] = std::move(found->not_zero);
    specials.without(Special::MinusInfinity)[ir::index(id)] = std::move(found->not_minus_infinity);
    specials.without(Special::NonZero)[ir::index(id)] = std::move(found->not_nonzero);
    specials.known[ir::index(id)] = true;
    specials.lowest[ir::index(id)] = found->all_lowest;
    result_.lowest_as_infinite = result_.lowest_as_infinite || found->lowest_masks;
  }

  // What a kernel that depends on inputs reads of tensors that do not: masks, above all.
  void compute_masks(const KernelReader& reader) {
    std::vector<ir::TensorId> masks;
    bool depends = false;
    for (size_t i = 0; i < reader.kernel().accesses.size(); ++i) {
      const ir::TensorId id = reader.folded(static_cast<int32_t>(i)).base;
      if (!result_.generated[ir::index(id)]) {
        depends = true;
      } else if (!result_.specials->known[ir::index(id)] && !is_fill(id)) {
        masks.push_back(id);
      }
    }
    if (!depends) return;
    for (const ir::TensorId id : masks) {
      if (index_.is_outermost(id) && computed_.insert(id).second) compute(id);
    }
  }

  void compute(ir::TensorId id) {
    if (!known_values_) return;
    if (const auto values = known_values_(id))
      note_values(id, [&](int64_t i) { return values->get(i); });
  }

  // A generated tensor whose zeros and infinities are not followed may hide work that is not
  // needed.
  void note_masks(const Statement& statement, const Piece& piece) {
    if (statement.generated) return;
    const ir::Kernel& kernel = statement.reader->kernel();
    const bool zero_by_data = statement.reader->is_zero_by_data(kernel.value, zero_by_data_);
    if (zero_by_data && kernel.reduction == Reduction::Sum) result_.dense_intermediates = true;
    if (zero_by_data && kernel.reduction == Reduction::None)
      zero_by_data_[ir::index(kernel.output)] = true;
    for (const Use& use : piece.uses) {
      const auto id = ir::index(use.access.base);
      if (!result_.generated[id] || index_.is_port(use.access.base) || is_fill(use.access.base))
        continue;
      if (use.source >= 0 && only_divides(kernel, use.source)) continue;
      const SpecialRegions& specials = *result_.specials;
      const bool known = specials.known[id] ||
                         !specials.without(Special::Zero, static_cast<ir::TensorId>(id)).is_full();
      if (!known || (use.source >= 0 && !is_followed(kernel, use.source, specials.known[id])))
        result_.dense_intermediates = true;
    }
  }

  bool is_all_zero(ir::TensorId id) const {
    const ir::TensorId base = whole_read(index_, id).access.base;
    return result_.specials->without(Special::Zero, base).empty();
  }

  bool is_fill(ir::TensorId id) const {
    const ir::Kernel* kernel = index_.kernel_of(id);
    return kernel != nullptr && kernel->guards.empty() && kernel->reduction == Reduction::None &&
           kernel->nodes[static_cast<size_t>(kernel->value)].op == ScalarOp::Constant;
  }

  void note_generated(Statement& statement) {
    statement.generated = true;
    for (const Piece& piece : statement.pieces) {
      statement.generated = statement.generated && only_generated(statement, piece.uses);
    }
    for (const ir::TensorId output : statement.outputs)
      result_.generated[ir::index(output)] = statement.generated;
  }

  // Copies keep what is known.
  void note_move(Statement& statement) {
    note_generated(statement);
    const auto output = ir::index(statement.outputs[0]);
    for (const Piece& piece : statement.pieces) {
      for (const Use& use : piece.uses) {
        if (zero_by_data_[ir::index(use.access.base)]) zero_by_data_[output] = true;
      }
    }
    for (const Special special : {Special::Zero, Special::MinusInfinity, Special::NonZero}) {
      Region without = Region::none(index_.shape(statement.outputs[0]));
      for (const Piece& piece : statement.pieces)
        without = unite(without, moved(index_, *result_.specials, piece, special));
      result_.specials->without(special)[output] = std::move(without);
    }
  }

  const ProgramIndex& index_;
  const ir::Program& program_;
  MovePreparation moves_;
  const IndexValueSource& source_;
  const KnownValueSource& known_values_;
  std::set<ir::TensorId> computed_ = {};  // tried, at least
  std::vector<bool> zero_by_data_ = {};   // per tensor: KernelReader::is_zero_by_data
  std::map<ir::TensorId, IndexValues> values_ = {};
  Prepared result_ = {};
  Diagnostics errors_ = {};
};

}  // namespace

WholeRead whole_read(const ProgramIndex& index, ir::TensorId tensor) {
  WholeRead read;
  read.nest = std::make_unique<Nest>(index.shape(tensor));
  std::vector<Linear> axes;
  for (int32_t axis = 0; axis < read.nest->loop_count(); ++axis) axes.push_back(single(axis));
  read.access = index.fold(*read.nest, tensor, std::move(axes));
  return read;
}

Result<Prepared> prepare(const ProgramIndex& index, const IndexValueSource& index_values,
                         const KnownValueSource& known_values, bool zero_factors) {
  return Preparation(index, index_values, known_values, zero_factors).run();
}

}  // namespace solar::einsum

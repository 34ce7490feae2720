#include "einsum/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace solar::einsum {

namespace {

using ir::Reduction;
using ir::ScalarOp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Preparation {
 public:
  explicit Preparation(const ProducerIndex& index) : index_(index), program_(index.program()) {
    result_.specials = std::make_unique<SpecialRegions>();
    for (const ir::Tensor& tensor : program_.tensors) {
      result_.specials->not_zero.push_back(Region::full(tensor.shape));
      result_.specials->not_minus_infinity.push_back(Region::full(tensor.shape));
      result_.generated.push_back(tensor.role == ir::Role::Const);
      if (tensor.role == ir::Role::Const) note_constant(tensor);
    }
  }

  Result<Prepared> run() {
    result_.statements.reserve(program_.statements.size());
    Diagnostics errors;
    for (const ir::Tensor& tensor : program_.tensors) {
      if (tensor.shape.size() <= static_cast<size_t>(kMaximumLoops)) continue;
      errors.push_back({.kind = DiagnosticKind::NotSupported,
                        .message = fmt::format("tensor `{}` has {} axes, at most {} can be counted",
                                               tensor.name, tensor.shape.size(), kMaximumLoops),
                        .span = tensor.span});
    }
    if (!errors.empty()) return errors;
    for (const ir::Statement& statement : program_.statements) {
      Statement prepared;
      if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
        if (kernel->loops.size() > static_cast<size_t>(kMaximumLoops)) {
          errors.push_back(
              {.kind = DiagnosticKind::NotSupported,
               .message = fmt::format("kernel `{}` has {} loops, at most {} can be counted",
                                      program_.tensor(kernel->output).name, kernel->loops.size(),
                                      kMaximumLoops),
               .span = statement.span});
        } else {
          prepare_kernel(*kernel, prepared);
        }
      } else if (const auto* concat = std::get_if<ir::Concat>(&statement.body)) {
        prepare_concat(*concat, prepared);
      }
      result_.statements.push_back(std::move(prepared));
    }
    if (!errors.empty()) return errors;
    return std::move(result_);
  }

 private:
  void prepare_kernel(const ir::Kernel& kernel, Statement& statement) {
    statement.outputs = {kernel.output};
    if (kernel.second_output) statement.outputs.push_back(*kernel.second_output);
    statement.reader = std::make_unique<KernelReader>(index_, kernel, *result_.specials);
    KernelReader& reader = *statement.reader;
    Piece piece;
    piece.nest = &reader.nest();
    for (const int32_t loop : kernel.target_loops) piece.target.push_back(single(loop));
    for (const Guard& guard : reader.guards()) {
      if (reader.nest().reads_data(guard.value)) {
        statement.data_guarded = true;
        reader.index_uses(guard.value, {}, statement.guard_uses);
      } else {
        piece.guards.push_back(guard_constraint(reader.nest(), guard));
      }
    }
    const auto take = [&](int32_t node, std::vector<Use>& into) {
      if (node < 0) return;
      Uses found = reader.uses(node);
      statement.left_out_reads = statement.left_out_reads || found.left_out;
      into.insert(into.end(), found.all.begin(), found.all.end());
    };
    if (kernel.data_guard >= 0) statement.data_guarded = true;
    take(kernel.data_guard, statement.guard_uses);
    take(kernel.value, piece.uses);
    if (kernel.second_output) take(kernel.second_value, piece.uses);
    take(kernel.init, statement.init_uses);
    take(kernel.otherwise, statement.otherwise_uses);
    statement.generated = only_generated(statement, piece.uses);
    restrict_to_special(kernel, statement, piece);
    note_masks(statement, piece);
    statement.pieces.push_back(std::move(piece));
    for (const ir::TensorId output : statement.outputs) {
      result_.generated[ir::index(output)] = statement.generated;
    }
  }

  bool only_generated(const Statement& statement, const std::vector<Use>& uses) const {
    const auto generated = [&](const Use& use) {
      return result_.generated[ir::index(use.access.base)];
    };
    for (const auto* list :
         {&uses, &statement.guard_uses, &statement.init_uses, &statement.otherwise_uses}) {
      if (!std::all_of(list->begin(), list->end(), generated)) return false;
    }
    return true;
  }

  // Points whose value is known without reading need no work; what they give is known of the
  // output.
  void restrict_to_special(const ir::Kernel& kernel, Statement& statement, Piece& piece) {
    const KernelReader& reader = *statement.reader;
    const bool plain = kernel.reduction == Reduction::None;
    std::vector<Constraint> zero;
    std::vector<Constraint> infinite;
    if (plain || kernel.reduction == Reduction::Sum) {
      zero = reader.required_for_other_than(Special::Zero, kernel.value);
    }
    if (plain || kernel.reduction == Reduction::Max) {
      infinite = reader.required_for_other_than(Special::MinusInfinity, kernel.value);
    }
    piece.constraints = piece.guards;
    piece.constraints.insert(piece.constraints.end(), zero.begin(), zero.end());
    piece.constraints.insert(piece.constraints.end(), infinite.begin(), infinite.end());
    piece.domain = solve(*piece.nest, piece.constraints);
    if (kernel.second_output) return;
    const auto reached = [&](const std::vector<Constraint>& special) {
      std::vector<Constraint> all = piece.guards;
      all.insert(all.end(), special.begin(), special.end());
      const bool same = all.size() == piece.constraints.size();
      const Region points = same ? piece.domain : solve(*piece.nest, all);
      return image(*piece.nest, points, piece.target, index_.shape(kernel.output));
    };
    const bool guarded = !piece.guards.empty() || statement.data_guarded;
    const auto is = [&](int32_t node, double value, bool absent) {
      return node < 0 ? absent : reader.is_constant(node, value);
    };
    const auto output = ir::index(kernel.output);
    if ((plain && (!guarded || is(kernel.otherwise, 0, false))) ||
        (kernel.reduction == Reduction::Sum && is(kernel.init, 0, true) &&
         is(kernel.otherwise, 0, true))) {
      if (!zero.empty() || guarded) result_.specials->not_zero[output] = reached(zero);
    }
    if ((plain && (!guarded || is(kernel.otherwise, -kInfinity, false))) ||
        (kernel.reduction == Reduction::Max && is(kernel.init, -kInfinity, true) &&
         is(kernel.otherwise, -kInfinity, true))) {
      if (!infinite.empty() || guarded)
        result_.specials->not_minus_infinity[output] = reached(infinite);
    }
  }

  // The zeros and infinities of a constant are known.
  void note_constant(const ir::Tensor& tensor) {
    std::vector<int32_t> axes(tensor.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    axes = preferred_order(std::move(axes), tensor.shape);
    std::vector<int64_t> strides(axes.size(), 1);  // row-major in the tensor's own order
    for (size_t axis = strides.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * tensor.shape[axis];
    const std::vector<int64_t> group = strides_of(axes, tensor.shape);
    const auto outside = [&](double special, Region& region) {
      if (std::find(tensor.values.begin(), tensor.values.end(), special) == tensor.values.end())
        return;
      std::vector<Run> runs;
      for (size_t i = 0; i < tensor.values.size(); ++i) {
        if (tensor.values[i] == special) continue;
        int64_t at = 0;
        for (size_t k = 0; k < axes.size(); ++k) {
          const auto axis = static_cast<size_t>(axes[k]);
          at += static_cast<int64_t>(i) / strides[axis] % tensor.shape[axis] * group[k];
        }
        runs.push_back({at, at + 1});
      }
      if (axes.empty() || runs.empty()) {
        region = runs.empty() ? Region::none(tensor.shape) : Region::full(tensor.shape);
      } else {
        region.restrict(axes, RunSet::from_runs(std::move(runs)));
      }
    };
    outside(0, result_.specials->not_zero.back());
    outside(-kInfinity, result_.specials->not_minus_infinity.back());
  }

  // A generated tensor whose zeros are not all known may hide work that is not needed.
  void note_masks(const Statement& statement, const Piece& piece) {
    if (statement.generated) return;
    for (const Use& use : piece.uses) {
      const auto id = ir::index(use.access.base);
      if (use.source >= 0 && only_divides(statement.reader->kernel(), use.source)) continue;
      if (!result_.generated[id] || !result_.specials->not_zero[id].is_full()) continue;
      if (!index_.is_port(use.access.base) && !is_fill(use.access.base))
        result_.dense_intermediates = true;
    }
  }

  // Every load of the access is a divisor, as a count of elements is.
  static bool only_divides(const ir::Kernel& kernel, int32_t access) {
    std::vector<bool> carries(kernel.nodes.size(), false);
    for (size_t i = 0; i < kernel.nodes.size(); ++i) {
      const ir::ScalarNode& node = kernel.nodes[i];
      const auto from = [&](int32_t operand) {
        return operand >= 0 && carries[static_cast<size_t>(operand)];
      };
      if (node.op == ScalarOp::Load) carries[i] = node.reference == access;
      if (node.op == ScalarOp::Cast) carries[i] = from(node.a);
      if (node.op == ScalarOp::Mul) carries[i] = from(node.a) || from(node.b);
      if (carries[i] || (node.op == ScalarOp::Div && !from(node.a))) continue;
      if (from(node.a) || from(node.b) || from(node.c)) return false;
    }
    return !carries[static_cast<size_t>(kernel.value)];
  }

  bool is_fill(ir::TensorId id) const {
    const ir::Kernel* kernel = index_.kernel_of(id);
    return kernel != nullptr && kernel->guards.empty() && kernel->reduction == Reduction::None &&
           kernel->nodes[static_cast<size_t>(kernel->value)].op == ScalarOp::Constant;
  }

  void prepare_concat(const ir::Concat& concat, Statement& statement) {
    statement.outputs = {concat.output};
    statement.generated = true;
    int64_t offset = 0;
    const std::vector<int64_t>& shape = index_.shape(concat.output);
    Region not_zero = Region::none(shape);
    Region not_infinite = Region::none(shape);
    for (const ir::TensorId input : concat.inputs) {
      WholeRead read = whole_read(index_, input);
      Piece piece;
      piece.nest = read.nest.get();
      for (int32_t axis = 0; axis < read.nest->loop_count(); ++axis) {
        piece.target.push_back(add(single(axis), constant(axis == concat.axis ? offset : 0)));
      }
      piece.domain = Region::full(read.nest->extents());
      const ir::TensorId base = read.access.base;
      statement.generated = statement.generated && result_.generated[ir::index(base)];
      const auto reached = [&](Special special) {
        const auto inside = memberships(*piece.nest, read.access.subscripts,
                                        result_.specials->without(special, base));
        return image(*piece.nest, solve(*piece.nest, inside), piece.target, shape);
      };
      not_zero = unite(not_zero, reached(Special::Zero));
      not_infinite = unite(not_infinite, reached(Special::MinusInfinity));
      piece.uses.push_back({std::move(read.access), {}, -1});
      offset += index_.shape(input)[static_cast<size_t>(concat.axis)];
      statement.nests.push_back(std::move(read.nest));
      statement.pieces.push_back(std::move(piece));
    }
    const auto output = ir::index(concat.output);
    result_.specials->not_zero[output] = std::move(not_zero);
    result_.specials->not_minus_infinity[output] = std::move(not_infinite);
    result_.generated[output] = statement.generated;
  }

  const ProducerIndex& index_;
  const ir::Program& program_;
  Prepared result_ = {};
};

}  // namespace

WholeRead whole_read(const ProducerIndex& index, ir::TensorId tensor) {
  WholeRead read;
  read.nest = std::make_unique<Nest>(index.shape(tensor));
  std::vector<Linear> axes;
  for (int32_t axis = 0; axis < read.nest->loop_count(); ++axis) axes.push_back(single(axis));
  read.access = fold(index, *read.nest, tensor, std::move(axes));
  return read;
}

Result<Prepared> prepare(const ProducerIndex& index) { return Preparation(index).run(); }

}  // namespace solar::einsum

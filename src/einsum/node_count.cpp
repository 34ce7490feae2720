#include "einsum/node_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "einsum/operations.h"
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

// Comparisons that tell `count` things apart, per element.
int64_t doublings(int64_t count) {
  return std::max<int64_t>(1,
                           std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 2) - 1)));
}

}  // namespace

bool accumulate(int64_t& total, int64_t more) {
  const auto sum = checked_add(total, more);
  if (sum) total = *sum;
  return sum.has_value();
}

bool accumulate(ByteRange& total, const ByteRange& more) {
  const auto min = checked_add(total.min, more.min);
  const auto example = checked_add(total.example, more.example);
  const auto max = checked_add(total.max, more.max);
  if (!min || !example || !max) return false;
  total = {*min, *example, *max};
  return true;
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

std::optional<Node> NodeCounter::node(int32_t at) const {
  const Placed& placed = index_.placed(at);
  const Statement& statement = prepared_.statements[static_cast<size_t>(at)];
  const ir::Program& program = index_.program();
  Node node;
  node.statement = at;
  node.output = statement.outputs[0];
  node.name = program.tensor(node.output).name;
  node.exact = demand_.exact[static_cast<size_t>(at)];
  bool fits = true;
  const auto& body = placed.statement->body;
  const auto compared = [&](LoopMask axes, int64_t per_element) {
    const auto elements = count_projection(demand_.useful_domain[static_cast<size_t>(at)], axes);
    const auto total = elements ? checked_mul(*elements, per_element) : std::nullopt;
    if (total) node.elementwise_ops = *total;
    fits = fits && total;
  };
  if (statement.reader) {
    fits = count_kernel(at, node);
  } else if (const auto* concat = std::get_if<ir::Concat>(&body)) {
    node.einsum = concat_text(*concat, program);
  } else if (const auto* sort = std::get_if<ir::Sort>(&body)) {
    node.einsum = sort_text(*sort, program);
    const size_t rank = program.tensor(sort->input).shape.size();
    compared(~loop_bit(static_cast<int32_t>(rank)), doublings(sort->count));
  } else if (const auto* compact = std::get_if<ir::Compact>(&body)) {
    node.einsum = compact_text(*compact, program);
    const int64_t elements = ir::element_count(program.tensor(compact->input).shape);
    const size_t own = program.tensor(compact->output).shape.size();
    compared(~(loop_bit(static_cast<int32_t>(own)) - 1),
             compact->kind == ir::Compact::Kind::Unique ? doublings(elements) : 1);
  } else if (const auto* opaque = std::get_if<ir::Opaque>(&body)) {
    node.einsum = opaque_text(*opaque, program);
    fits = count_opaque(at, *opaque, node);
  } else if (const auto* branch = std::get_if<ir::If>(&body)) {
    fits = count_unknown_if(at, *branch, node);
  }
  if (!fits) return std::nullopt;
  return node;
}

bool NodeCounter::count_kernel(int32_t at, Node& node) const {
  const Statement& statement = prepared_.statements[static_cast<size_t>(at)];
  const KernelReader& reader = *statement.reader;
  node.einsum = einsum_text(reader, index_);
  const std::vector<Contraction> contractions = contractions_of(reader);
  const Region& domain = demand_.useful_domain[static_cast<size_t>(at)];
  const int64_t executions = index_.placed(at).executions;
  int64_t multiplications = 0;
  for (const Contraction& contraction : contractions) {
    const auto nominal = nominal_macs(contraction, reader, executions);
    auto useful = statement.generated ? 0 : useful_macs(contraction, reader, domain);
    if (const auto weight = sparse_weight(contraction); weight && useful) {
      useful = *useful / 2 + *useful % 2;
      node.sparse_weight = weight;
    }
    multiplications += static_cast<int64_t>(contraction.factors.size()) - 1;
    if (!nominal || !useful || !accumulate(node.macs.value, *nominal) ||
        !accumulate(node.macs_useful.value, *useful)) {
      return false;
    }
    node.is_convolution = node.is_convolution || has_window(contraction, reader);
  }
  node.is_contraction = !contractions.empty();
  if (node.is_contraction) describe_contraction(at, contractions[0], multiplications, node);
  if (statement.generated) return true;
  const auto points = domain.count();
  const OperationsPerPoint operations = operations_per_point(reader, contractions);
  const auto elementwise = points ? checked_mul(*points, operations.elementwise) : std::nullopt;
  const auto special = points ? checked_mul(*points, operations.special) : std::nullopt;
  if (!elementwise || !special) return false;
  node.elementwise_ops = *elementwise;
  node.special_ops = *special;
  return true;
}

// What a tensor is a copy of, by casts alone, and the type that its values fit. A product of two
// values of a narrow float type is exact in f32, whatever type holds them: units of the narrow type
// may form it.
NodeCounter::Origin NodeCounter::origin_of(ir::TensorId id) const {
  constexpr int kMostCasts = 16;
  const ir::Program& program = index_.program();
  Origin origin = {id, program.tensor(id).type};
  const auto narrows = [&](ir::ElementType type) {
    if (!ir::is_float(type) || !ir::is_float(origin.type)) return false;
    if (type == origin.type) return true;
    const bool is_exact = ir::storage_bits(type) < ir::storage_bits(origin.type);
    if (is_exact) origin.type = type;
    return is_exact;
  };
  for (int i = 0; i < kMostCasts; ++i) {
    const ir::Kernel* kernel = index_.kernel_of(origin.tensor);
    if (kernel == nullptr || kernel->reduction != ir::Reduction::None) break;
    const ir::ScalarNode* value = &kernel->nodes[static_cast<size_t>(kernel->value)];
    while (value->op == ir::ScalarOp::Cast && narrows(value->type)) {
      value = &kernel->nodes[static_cast<size_t>(value->a)];
    }
    if (value->op != ir::ScalarOp::Load) break;
    const int32_t producer = index_.producer(origin.tensor);
    const auto& reader = prepared_.statements[static_cast<size_t>(producer)].reader;
    if (!reader) break;
    const ir::TensorId from = reader->folded(value->reference).base;
    if (!narrows(program.tensor(from).type)) break;
    origin.tensor = from;
  }
  return origin;
}

std::optional<ir::TensorId> NodeCounter::sparse_weight(const Contraction& contraction) const {
  if (!sparse_weights_ || contraction.factors.size() != 2) return std::nullopt;
  for (const Factor& factor : contraction.factors) {
    if (factor.reads.size() != 1) continue;
    const ir::TensorId id = origin_of(factor.reads[0].base).tensor;
    const ir::Tensor& tensor = index_.program().tensor(id);
    if (tensor.role == ir::Role::Param && tensor.shape.size() >= 2) return id;
  }
  return std::nullopt;
}

void NodeCounter::describe_contraction(int32_t at, const Contraction& contraction,
                                       int64_t multiplications, Node& node) const {
  const ir::Statement& statement = *index_.placed(at).statement;
  const ir::Program& program = index_.program();
  const KernelReader& reader = *prepared_.statements[static_cast<size_t>(at)].reader;
  const std::string_view op = statement.group >= 0
                                  ? program.groups[static_cast<size_t>(statement.group)].op
                                  : std::string_view();
  node.is_convolution =
      node.is_convolution || names_convolution(op) || names_convolution(statement.call);
  const int32_t mine = grouping_.of_statement[static_cast<size_t>(at)];
  const auto is_inside = [&](ir::TensorId id) {
    const int32_t producer = index_.producer(id);
    return producer >= 0 && grouping_.of_statement[static_cast<size_t>(producer)] == mine;
  };
  const auto values_of = [&](ir::TensorId id) { return origin_of(id).type; };
  node.mac_type = mac_type(contraction, values_of, is_inside);
  const std::string formula = box_formula(reader, index_);
  if (formula.empty()) return;
  const auto box = nominal_box(reader);
  const auto points = box ? checked_mul(*box, multiplications) : std::nullopt;
  if (!points || *points != node.macs.value) return;
  node.formula = multiplications == 1 ? formula : fmt::format("{}*{}", multiplications, formula);
}

int64_t NodeCounter::runs(int32_t at) const {
  const Region& wanted = demand_.wanted[static_cast<size_t>(at)];
  const size_t steps = index_.block_of(index_.placed(at)).loops.size();
  if (steps == 0) return 1;
  if (wanted.empty()) return 0;
  LoopMask mask = 0;
  for (size_t step = 0; step < steps; ++step)
    mask |= loop_bit(static_cast<int32_t>(wanted.shape().size() - 1 - step));
  return count_projection(wanted, mask).value_or(0);
}

bool NodeCounter::count_opaque(int32_t at, const ir::Opaque& opaque, Node& node) const {
  const ir::Program& program = index_.program();
  for (const ir::TensorId input : opaque.inputs) {
    const ir::ElementType type = program.tensor(input).type;
    if (ir::is_float(type)) {
      node.mac_type = type;
      break;
    }
  }
  node.is_convolution = names_convolution(opaque.op);
  const int64_t executions = index_.placed(at).executions;
  const auto macs = checked_mul(opaque.macs.value_or(0), runs(at));
  const auto nominal = checked_mul(opaque.nominal.value_or(opaque.macs.value_or(0)), executions);
  if (!macs || !nominal) return false;
  node.macs_useful = Macs{*macs};
  node.macs = Macs{*nominal};
  node.exact = !opaque.hole;
  return true;
}

// The multiply-accumulates of a branch that may run.
bool NodeCounter::count_block(int32_t block, std::vector<MacClass>& classes, Macs& nominal) const {
  for (const int32_t at : index_.block(block).statements) {
    if (demand_.live[static_cast<size_t>(at)]) {
      const auto one = node(at);
      if (!one || !accumulate(nominal.value, one->macs.value) ||
          !accumulate(classes, {one->mac_type, one->is_convolution, one->macs_useful})) {
        return false;
      }
    }
    if (index_.placed(at).bodies.size() != 1) continue;
    if (!count_block(index_.placed(at).bodies[0], classes, nominal)) return false;
  }
  return true;
}

// Of every kind as much as the lesser branch has.
bool NodeCounter::count_unknown_if(int32_t at, const ir::If& branch, Node& node) const {
  const Placed& placed = index_.placed(at);
  node.einsum =
      fmt::format("{} = if {}", node.name, index_.program().tensor(branch.condition).name);
  std::vector<MacClass> taken;
  std::vector<MacClass> other;
  Macs nominal_taken;
  Macs nominal_other;
  if (!count_block(placed.bodies[0], taken, nominal_taken) ||
      !count_block(placed.bodies[1], other, nominal_other)) {
    return false;
  }
  node.macs = std::min(nominal_taken, nominal_other);
  for (const MacClass& a : taken) {
    for (const MacClass& b : other) {
      if (a.type != b.type || a.is_convolution != b.is_convolution) continue;
      const Macs both = std::min(a.macs, b.macs);
      if (both <= node.macs_useful) continue;
      node.macs_useful = both;
      node.mac_type = a.type;
      node.is_convolution = a.is_convolution;
    }
  }
  return true;
}

}  // namespace solar::einsum

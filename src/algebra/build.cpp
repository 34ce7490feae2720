#include "algebra/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "einsum/linear.h"

namespace solar::algebra {
namespace {

using ir::ScalarOp;

/// Writes expressions of a term into a kernel whose loops are some of the term's.
class KernelWriter {
 public:
  KernelWriter(const Term& term, const std::vector<int32_t>& loops) : term_(&term) {
    std::vector<int64_t> extents;
    for (const int32_t loop : loops) {
      const TermLoop& from = term.loops[static_cast<size_t>(loop)];
      atoms_[loop] = einsum::single(static_cast<int32_t>(extents.size()));
      extents.push_back(from.extent);
      kernel.loops.push_back({.name = from.name, .extent = from.extent});
    }
    nest_ = einsum::Nest(extents);
  }

  /// Continue with expressions of another term whose target loops are this kernel's first.
  void enter(const Term& term) {
    term_ = &term;
    const std::map<int32_t, Linear> old = std::move(atoms_);
    atoms_.clear();
    for (int32_t i = 0; i < term.targets; ++i) atoms_[i] = old.at(i);
  }

  int32_t node(ir::ScalarNode node) {
    kernel.nodes.push_back(node);
    return static_cast<int32_t>(kernel.nodes.size() - 1);
  }

  int32_t constant(ir::ElementType type, double value) {
    return node({.type = type, .constant = value});
  }

  int32_t cast(int32_t id, ir::ElementType type) {
    if (kernel.nodes[static_cast<size_t>(id)].type == type) return id;
    return node({.op = ScalarOp::Cast, .type = type, .a = id});
  }

  int32_t write(const ExprPtr& expr) {
    if (expr == nullptr) return -1;
    ir::ScalarNode out;
    out.op = expr->op;
    out.type = expr->type;
    out.constant = expr->constant;
    out.integer = expr->integer;
    if (expr->op == ScalarOp::Index) {
      out.reference = static_cast<int32_t>(kernel.linears.size());
      kernel.linears.push_back(linear(expr->index));
    }
    if (expr->op == ScalarOp::Load) {
      out.reference = static_cast<int32_t>(kernel.accesses.size());
      ir::Access access;
      access.tensor = expr->tensor;
      access.conditional = expr->conditional;
      for (const Linear& subscript : expr->subscripts)
        access.subscripts.push_back(linear(subscript));
      kernel.accesses.push_back(std::move(access));
    }
    out.a = write(expr->a);
    out.b = write(expr->b);
    out.c = write(expr->c);
    return node(out);
  }

  /// The product, in `type`; -1 of none.
  int32_t product(const std::vector<ExprPtr>& factors, ir::ElementType type) {
    int32_t all = -1;
    for (const ExprPtr& factor : factors) {
      const int32_t one = cast(write(factor), type);
      all = all < 0 ? one : node({.op = ScalarOp::Mul, .type = type, .a = all, .b = one});
    }
    return all;
  }

  void guard(const Guard& guard) { kernel.guards.push_back({guard.kind, linear(guard.value)}); }

  ir::Kernel finish() {
    kernel.atoms = nest_.atoms();
    return std::move(kernel);
  }

  ir::Kernel kernel = {};

 private:
  Linear linear(const Linear& value) {
    Linear result = einsum::constant(value.constant);
    for (const ir::Term& t : value.terms)
      result = einsum::add(result, einsum::scale(atom(t.atom), t.coefficient));
    return nest_.join_divisions(std::move(result));
  }

  Linear atom(int32_t id) {
    const auto known = atoms_.find(id);
    if (known != atoms_.end()) return known->second;
    ir::Atom copy = term_->nest.atom(id);
    for (Linear& operand : copy.operands) operand = linear(operand);
    for (Guard& condition : copy.conditions) condition.value = linear(condition.value);
    Linear result;
    if (copy.kind == ir::Atom::Kind::FloorDiv) {
      result = nest_.floor_div(copy.operands[0], copy.divisor);
    } else if (copy.kind == ir::Atom::Kind::Mod) {
      result = nest_.mod(copy.operands[0], copy.divisor);
    } else {
      result = nest_.add_atom(std::move(copy));
    }
    return atoms_[id] = result;
  }

  const Term* term_;
  einsum::Nest nest_ = einsum::Nest({});
  std::map<int32_t, Linear> atoms_ = {};
};

ir::ElementType wider(ir::ElementType a, ir::ElementType b) {
  return ir::storage_bits(b) > ir::storage_bits(a) ? b : a;
}

class Builder {
 public:
  Builder(Working& working, ir::TensorId output)
      : working_(working), output_(output), name_(working.tensor(output).name) {}

  std::vector<ir::Statement> run(const std::vector<Term>& terms, const std::vector<Order>& orders) {
    // Everything that is summed first; then one elementwise kernel.
    std::vector<Term> rest;
    for (size_t i = 0; i < terms.size(); ++i) rest.push_back(reduced(terms[i], orders[i]));
    finish(rest);
    return std::move(statements_);
  }

 private:
  struct Operand {
    std::vector<ExprPtr> factors = {};
  };

  ExprPtr one() const {
    Expr expr;
    expr.type = ir::wide(working_.tensor(output_).type);
    expr.constant = 1;
    return std::make_shared<const Expr>(std::move(expr));
  }

  static std::vector<int32_t> list(LoopMask mask) {
    std::vector<int32_t> loops;
    for (int32_t i = 0; i < 64; ++i) {
      if (mask >> i & 1) loops.push_back(i);
    }
    return loops;
  }

  /// The same term without summed loops.
  Term reduced(const Term& term, const Order& order) {
    emitted_.clear();
    Term out = term;
    out.guards.clear();
    if (!order.loops.empty()) out.factors = operand(term, order, order.all()).factors;
    // Conditions on the result's own axes.
    std::vector<size_t> open;
    for (size_t i = 0; i < order.guards.size(); ++i) {
      const LoopMask mask = order.guards[i];
      if ((mask & ~order.targets) == 0 && !applied(mask)) open.push_back(i);
    }
    if (!open.empty()) {
      if (out.factors.empty()) out.factors = {one()};
      LoopMask mask = 0;
      for (const ExprPtr& factor : out.factors) mask |= support(out.nest, *factor);
      for (const size_t i : open) mask |= order.guards[i];
      out.factors = {emit(term, out.factors, mask, mask, open)};
    }
    return out;
  }

  /// Whether some kernel of the term has had the loops of a guard.
  bool applied(LoopMask mask) const {
    return std::any_of(emitted_.begin(), emitted_.end(),
                       [&](LoopMask loops) { return (mask & ~loops) == 0; });
  }

  Operand operand(const Term& term, const Order& order, uint32_t subset) {
    if (std::has_single_bit(subset)) {
      const auto i = static_cast<size_t>(std::countr_zero(subset));
      const Operand single = {{term.factors[i]}};
      if (order.kept(subset) == order.loops[i]) return single;
      return {{emit(term, order, single.factors, order.loops[i], order.kept(subset))}};
    }
    const uint32_t left = order.left[subset];
    const LoopMask pair = order.kept(left) | order.kept(subset & ~left);
    const Operand a = operand(term, order, left);
    const Operand b = operand(term, order, subset & ~left);
    Operand both = a;
    both.factors.insert(both.factors.end(), b.factors.begin(), b.factors.end());
    if ((pair & ~order.kept(subset)) == 0) return both;
    return {{emit(term, order, both.factors, pair, order.kept(subset))}};
  }

  ExprPtr emit(const Term& term, const Order& order, const std::vector<ExprPtr>& factors,
               LoopMask loops, LoopMask kept) {
    std::vector<size_t> guards;
    for (size_t i = 0; i < order.guards.size(); ++i) {
      if ((order.guards[i] & ~loops) == 0) guards.push_back(i);
    }
    return emit(term, factors, loops, kept, guards);
  }

  /// sum over loops - kept of the factors, as a tensor of its own; a read of it.
  ExprPtr emit(const Term& term, const std::vector<ExprPtr>& factors, LoopMask loops, LoopMask kept,
               const std::vector<size_t>& guards) {
    emitted_.push_back(loops);
    std::vector<int32_t> order = list(kept);
    const std::vector<int32_t> summed = list(loops & ~kept);
    std::vector<int64_t> shape;
    for (const int32_t loop : order) shape.push_back(term.loops[static_cast<size_t>(loop)].extent);
    const size_t rank = order.size();
    order.insert(order.end(), summed.begin(), summed.end());
    ir::ElementType type = factors[0]->type;
    for (const ExprPtr& factor : factors) type = wider(type, factor->type);
    KernelWriter writer(term, order);
    ir::Kernel& kernel = writer.kernel;
    kernel.value = writer.product(factors, type);
    for (const size_t i : guards) writer.guard(term.guards[i]);
    kernel.reduction = summed.empty() ? ir::Reduction::None : ir::Reduction::Sum;
    for (size_t axis = 0; axis < rank; ++axis)
      kernel.target_loops.push_back(static_cast<int32_t>(axis));
    if (summed.empty() && !kernel.guards.empty()) kernel.otherwise = writer.constant(type, 0);
    kernel.output = working_.add_tensor(fmt::format("{}_part{}", name_, parts_++), type, shape);
    Expr read;
    read.op = ScalarOp::Load;
    read.type = type;
    read.tensor = kernel.output;
    for (size_t axis = 0; axis < rank; ++axis)
      read.subscripts.push_back(einsum::single(order[axis]));
    push(writer.finish());
    return std::make_shared<const Expr>(std::move(read));
  }

  void finish(const std::vector<Term>& terms) {
    const ir::Tensor& tensor = working_.tensor(output_);
    if (terms.empty()) return push(fill(working_.program(), output_, 0));
    const ir::ElementType type = ir::wide(tensor.type);
    std::vector<int32_t> loops;
    for (int32_t i = 0; i < terms[0].targets; ++i) loops.push_back(i);
    KernelWriter writer(terms[0], loops);
    int32_t sum = -1;
    for (const Term& term : terms) {
      writer.enter(term);
      int32_t value = writer.product(term.factors, type);
      if (value < 0) {
        value = writer.constant(type, term.coefficient);
      } else if (term.coefficient != 1) {
        const int32_t factor = writer.constant(type, term.coefficient);
        value = writer.node({.op = ScalarOp::Mul, .type = type, .a = value, .b = factor});
      }
      sum =
          sum < 0 ? value : writer.node({.op = ScalarOp::Add, .type = type, .a = sum, .b = value});
    }
    writer.kernel.value = writer.cast(sum, tensor.type);
    writer.kernel.target_loops = loops;
    writer.kernel.output = output_;
    push(writer.finish());
  }

  void push(ir::Kernel kernel) {
    ir::Statement statement;
    statement.body = std::move(kernel);
    statements_.push_back(std::move(statement));
  }

  Working& working_;
  ir::TensorId output_;
  std::string name_;
  int parts_ = 0;
  std::vector<LoopMask> emitted_ = {};
  std::vector<ir::Statement> statements_ = {};
};

}  // namespace

std::vector<ir::Statement> build(Working& working, ir::TensorId output,
                                 const std::vector<Term>& terms, const std::vector<Order>& orders) {
  return Builder(working, output).run(terms, orders);
}

ir::Kernel fill(const ir::Program& program, ir::TensorId output, double value) {
  const ir::Tensor& tensor = program.tensor(output);
  ir::Kernel kernel;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    kernel.loops.push_back({.name = fmt::format("a{}", axis), .extent = tensor.shape[axis]});
    kernel.target_loops.push_back(static_cast<int32_t>(axis));
    kernel.atoms.emplace_back();
  }
  ir::ScalarNode node;
  node.type = tensor.type;
  node.constant = value;
  node.integer = static_cast<int64_t>(value);
  kernel.nodes.push_back(node);
  kernel.value = 0;
  kernel.output = output;
  return kernel;
}

}  // namespace solar::algebra

#pragma once
// A kernel's value as a sum of products, written in terms of what its operands are made of: linear
// producers (elementwise ones, and other sums) substituted. Equal in real arithmetic.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algebra/working.h"
#include "einsum/nest.h"

namespace solar::algebra {

using einsum::Guard;
using einsum::Linear;
using einsum::LoopMask;

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// A scalar expression in the index space of a term.
struct Expr {
  ir::ScalarOp op = ir::ScalarOp::Constant;
  ir::ElementType type = ir::ElementType::F32;
  double constant = 0;
  int64_t integer = 0;
  Linear index = {};
  ir::TensorId tensor = {};
  std::vector<Linear> subscripts = {};
  bool conditional = false;
  bool fixed = false;  // a load of what is known beforehand (Working::fixed)
  ExprPtr a = nullptr, b = nullptr, c = nullptr;
};

struct TermLoop {
  std::string name = {};
  int64_t extent = 1;
};

/// coefficient * sum over all loops but the first `targets` of the product of the factors, where
/// the guards hold.
struct Term {
  double coefficient = 1;
  std::vector<TermLoop> loops = {};
  int32_t targets = 0;
  einsum::Nest nest = einsum::Nest({});
  std::vector<ExprPtr> factors = {};
  std::vector<Guard> guards = {};
  LoopMask active = 0;  // loops summed away as a number are not
};

LoopMask support(const einsum::Nest& nest, const Expr& expr);
/// The expression in another index space: atom i of its own is `map[i]` there.
ExprPtr moved(const ExprPtr& expr, const einsum::Nest& nest, const std::vector<Linear>& map);
/// Summed loops of which only quotient and remainder by a divisor occur are two loops.
Term with_split_loops(Term term);

/// Which producers are substituted.
struct Expansion {
  int32_t sums = 1 << 20;       // reductions, at most
  bool pointwise_only = false;  // none of them
  bool unshared = false;        // only those that nothing but the kernel needs in the end
};

struct Expanded {
  std::vector<Term> terms = {};
  std::vector<ir::TensorId> merged = {};  // producers that were substituted
  int32_t sums = 0;                       // of them reductions
  bool cancelled = false;                 // terms met their opposites
};

class Expander {
 public:
  explicit Expander(const Working& working) : working_(working) {}

  /// The kernel's terms as they stand. nullopt: it is no sum of products of floats, or too large.
  std::optional<std::vector<Term>> terms_of(const ir::Kernel& kernel) const;
  /// The same, substituted as far as possible, like terms collected.
  std::optional<Expanded> expand(const ir::Kernel& kernel, const Expansion& how) const;
  /// Whether node `id` is zero at every point, whatever the inputs are.
  bool cancels(const ir::Kernel& kernel, int32_t id) const;

 private:
  struct Monomial {
    double coefficient = 1;
    std::vector<ExprPtr> factors = {};
  };

  bool eligible(const ir::Kernel& kernel) const;
  bool reaches_sum(ir::TensorId id, int depth) const;
  bool leads_only_to(ir::TensorId id, ir::TensorId root, int depth) const;
  ExprPtr to_expr(const ir::Kernel& kernel, int32_t id, einsum::Nest& nest,
                  const std::vector<Linear>& map, std::vector<ExprPtr>& known) const;
  ExprPtr load(const ir::Access& access, std::vector<Linear> subscripts, ir::ElementType type,
               einsum::Nest& nest) const;
  std::optional<std::vector<Monomial>> polynomial(const ExprPtr& expr) const;
  std::optional<std::vector<Term>> start(const ir::Kernel& kernel, int32_t value,
                                         bool all_targets) const;
  bool substitute(const Term& term, size_t factor, const ir::Kernel& producer,
                  std::vector<Term>& out) const;
  std::optional<Expanded> run(std::vector<Term> terms, ir::TensorId root,
                              const Expansion& how) const;

  const Working& working_;
  mutable std::vector<int8_t> reaches_ = {};
};

/// Drops guards that always hold, loops that nothing depends on, terms without points; collects
/// like terms.
void simplify(std::vector<Term>& terms, bool& cancelled);

/// Equal keys: equal up to the coefficient.
std::string key_of(const Term& term);

/// Whether the reduction is over single points, so that the value itself is the result.
bool is_unit_reduction(const ir::Kernel& kernel);

}  // namespace solar::algebra

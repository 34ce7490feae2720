#pragma once
// Elaboration of one kernel: loops, index expressions, scalar expressions, guards. Private to ir/.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/verify/context.h"
#include "ir/verify/range.h"

namespace solar::ir {

/// A scalar subexpression: a node of the kernel, or a literal that still adapts to its neighbour's
/// type.
struct Scalar {
  int32_t node = -1;      // -1: a literal
  bool is_float = false;  // literals: written as a float (or the quotient of two integers)
  bool is_bool = false;
  double number = 0;
  int64_t integer = 0;
};

Reduction reduction_named(const std::string& assign);

class Nest {
 public:
  Nest(Context& context, Environment& env, const ast::Kernel& source, Kernel& kernel)
      : context_(context), env_(env), source_(source), kernel_(kernel) {}

  // loops.cpp: loops, lets, guards. False if nothing further can be checked.
  bool add_loops();
  bool add_lets();
  void add_guards();
  /// The loop a plain subscript names, or -1.
  int32_t loop_named(const std::string& name) const;
  const DimValue& loop_extent(int32_t loop) const { return extents_[static_cast<size_t>(loop)]; }
  const std::vector<int32_t>* pack_loops(const std::string& name) const;

  // index.cpp
  /// An index expression: only loops, repeats' variables, dims, integers, + - * // %, min, max,
  /// select, lets of these, and (in `indexed`) reads of integer tensors.
  bool is_index(const ast::Expr& expr) const;
  /// Names a loop or a repeat's variable.
  bool has_loop(const ast::Expr& expr) const;
  /// An index expression that reads no tensor.
  bool is_plain_index(const ast::Expr& expr) const { return is_index(expr) && !reads_tensor(expr); }
  bool reads_tensor(const ast::Expr& expr) const;
  std::optional<Linear> index(const ast::Expr& expr);
  /// The extent of the loop or repeat whose plain variable `value` is, or null.
  /// What makes a `kernel` an `indexed` one.
  Fixes make_indexed() const;
  Fixes add_guard(const ast::Expr& at, const std::string& guard) const;
  const DimValue* plain_extent(const Linear& value) const;
  /// A comparison chain of index expressions as guards; nothing (after an error) if it is none.
  std::optional<std::vector<Guard>> conditions(const ast::Expr& chain);
  bool is_index_condition(const ast::Expr& expr) const;

  // access.cpp
  std::optional<int32_t> access(const ast::Expr& read);
  /// The index expressions of subscripts, packs taken apart, each with where it stands.
  std::optional<std::vector<std::pair<const ast::Expr*, Linear>>> subscripts(
      const std::vector<ast::ExprPtr>& written);
  void prove_subscript(const ast::Expr& at, const Linear& value, const DimValue& extent,
                       size_t axis, const Tensor& tensor);

  // scalar.cpp
  /// The node of an expression converted to `type`; -1 after an error.
  int32_t value(const ast::Expr& expr, ElementType type, const char* what);
  std::optional<Scalar> scalar(const ast::Expr& expr);
  ElementType type_of(const Scalar& scalar) const;

  /// While on, only target loops may be named (`init`, `else`).
  void restrict_to_targets(const char* clause) { restricted_ = clause; }
  void allow_prev(bool allowed, ElementType type) {
    prev_allowed_ = allowed;
    prev_type_ = type;
  }

  Context& context() { return context_; }
  Environment& env() { return env_; }
  void error(DiagnosticKind kind, Place span, std::string message, std::string hint = {},
             std::vector<Label> labels = {}, Fixes fixes = {}) {
    context_.error(env_, kind, span, std::move(message), std::move(hint), std::move(labels),
                   std::move(fixes));
  }
  std::vector<Guard> path;  // conditions of the select branches around the current expression

 private:
  friend class ScalarBuilder;
  bool add_ragged_ranges();
  int32_t atom(Atom atom);
  int32_t linear(Linear value);
  int32_t node(ScalarNode node);
  std::optional<Linear> add(const ast::Expr& at, const Linear& a, const Linear& b, int64_t sign);
  std::optional<Linear> scale(const ast::Expr& at, const Linear& a, int64_t factor);
  std::optional<Linear> divide(const ast::Expr& at, const Linear& a, int64_t divisor, bool modulo);
  std::optional<Linear> index_binary(const ast::Expr& expr);
  std::optional<Linear> index_call(const ast::Expr& expr);
  std::optional<Linear> index_read(const ast::Expr& expr);
  std::optional<Linear> index_name(const ast::Expr& expr);
  bool in_range(const ast::Expr& at, const Linear& value);
  bool is_integer_tensor(const std::string& name) const;

  std::vector<Guard> conditions_here() const;
  /// `init` and `else` name only the target's loops.
  bool allowed(int32_t loop) const;
  bool reads_data(const Linear& value) const;

  std::optional<Scalar> scalar_name(const ast::Expr& expr);
  std::optional<Scalar> scalar_binary(const ast::Expr& expr);
  std::optional<Scalar> scalar_chain(const ast::Expr& expr);
  std::optional<Scalar> scalar_call(const ast::Expr& expr);
  std::optional<Scalar> scalar_select(const ast::Expr& expr);
  std::optional<Scalar> scalar_cast(const ast::Expr& expr, ElementType type);
  std::optional<Scalar> binary_node(const ast::Expr& at, ScalarOp op, Scalar a, Scalar b);
  std::optional<Scalar> fold(const ast::Expr& at, const std::string& op, const Scalar& a,
                             const Scalar& b);
  /// Converts the operand of the narrower type.
  Fixes convert_one(const ast::Expr& at, const Scalar& a, const Scalar& b) const;
  bool unify(const ast::Expr& at, Scalar& a, Scalar& b);
  int32_t materialise(const ast::Expr& at, const Scalar& literal, ElementType type);
  Scalar load(int32_t access, ElementType type);
  Scalar condition_node(const std::vector<Guard>& guards);

  Context& context_;
  Environment& env_;
  const ast::Kernel& source_;
  Kernel& kernel_;
  std::vector<DimValue> extents_;
  std::map<std::string, int32_t> loops_;
  std::map<std::string, std::vector<int32_t>> packs_;
  std::map<std::string, const ast::Expr*> lets_;
  // What is known of the lets, so that chains of them cost linear time. Values depend on the select
  // branch.
  template <class F>
  static bool remember(std::map<std::string, bool>& known, const std::string& name, F compute) {
    const auto at = known.find(name);
    if (at != known.end()) return at->second;
    const bool result = compute();
    known[name] = result;
    return result;
  }
  mutable std::map<std::string, bool> let_is_index_;
  mutable std::map<std::string, bool> let_has_loop_;
  mutable std::map<std::string, bool> let_reads_;
  std::map<std::pair<std::string, int32_t>, std::optional<Linear>> let_indices_;
  std::map<std::pair<std::string, int32_t>, std::optional<Scalar>> let_scalars_;
  int32_t path_id_ = 0;  // of the select branch around the current expression; 0: none
  int32_t paths_ = 0;
  int64_t steps_ = 0;
  const char* restricted_ = nullptr;
  int32_t visible_loops_ = INT32_MAX;  // while a ragged loop's range is read: those before it
  bool prev_allowed_ = false;
  ElementType prev_type_ = ElementType::F32;
};

}  // namespace solar::ir

#pragma once
// What the verifier's passes share: names in scope, the program under construction, errors. Private
// to ir/.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/checked.h"
#include "base/result.h"
#include "ir/ast.h"
#include "ir/core.h"
#include "ir/dim_expr.h"
#include "ir/verify/elaborate.h"

namespace solar::ir {

/// An extent: its value at the bound dims and its expression in the free ones.
struct DimValue {
  int64_t value = 1;
  DimExpr expr = {};
};

struct TensorShape {
  ElementType type = ElementType::F32;
  std::vector<DimValue> extents = {};
};

/// A literal passed for a scalar parameter.
struct Literal {
  ElementType type = ElementType::F32;
  double number = 0;
  int64_t integer = 0;
};

/// What a tensor name stands for. Neither tensor nor literal: its definition failed; uses stay
/// silent.
struct Binding {
  std::optional<TensorId> tensor = {};
  std::optional<Literal> literal = {};
  Span defined = {};
};

/// The names of one body. `prefix` makes the names of inlined tensors unique.
struct Environment {
  std::map<std::string, DimValue> dims = {};
  std::set<std::string> poisoned_dims = {};
  std::set<std::string> free_dims = {};
  std::map<std::string, std::vector<DimValue>> packs = {};
  std::map<std::string, ElementType> types = {};
  std::unordered_map<std::string, Binding> tensors = {};
  std::map<std::string, std::string> renamed = {};  // results: the caller's names for them
  std::string prefix = {};
  std::string call_chain = {};
  const Environment* caller = nullptr;
  Span call_site = {};
};

class Context {
 public:
  DimTable table;
  Program program;
  std::vector<DimEquation> equations;
  std::map<std::string, const ast::Function*> functions;
  std::unordered_map<int32_t, std::vector<DimValue>> shapes;  // of tensors, symbolic
  std::vector<const ast::Function*> call_stack;
  Diagnostics errors;
  int32_t group = -1;
  int64_t inlined = 0;  // calls, against functions that multiply

  void error(const Environment& env, DiagnosticKind kind, Span span, std::string message,
             std::string hint = {}, std::vector<Label> labels = {}, std::vector<Fix> fixes = {});

  /// Records that two extents must be equal. False, without an error, if their values differ.
  bool equal(const DimValue& a, const DimValue& b, Span span);

  DimValue constant(int64_t value) { return {value, table.constant(value)}; }
  std::string text(const DimValue& value) const;  // `H*D` or `H*D = 64`

  // Dim expressions (dims.cpp). Reports and returns nothing on a wrong one.
  std::optional<DimValue> eval_dim(const Environment& env, const ast::Expr& expr);
  /// The same for an extent: positive, below 2^62.
  std::optional<DimValue> eval_extent(const Environment& env, const ast::Expr& expr);
  void define_dims(Environment& env, const ast::Dims& dims, bool free_allowed,
                   const std::map<std::string, int64_t>* bindings);
  void check_require(const Environment& env, const ast::Require& require);

  // Types (types_check.cpp).
  std::optional<ElementType> eval_element(const Environment& env, const ast::ElementRef& element);
  std::optional<TensorShape> eval_type(const Environment& env, const ast::Type& type);

  // Tensors.
  std::optional<TensorId> define_tensor(Environment& env, const ast::Name& name, TensorShape shape,
                                        Role role = Role::Value);
  void poison(Environment& env, const ast::Name& name);
  /// The binding of a name, or nothing after an unknown-name error.
  const Binding* find_tensor(const Environment& env, const std::string& name, Span span);
  void add_statement(const Environment& env, Statement statement, Span span);

  // Statements, one file each.
  void elaborate_block(Environment& env, const ast::Block& block);
  void elaborate_kernel(Environment& env, const ast::Kernel& kernel, Span span);
  void elaborate_view(Environment& env, const ast::View& view, Span span);
  void elaborate_slice(Environment& env, const ast::Slice& slice, Span span);
  void elaborate_call(Environment& env, const ast::Call& call, Span span);
  void elaborate_concat(Environment& env, const ast::Call& call, Span span);
  void elaborate_update(Environment& env, const ast::Update& update);

  /// False, after an error, if the name is already defined in this body.
  bool name_is_free(const Environment& env, const ast::Name& name);

 private:
  std::optional<int64_t> eval_condition(const Environment& env, const ast::Expr& expr);
};

}  // namespace solar::ir

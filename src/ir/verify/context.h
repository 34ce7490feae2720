#pragma once
// What the verifier's passes share: names in scope, the program under construction, errors. Private
// to ir/.

#include <deque>
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
#include "ir/verify/fixes.h"

namespace solar::ir {

/// An extent: its value at the bound dims and its expression in the free ones.
struct DimValue {
  int64_t value = 1;
  DimExpr expr = {};
};

struct TensorShape {
  ElementType type = ElementType::F32;
  std::vector<DimValue> extents = {};
  std::string storage = {};
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
  Place defined = {};
};

/// The variable of a repeat around the current statement.
struct StepVariable {
  int32_t step = -1;  // index into Program::steps
  DimValue extent = {};
};

/// The names of one program's or function's body. `prefix` makes the names of inlined tensors
/// unique. Bodies of loops and branches open a scope in it (body.h).
struct Environment {
  std::map<std::string, DimValue> dims = {};
  std::set<std::string> poisoned_dims = {};
  std::set<std::string> free_dims = {};
  std::map<std::string, std::vector<DimValue>> packs = {};
  std::map<std::string, ElementType> types = {};
  std::unordered_map<std::string, Binding> tensors = {};
  std::map<std::string, StepVariable> steps = {};
  int32_t open_bodies = 0;
  std::vector<std::string> body_names = {};         // defined in the open bodies, innermost last
  std::map<std::string, std::string> renamed = {};  // results: the caller's names for them
  std::string prefix = {};
  std::string call_chain = {};
  std::string module = {};  // of the call: what `*` is in module paths
  const Environment* caller = nullptr;
  Place call_site = {};
};

class Context {
 public:
  DimTable table;
  Program program;
  std::vector<DimEquation> equations;
  std::map<std::string, const ast::Function*> functions;
  std::deque<std::vector<DimValue>> shapes;  // of tensors, symbolic
  std::vector<const ast::Function*> call_stack;
  std::set<const ast::Function*> wrong_signatures;  // reported
  Diagnostics errors;                               // the first ones
  int64_t hidden_errors = 0;                        // beyond them
  int32_t group = -1;
  bool steps_allowed = false;  // in dim expressions: while a slice's bounds are read
  int64_t inlined = 0;         // calls, against functions that multiply

  void error(const Environment& env, DiagnosticKind kind, Place span, std::string message,
             std::string hint = {}, std::vector<Label> labels = {}, Fixes fixes = {});

  /// Whether to look for names like an unknown one. Not after many errors: a search each would cost
  /// more than all else.
  bool gives_hints() const { return errors.size() < 100; }

  /// Records that two extents must be equal. False, without an error, if their values differ.
  bool equal(const DimValue& a, const DimValue& b, Place span);

  DimValue constant(int64_t value) { return {value, table.constant(value)}; }
  std::string text(const DimValue& value) const;  // `H*D` or `H*D = 64`

  // Dim expressions (dims.cpp). Reports and returns nothing on a wrong one.
  std::optional<DimValue> eval_dim(const Environment& env, const ast::Expr& expr);
  /// The same for an extent: positive, below 2^62.
  std::optional<DimValue> eval_extent(const Environment& env, const ast::Expr& expr);
  void define_dims(Environment& env, const ast::Dims& dims, bool free_allowed,
                   const std::map<std::string, int64_t>* bindings);
  void check_require(const Environment& env, const ast::Require& require);

  // Types (dims.cpp).
  std::optional<ElementType> eval_element(const Environment& env, const ast::ElementRef& element);
  std::optional<TensorShape> eval_type(const Environment& env, const ast::Type& type);

  // Tensors.
  std::optional<TensorId> define_tensor(Environment& env, const ast::Name& name, TensorShape shape,
                                        Role role = Role::Value);
  void poison(Environment& env, const ast::Name& name);
  void bind(Environment& env, const std::string& name, Binding binding);
  /// A tensor that no name of the text stands for.
  TensorId add_tensor(std::string name, TensorShape shape, Place span);
  /// The name of a tensor of this body in the program.
  std::string full_name(const Environment& env, const std::string& name) const;
  /// A scalar tensor that holds a literal.
  TensorId define_literal(Environment& env, std::string name, const Literal& literal, Place span);
  /// The binding of a name, or nothing after an unknown-name error.
  const Binding* find_tensor(const Environment& env, const std::string& name, Place span);
  void add_statement(const Environment& env, Statement statement, Place span);

  // Statements, one file each.
  void elaborate_block(Environment& env, const ast::Block& block);
  void elaborate_statement(Environment& env, const ast::Statement& statement);
  void elaborate_repeat(Environment& env, const ast::Repeat& repeat, Place span);
  void elaborate_while(Environment& env, const ast::While& loop, Place span);
  void elaborate_if(Environment& env, const ast::If& branches, Place span);
  void elaborate_kernel(Environment& env, const ast::Kernel& kernel, Place span);
  void elaborate_scatter(Environment& env, const ast::Kernel& scatter, Place span);
  void elaborate_view(Environment& env, const ast::View& view, Place span);
  void elaborate_slice(Environment& env, const ast::Slice& slice, Place span);
  void elaborate_call(Environment& env, const ast::Call& call, Place span);
  /// Calls of functions that are no text, like `concat`; false if there is none of that name.
  bool elaborate_builtin(Environment& env, const ast::Call& call, Place span);
  void elaborate_update(Environment& env, const ast::Update& update);
  void elaborate_opaque(Environment& env, const ast::Opaque& opaque, Place span);

  /// A module path as it is in the program: in a function `*` is the module of the call.
  static std::string module_path(const Environment& env, const std::string& path);

  /// False, after an error, if the name is already defined in this body.
  bool name_is_free(const Environment& env, const ast::Name& name);

 private:
  std::optional<int64_t> eval_condition(const Environment& env, const ast::Expr& expr);

  std::set<std::string> bad_extents_;  // that were reported
};

}  // namespace solar::ir

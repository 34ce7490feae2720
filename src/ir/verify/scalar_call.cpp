// Scalar expressions that look like calls: select, casts, functions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "ir/verify/functions.h"
#include "ir/verify/scalar_literals.h"

namespace solar::ir {
namespace {

/// An integer type's value of a literal: integers wrap, floats saturate.
int64_t cast_literal(const Scalar& literal, ElementType type) {
  const int bits = storage_bits(type);
  const bool is_signed = type != ElementType::U8;
  const int64_t highest =
      static_cast<int64_t>((~uint64_t{0} >> (64 - bits)) >> (is_signed ? 1 : 0));
  const int64_t lowest = is_signed ? -highest - 1 : 0;
  if (literal.is_float) {
    if (std::isnan(literal.number)) return 0;
    if (literal.number >= static_cast<double>(highest)) return highest;
    if (literal.number <= static_cast<double>(lowest)) return lowest;
    return static_cast<int64_t>(literal.number);
  }
  if (bits == 64) return literal.integer;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const uint64_t above = static_cast<uint64_t>(literal.integer) - static_cast<uint64_t>(lowest);
  return static_cast<int64_t>(above & mask) + lowest;
}

/// Whether a value is already one of its type: what is computed in a wider type is not.
bool is_rounded(const ScalarNode& node) {
  const bool is_wide = node.type == ElementType::F64 || node.type == ElementType::F32 ||
                       node.type == ElementType::I64 || node.type == ElementType::Bool;
  return is_wide || node.op == ScalarOp::Load || node.op == ScalarOp::Prev ||
         node.op == ScalarOp::Cast;
}

}  // namespace

Scalar Nest::condition_node(const std::vector<Guard>& guards) {
  int32_t all = -1;
  for (const Guard& guard : guards) {
    const int32_t value =
        node({.op = ScalarOp::Index, .type = ElementType::I64, .reference = linear(guard.value)});
    const int32_t zero = node({.op = ScalarOp::Constant, .type = ElementType::I64});
    const ScalarOp op = guard.kind == Guard::Kind::NonNegative ? ScalarOp::GreaterEqual
                        : guard.kind == Guard::Kind::Zero      ? ScalarOp::Equal
                                                               : ScalarOp::NotEqual;
    const int32_t one = node({.op = op, .type = ElementType::Bool, .a = value, .b = zero});
    all =
        all < 0 ? one : node({.op = ScalarOp::And, .type = ElementType::Bool, .a = all, .b = one});
  }
  return node_scalar(all);
}

std::optional<Scalar> Nest::scalar_select(const ast::Expr& expr) {
  std::optional<Scalar> condition;
  const bool by_index = is_index_condition(*expr.operands[0]) && !reads_tensor(*expr.operands[0]);
  std::vector<Guard> guards;
  if (by_index) {
    const auto found = conditions(*expr.operands[0]);
    if (!found) return std::nullopt;
    guards = *found;
    condition = condition_node(guards);
  } else {
    condition = scalar(*expr.operands[0]);
  }
  const size_t outer = path.size();
  const int32_t outer_id = path_id_;
  path.insert(path.end(), guards.begin(), guards.end());
  if (by_index) path_id_ = ++paths_;
  const auto a = scalar(*expr.operands[1]);
  path.resize(outer);
  if (by_index) {
    path_id_ = ++paths_;
    if (guards.size() == 1) {
      Guard negated = guards[0];
      if (negated.kind != Guard::Kind::NonNegative) {
        negated.kind = negated.kind == Guard::Kind::Zero ? Guard::Kind::NonZero : Guard::Kind::Zero;
      } else {
        negated.value = combine(negated.value, -1, {}, 0);
        negated.value.constant -= 1;
      }
      path.push_back(negated);
    } else {
      path.push_back({});  // 0 >= 0: always true, but marks the accesses as conditional
    }
  }
  const auto b = scalar(*expr.operands[2]);
  path.resize(outer);
  path_id_ = outer_id;
  if (!condition || !a || !b) return std::nullopt;
  if (condition->node < 0)
    condition = node_scalar(materialise(*expr.operands[0], *condition, ElementType::Bool));
  if (condition->node < 0) return std::nullopt;
  if (type_of(*condition) != ElementType::Bool) {
    error(DiagnosticKind::TypeMismatch, expr.operands[0]->span,
          "the condition of `select` must be a bool", "compare: `x != 0`");
    return std::nullopt;
  }
  Scalar x = *a;
  Scalar y = *b;
  if (x.node < 0 && y.node < 0) {
    // Two literals: the float one decides; f32 stands for both until a cast says otherwise.
    const ElementType type = x.is_bool                  ? ElementType::Bool
                             : x.is_float || y.is_float ? ElementType::F32
                                                        : ElementType::I64;
    x = node_scalar(materialise(*expr.operands[1], x, type));
    if (x.node < 0) return std::nullopt;
  }
  ast::Expr pair = expr;
  pair.operands = {expr.operands[1], expr.operands[2]};
  if (!unify(pair, x, y)) return std::nullopt;
  return node_scalar(node({.op = ScalarOp::Select,
                           .type = type_of(x),
                           .a = condition->node,
                           .b = x.node,
                           .c = y.node}));
}

std::optional<Scalar> Nest::scalar_cast(const ast::Expr& expr, ElementType type) {
  if (expr.operands.size() != 1) {
    error(DiagnosticKind::RankMismatch, expr.span,
          fmt::format("a cast has one argument, found {}", expr.operands.size()));
    return std::nullopt;
  }
  const auto inner = scalar(*expr.operands[0]);
  if (!inner) return std::nullopt;
  if (inner->node < 0) {
    Scalar literal = *inner;
    if (literal.is_bool && type != ElementType::Bool) literal.is_bool = false;
    if (type == ElementType::Bool && !literal.is_bool) {
      return bool_literal(literal.is_float ? literal.number != 0 : literal.integer != 0);
    }
    if (is_integer(type)) literal = integer_literal(cast_literal(literal, type));
    const bool rounds = is_float(type) && storage_bits(type) < 32;
    const int32_t constant = materialise(expr, literal, rounds ? ElementType::F64 : type);
    if (constant < 0) return std::nullopt;
    if (!rounds) return node_scalar(constant);
    return node_scalar(node({.op = ScalarOp::Cast, .type = type, .a = constant}));
  }
  if (type_of(*inner) == type && is_rounded(kernel_.nodes[static_cast<size_t>(inner->node)]))
    return inner;
  return node_scalar(node({.op = ScalarOp::Cast, .type = type, .a = inner->node}));
}

std::optional<Scalar> Nest::scalar_call(const ast::Expr& expr) {
  if (expr.text == "select" && expr.operands.size() == 3) return scalar_select(expr);
  if (const auto type = element_type_named(expr.text)) return scalar_cast(expr, *type);
  const auto parameter = env_.types.find(expr.text);
  if (parameter != env_.types.end()) return scalar_cast(expr, parameter->second);
  if (expr.text == "wide" && expr.operands.size() == 1) {
    const auto inner = scalar(*expr.operands[0]);
    if (!inner || inner->node < 0) return inner;
    const ElementType type = wide(type_of(*inner));
    if (type == type_of(*inner)) return inner;
    return node_scalar(node({.op = ScalarOp::Cast, .type = type, .a = inner->node}));
  }
  if (expr.text == "select" || expr.text == "wide") {
    error(DiagnosticKind::RankMismatch, expr.span,
          fmt::format("`{}` has {}, found {}", expr.text,
                      expr.text == "wide" ? "1 argument" : "3 arguments", expr.operands.size()),
          expr.text == "wide" ? "" : "select(condition, value if true, value if false)");
    return std::nullopt;
  }
  const ScalarFunction* function = scalar_function_named(expr.text);
  if (function == nullptr) {
    const auto near = nearest_names(expr.text, scalar_function_names());
    error(DiagnosticKind::UnknownName, expr.span,
          fmt::format("no scalar function is called `{}`", expr.text),
          near.empty() ? "a function of tensors is called by `let`, an element is read as `x[i]`"
                       : fmt::format("did you mean {}?", quoted_choices(near)),
          {}, rename(expr.text, expr.span, near));
    return std::nullopt;
  }
  const bool folds = function->op == ScalarOp::Min || function->op == ScalarOp::Max;
  if (expr.operands.size() != static_cast<size_t>(function->arity) &&
      !(folds && expr.operands.size() > 2)) {
    error(DiagnosticKind::RankMismatch, expr.span,
          fmt::format("`{}` has {} argument{}, found {}", expr.text, function->arity,
                      function->arity == 1 ? "" : "s", expr.operands.size()),
          fmt::format("{}({})", expr.text, function->arity == 1 ? "x" : "x, y"));
    return std::nullopt;
  }
  std::vector<Scalar> arguments;
  for (const ast::ExprPtr& operand : expr.operands) {
    const auto argument = scalar(*operand);
    if (!argument) return std::nullopt;
    arguments.push_back(*argument);
  }
  const auto typed = [&](ElementType type) {
    const bool fits = function->operands == ScalarOperands::Numbers  ? type != ElementType::Bool
                      : function->operands == ScalarOperands::Floats ? is_float(type)
                                                                     : is_integer(type);
    if (fits) return true;
    error(DiagnosticKind::TypeMismatch, expr.span,
          fmt::format("`{}` needs {}, found {}", expr.text,
                      function->operands == ScalarOperands::Floats     ? "floats"
                      : function->operands == ScalarOperands::Integers ? "integers"
                                                                       : "numbers",
                      name(type)),
          "convert with f32(...) or i64(...)");
    return false;
  };
  if (function->arity == 1) {
    Scalar a = arguments[0];
    if (a.node < 0) {
      const bool as_float = a.is_float || function->operands == ScalarOperands::Floats;
      a = node_scalar(
          materialise(*expr.operands[0], a, as_float ? ElementType::F32 : ElementType::I64));
      if (a.node < 0) return std::nullopt;
    }
    if (!typed(type_of(a))) return std::nullopt;
    const ElementType result = function->yields_bool ? ElementType::Bool : type_of(a);
    return node_scalar(node({.op = function->op, .type = result, .a = a.node}));
  }
  Scalar result = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    Scalar b = arguments[i];
    if (result.node < 0 && b.node < 0) {
      const bool as_float =
          result.is_float || b.is_float || function->operands == ScalarOperands::Floats;
      result = node_scalar(
          materialise(*expr.operands[0], result, as_float ? ElementType::F32 : ElementType::I64));
      if (result.node < 0) return std::nullopt;
    }
    ast::Expr pair = expr;
    pair.operands = {expr.operands[i - 1], expr.operands[i]};
    const auto next = binary_node(pair, function->op, result, b);
    if (!next || !typed(type_of(*next))) return std::nullopt;
    result = *next;
  }
  return result;
}

}  // namespace solar::ir

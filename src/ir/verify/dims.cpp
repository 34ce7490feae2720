// Dim expressions, `dims` and `require`, element types and tensor types.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/verify/context.h"

namespace solar::ir {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 62;

std::optional<int64_t> compute(const std::string& op, int64_t a, int64_t b) {
  if (op == "+") return checked_add(a, b);
  if (op == "-") return b == INT64_MIN ? std::nullopt : checked_add(a, -b);
  if (op == "*") return checked_mul(a, b);
  if (op == "//") return floor_div(a, b);
  if (op == "%") return floor_mod(a, b);
  if (op == "min") return std::min(a, b);
  return std::max(a, b);
}

DimExpr symbolic(DimTable& table, const std::string& op, const DimExpr& a, const DimExpr& b) {
  if (op == "+") return table.add(a, b);
  if (op == "-") return table.subtract(a, b);
  if (op == "*") return table.multiply(a, b);
  if (op == "//") return table.apply(DimOp::FloorDiv, a, b);
  if (op == "%") return table.apply(DimOp::Mod, a, b);
  return table.apply(op == "min" ? DimOp::Min : DimOp::Max, a, b);
}

}  // namespace

std::optional<DimValue> Context::eval_dim(const Environment& env, const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      return constant(expr.integer);
    case ast::ExprKind::Name: {
      if (env.poisoned_dims.contains(expr.text)) return std::nullopt;
      const auto at = env.dims.find(expr.text);
      if (at != env.dims.end()) return at->second;
      if (env.steps.contains(expr.text)) {
        // A place depends on the step: symbolically, as at the first one.
        if (steps_allowed) return DimValue{0, table.variable("repeat " + expr.text)};
        error(
            env, DiagnosticKind::BadExtent, expr.span,
            fmt::format("`{}` is the variable of a repeat, extents cannot depend on it", expr.text),
            "use it in subscripts, guards, expressions and the bounds of slices");
        return std::nullopt;
      }
      std::vector<std::string> known;
      for (const auto& [name, value] : env.dims) known.push_back(name);
      const auto near = nearest_names(expr.text, known);
      error(env, DiagnosticKind::UnknownName, expr.span,
            fmt::format("no dim is called `{}`", expr.text),
            near.empty() ? "define it with `dims` at the start of the body"
                         : fmt::format("did you mean {}?", quoted_choices(near)),
            {}, rename(expr.text, expr.span, near));
      return std::nullopt;
    }
    case ast::ExprKind::Unary: {
      if (expr.text != "-") break;
      const auto inner = eval_dim(env, *expr.operands[0]);
      if (!inner) return std::nullopt;
      if (inner->value == INT64_MIN) {
        error(env, DiagnosticKind::CountOverflow, expr.span, "`-` overflows 64 bits",
              "bind smaller dims");
        return std::nullopt;
      }
      return DimValue{-inner->value, table.subtract(table.constant(0), inner->expr)};
    }
    case ast::ExprKind::Binary:
    case ast::ExprKind::Call: {
      const bool call = expr.kind == ast::ExprKind::Call;
      const bool known =
          call ? (expr.text == "min" || expr.text == "max") && expr.operands.size() == 2
               : expr.text == "+" || expr.text == "-" || expr.text == "*" || expr.text == "//" ||
                     expr.text == "%";
      if (!known) break;
      const auto a = eval_dim(env, *expr.operands[0]);
      const auto b = eval_dim(env, *expr.operands[1]);
      if (!a || !b) return std::nullopt;
      if ((expr.text == "//" || expr.text == "%") && b->value <= 0) {
        error(env, DiagnosticKind::BadExtent, expr.operands[1]->span,
              fmt::format("the divisor is {}, it must be positive", text(*b)),
              "change the dims it comes from");
        return std::nullopt;
      }
      const auto value = compute(expr.text, a->value, b->value);
      if (!value) {
        error(env, DiagnosticKind::CountOverflow, expr.span,
              fmt::format("`{}` overflows 64 bits: {} {} {}", expr.text, a->value, expr.text,
                          b->value),
              "bind smaller dims");
        return std::nullopt;
      }
      const DimExpr written = symbolic(table, expr.text, a->expr, b->expr);
      if (table.is_too_large(written)) {
        error(env, DiagnosticKind::CountOverflow, expr.span,
              "written in the free dims, the expression is too large",
              "make a dim it comes from a free one: give it a number");
        return std::nullopt;
      }
      return DimValue{*value, written};
    }
    default:
      break;
  }
  error(env, DiagnosticKind::BadExtent, expr.span, "expected a dim expression",
        "integers and dims with + - * // % min(a,b) max(a,b)");
  return std::nullopt;
}

std::optional<DimValue> Context::eval_extent(const Environment& env, const ast::Expr& expr) {
  const auto value = eval_dim(env, expr);
  if (!value) return std::nullopt;
  if (value->value < 1 || value->value >= kMaxExtent) {
    // Said once, not wherever the same dims stand.
    if (!value->expr.is_constant() && !bad_extents_.insert(text(*value)).second)
      return std::nullopt;
    error(env, DiagnosticKind::BadExtent, expr.span,
          fmt::format("the extent is {}, it must be {}", text(*value),
                      value->value < 1 ? "at least 1" : "below 2^62"),
          "change the dims it comes from");
    return std::nullopt;
  }
  return value;
}

void Context::define_dims(Environment& env, const ast::Dims& dims, bool free_allowed,
                          const std::map<std::string, int64_t>* bindings) {
  for (const ast::Let& dim : dims.dims) {
    if (env.dims.contains(dim.name.text) || env.poisoned_dims.contains(dim.name.text)) {
      error(env, DiagnosticKind::DuplicateName, dim.name.span,
            fmt::format("dim `{}` is already defined", dim.name.text),
            "a name is defined once; choose another");
      continue;
    }
    if (!name_is_free(env, dim.name)) continue;
    std::optional<DimValue> value = eval_dim(env, *dim.value);
    if (!value) {
      env.poisoned_dims.insert(dim.name.text);
      continue;
    }
    if (dim.value->kind == ast::ExprKind::Integer && free_allowed) {
      if (bindings != nullptr && bindings->contains(dim.name.text)) {
        value->value = bindings->at(dim.name.text);
      }
      value->expr = table.variable(dim.name.text);
      env.free_dims.insert(dim.name.text);
    }
    if (free_allowed) {
      program.dims.push_back(
          {dim.name.text, value->value,
           env.free_dims.contains(dim.name.text) ? "" : table.text(value->expr)});
    }
    env.dims[dim.name.text] = *value;
  }
}

std::optional<int64_t> Context::eval_condition(const Environment& env, const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::Binary && (expr.text == "and" || expr.text == "or")) {
    const auto a = eval_condition(env, *expr.operands[0]);
    const auto b = eval_condition(env, *expr.operands[1]);
    if (!a || !b) return std::nullopt;
    return expr.text == "and" ? *a & *b : *a | *b;
  }
  if (expr.kind != ast::ExprKind::Chain) {
    error(env, DiagnosticKind::BadExtent, expr.span, "expected a comparison of dim expressions",
          "compare with < <= > >= == !=, join with and, or");
    return std::nullopt;
  }
  std::vector<DimValue> values;
  for (const ast::ExprPtr& operand : expr.operands) {
    const auto value = eval_dim(env, *operand);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  const std::vector<std::string_view> operators = ast::chain_operators(expr);
  for (size_t i = 0; i < operators.size(); ++i) {
    const int64_t a = values[i].value;
    const int64_t b = values[i + 1].value;
    const std::string_view op = operators[i];
    const bool holds = op == "<"    ? a < b
                       : op == "<=" ? a <= b
                       : op == ">"  ? a > b
                       : op == ">=" ? a >= b
                       : op == "==" ? a == b
                                    : a != b;
    if (!holds) return 0;
  }
  return 1;
}

void Context::check_require(const Environment& env, const ast::Require& require) {
  const auto holds = eval_condition(env, *require.condition);
  if (!holds || *holds != 0) return;
  std::string values;
  for (const ast::ExprPtr& operand : require.condition->operands) {
    if (operand->kind == ast::ExprKind::Integer || require.condition->kind != ast::ExprKind::Chain)
      continue;
    if (const auto value = eval_dim(env, *operand)) {
      values += (values.empty() ? "" : ", ") + text(*value);
    }
  }
  error(env, DiagnosticKind::RequireFailed, require.condition->span,
        values.empty() ? "the condition does not hold"
                       : fmt::format("the condition does not hold: {}", values),
        "bind dims for which it does");
}

std::optional<ElementType> Context::eval_element(const Environment& env,
                                                 const ast::ElementRef& element) {
  std::optional<ElementType> type = element_type_named(element.name);
  if (!type) {
    const auto at = env.types.find(element.name);
    if (at != env.types.end()) type = at->second;
  }
  if (!type) {
    error(env, DiagnosticKind::UnknownName, element.span,
          fmt::format("no element type is called `{}`", element.name),
          "f64 f32 f16 bf16 f8e4m3 f8e5m2 f4e2m1 i64 i32 i16 i8 i4 u8 bool, or a type parameter",
          {},
          rename(element.name, element.span, nearest_names(element.name, element_type_names())));
    return std::nullopt;
  }
  return element.wide ? wide(*type) : *type;
}

std::optional<TensorShape> Context::eval_type(const Environment& env, const ast::Type& type) {
  TensorShape shape;
  const auto element = eval_element(env, type.element);
  bool ok = element.has_value();
  if (!type.storage.empty()) {
    const StorageFormat* format = storage_named(type.storage);
    if (format == nullptr || (ok && !is_float(*element))) {
      error(env, DiagnosticKind::UnknownStorage, type.span,
            format == nullptr
                ? fmt::format("no storage format is called `{}`", type.storage)
                : fmt::format("`{}` stores floats, found {}", type.storage, name(*element)),
            "nvfp4, mxfp4, mxfp6 and mxfp8 store blocks of floats; leave `as` out otherwise");
      ok = false;
    }
    shape.storage = type.storage;
  }
  if (ok) shape.type = *element;
  for (const ast::ExprPtr& extent : type.extents) {
    if (extent->kind == ast::ExprKind::Pack) {
      const auto at = env.packs.find(extent->text);
      if (at == env.packs.end()) {
        error(env, DiagnosticKind::UnknownName, extent->span,
              fmt::format("no dim pack is called `*{}`", extent->text),
              "a pack is declared by a function: `fn f<*L>(x: f32[*L])`");
        ok = false;
        continue;
      }
      shape.extents.insert(shape.extents.end(), at->second.begin(), at->second.end());
      continue;
    }
    const auto value = eval_extent(env, *extent);
    ok = ok && value.has_value();
    if (value) shape.extents.push_back(*value);
  }
  if (!ok) return std::nullopt;
  return shape;
}

}  // namespace solar::ir

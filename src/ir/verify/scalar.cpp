// Scalar expressions: typing without implicit conversion, literals and dims that adapt to their
// neighbour.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "ir/verify/scalar_literals.h"

namespace solar::ir {
namespace {

constexpr int64_t kMaxSteps = 200'000;

std::optional<ScalarOp> comparison(std::string_view op) {
  if (op == "<") return ScalarOp::Less;
  if (op == "<=") return ScalarOp::LessEqual;
  if (op == ">") return ScalarOp::Greater;
  if (op == ">=") return ScalarOp::GreaterEqual;
  if (op == "==") return ScalarOp::Equal;
  if (op == "!=") return ScalarOp::NotEqual;
  return std::nullopt;
}

}  // namespace

int32_t Nest::linear(Linear value) {
  const auto at = std::find(kernel_.linears.begin(), kernel_.linears.end(), value);
  if (at != kernel_.linears.end()) return static_cast<int32_t>(at - kernel_.linears.begin());
  kernel_.linears.push_back(std::move(value));
  return static_cast<int32_t>(kernel_.linears.size() - 1);
}

int32_t Nest::node(ScalarNode node) {
  kernel_.nodes.push_back(node);
  return static_cast<int32_t>(kernel_.nodes.size() - 1);
}

ElementType Nest::type_of(const Scalar& s) const {
  if (s.node >= 0) return kernel_.nodes[static_cast<size_t>(s.node)].type;
  return s.is_bool ? ElementType::Bool : s.is_float ? ElementType::F32 : ElementType::I64;
}

Scalar Nest::load(int32_t access, ElementType type) {
  return node_scalar(node({.op = ScalarOp::Load, .type = type, .reference = access}));
}

int32_t Nest::materialise(const ast::Expr& at, const Scalar& s, ElementType type) {
  ScalarNode constant;
  constant.type = type;
  if (s.is_bool != (type == ElementType::Bool)) {
    error(DiagnosticKind::TypeMismatch, at.span,
          fmt::format("expected {}, found {}", name(type), s.is_bool ? "a bool" : "a number"));
    return -1;
  }
  if (is_float(type)) {
    constant.constant = s.is_float ? s.number : static_cast<double>(s.integer);
  } else if (s.is_float) {
    if (!std::isinf(s.number)) {
      error(DiagnosticKind::TypeMismatch, at.span,
            fmt::format("a float literal does not adapt to {}", name(type)),
            fmt::format("write an integer, or convert the other operand with f32(...)"));
      return -1;
    }
    // An infinity bounds an integer reduction: the type's largest or smallest value.
    const int bits = storage_bits(type) - (type == ElementType::U8 ? 0 : 1);
    const int64_t largest = bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
    constant.integer = s.number > 0 ? largest : (type == ElementType::U8 ? 0 : -largest - 1);
  } else {
    constant.integer = s.integer;
  }
  return node(constant);
}

int32_t Nest::value(const ast::Expr& expr, ElementType type, const char* what) {
  const auto result = scalar(expr);
  if (!result) return -1;
  if (result->node < 0) return materialise(expr, *result, type);
  const ElementType found = type_of(*result);
  if (found == type) return result->node;
  error(DiagnosticKind::TypeMismatch, expr.span,
        fmt::format("{} is {}, but the tensor is {}", what, name(found), name(type)),
        fmt::format("convert it: `{}(...)`", name(type)), {}, wrap(expr.span, name(type)));
  return -1;
}

std::optional<Scalar> Nest::scalar(const ast::Expr& expr) {
  if (++steps_ > kMaxSteps) {
    if (steps_ == kMaxSteps + 1) {
      error(DiagnosticKind::CountOverflow, source_.assign_span,
            "the kernel's expressions grow too large when its abbreviations are substituted",
            "store an intermediate result in a kernel of its own");
    }
    return std::nullopt;
  }
  if (is_plain_index(expr) && has_loop(expr)) {
    const auto position = index(expr);
    if (!position || !in_range(expr, *position)) return std::nullopt;
    return node_scalar(
        node({.op = ScalarOp::Index, .type = ElementType::I64, .reference = linear(*position)}));
  }
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      return integer_literal(expr.integer);
    case ast::ExprKind::Float:
      return float_literal(expr.number);
    case ast::ExprKind::Bool:
      return bool_literal(expr.integer != 0);
    case ast::ExprKind::Prev:
      if (!prev_allowed_) {
        error(DiagnosticKind::OrderedLoop, expr.span,
              "`prev` stands only in the assignment of a kernel with an ordered loop",
              "mark a loop of the target with `seq` or `revseq`");
        return std::nullopt;
      }
      return node_scalar(node({.op = ScalarOp::Prev, .type = prev_type_}));
    case ast::ExprKind::Name:
      return scalar_name(expr);
    case ast::ExprKind::Read: {
      const auto at = access(expr);
      if (!at) return std::nullopt;
      return load(*at,
                  context_.program.tensor(kernel_.accesses[static_cast<size_t>(*at)].tensor).type);
    }
    case ast::ExprKind::Unary: {
      const auto inner = scalar(*expr.operands[0]);
      if (!inner) return std::nullopt;
      if (expr.text == "not") {
        if (type_of(*inner) != ElementType::Bool) {
          error(DiagnosticKind::TypeMismatch, expr.span, "`not` needs a bool");
          return std::nullopt;
        }
        if (inner->node < 0) return bool_literal(inner->integer == 0);
        return node_scalar(
            node({.op = ScalarOp::Not, .type = ElementType::Bool, .a = inner->node}));
      }
      if (type_of(*inner) == ElementType::Bool) {
        error(DiagnosticKind::TypeMismatch, expr.span, "`-` needs a number, found a bool");
        return std::nullopt;
      }
      if (inner->node < 0) {
        if (inner->is_float) return float_literal(-inner->number);
        return fold(expr, "-", integer_literal(0), *inner);
      }
      return node_scalar(node({.op = ScalarOp::Neg, .type = type_of(*inner), .a = inner->node}));
    }
    case ast::ExprKind::Binary:
      return scalar_binary(expr);
    case ast::ExprKind::Chain:
      return scalar_chain(expr);
    case ast::ExprKind::Call:
      return scalar_call(expr);
    case ast::ExprKind::Pack:  // a subscript only
      break;
  }
  return std::nullopt;
}

std::optional<Scalar> Nest::scalar_name(const ast::Expr& expr) {
  const auto let = lets_.find(expr.text);
  if (let != lets_.end()) {
    if (restricted_ != nullptr) {
      error(DiagnosticKind::UnknownName, expr.span,
            fmt::format("`{}` may not use the abbreviation `{}`", restricted_, expr.text));
      return std::nullopt;
    }
    // One elaboration for all uses in the same select branch, where the same conditions hold.
    const auto key = std::make_pair(expr.text, path_id_);
    const auto known = let_scalars_.find(key);
    if (known != let_scalars_.end()) return known->second;
    const auto result = scalar(*let->second);
    let_scalars_[key] = result;
    return result;
  }
  if (env_.dims.contains(expr.text) || env_.poisoned_dims.contains(expr.text)) {
    const auto value = context_.eval_dim(env_, expr);
    if (!value) return std::nullopt;
    return integer_literal(value->value);
  }
  const auto at = env_.tensors.find(expr.text);
  if (at == env_.tensors.end()) {
    std::vector<std::string> near;
    if (context_.gives_hints()) {
      std::vector<std::string> known;
      for (const auto& [name, index] : loops_) known.push_back(name);
      for (const auto& [name, value] : env_.dims) known.push_back(name);
      for (const auto& [name, binding] : env_.tensors) known.push_back(name);
      near = nearest_names(expr.text, known);
    }
    error(DiagnosticKind::UnknownName, expr.span,
          fmt::format("no loop variable, dim or tensor is called `{}`", expr.text),
          near.empty() ? "define it before this kernel, or write its loop"
                       : fmt::format("did you mean {}?", quoted_choices(near)),
          {}, rename(expr.text, expr.span, near));
    return std::nullopt;
  }
  if (at->second.literal) {
    const Literal& literal = *at->second.literal;
    ScalarNode constant;
    constant.type = literal.type;
    constant.constant = literal.number;
    constant.integer = literal.integer;
    return node_scalar(node(constant));
  }
  if (!at->second.tensor) return std::nullopt;  // reported before
  const auto read = access(expr);
  if (!read) return std::nullopt;
  return load(*read, context_.program.tensor(*at->second.tensor).type);
}

std::optional<Scalar> Nest::fold(const ast::Expr& at, const std::string& op, const Scalar& a,
                                 const Scalar& b) {
  if (a.is_bool || b.is_bool) {
    error(DiagnosticKind::TypeMismatch, at.span,
          fmt::format("`{}` needs numbers, found a bool", op));
    return std::nullopt;
  }
  if (op == "/" || ((a.is_float || b.is_float) && op != "//" && op != "%")) {
    const double x = a.is_float ? a.number : static_cast<double>(a.integer);
    const double y = b.is_float ? b.number : static_cast<double>(b.integer);
    return float_literal(op == "+" ? x + y : op == "-" ? x - y : op == "*" ? x * y : x / y);
  }
  if (a.is_float || b.is_float) {
    error(DiagnosticKind::TypeMismatch, at.span, fmt::format("`{}` needs integers", op),
          "write `/` for a quotient of floats");
    return std::nullopt;
  }
  const auto result =
      op == "+"    ? checked_add(a.integer, b.integer)
      : op == "-"  ? (b.integer == INT64_MIN ? std::nullopt : checked_add(a.integer, -b.integer))
      : op == "*"  ? checked_mul(a.integer, b.integer)
      : op == "//" ? std::optional(floor_div(a.integer, b.integer))
                   : std::optional(floor_mod(a.integer, b.integer));
  if (!result) {
    error(DiagnosticKind::CountOverflow, at.span, fmt::format("`{}` overflows 64 bits", op));
    return std::nullopt;
  }
  return integer_literal(*result);
}

namespace {

/// Of two types the one that holds more: a float before an integer.
ElementType wider(ElementType a, ElementType b) {
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  return storage_bits(b) > storage_bits(a) ? b : a;
}

}  // namespace

Fixes Nest::convert_one(const ast::Expr& at, const Scalar& a, const Scalar& b) const {
  const ElementType type = wider(type_of(a), type_of(b));
  const bool bools = type_of(a) == ElementType::Bool || type_of(b) == ElementType::Bool;
  if (at.operands.size() != 2 || bools) return {};
  return wrap(at.operands[type_of(a) == type ? 1 : 0]->span, name(type));
}

bool Nest::unify(const ast::Expr& at, Scalar& a, Scalar& b) {
  if (a.node < 0 && b.node >= 0) a = node_scalar(materialise(*at.operands[0], a, type_of(b)));
  if (b.node < 0 && a.node >= 0) b = node_scalar(materialise(*at.operands[1], b, type_of(a)));
  if (a.node < 0 || b.node < 0) return false;
  if (type_of(a) == type_of(b)) return true;
  error(DiagnosticKind::TypeMismatch, at.span,
        fmt::format("the operands have different types: {} and {}", name(type_of(a)),
                    name(type_of(b))),
        fmt::format("convert one: `{}(...)`; there is no implicit conversion",
                    name(wider(type_of(a), type_of(b)))),
        {}, convert_one(at, a, b));
  return false;
}

std::optional<Scalar> Nest::binary_node(const ast::Expr& at, ScalarOp op, Scalar a, Scalar b) {
  if (!unify(at, a, b)) return std::nullopt;
  const ElementType operand = type_of(a);
  const ElementType result =
      op >= ScalarOp::Less && op <= ScalarOp::NotEqual ? ElementType::Bool : operand;
  return node_scalar(node({.op = op, .type = result, .a = a.node, .b = b.node}));
}

std::optional<Scalar> Nest::scalar_binary(const ast::Expr& expr) {
  const std::string& op = expr.text;
  auto a = scalar(*expr.operands[0]);
  auto b = scalar(*expr.operands[1]);
  if (!a || !b) return std::nullopt;
  const bool logical = op == "and" || op == "or";
  if (a->node < 0 && b->node < 0 && !logical) return fold(expr, op, *a, *b);
  if (!unify(expr, *a, *b)) return std::nullopt;
  const ElementType type = type_of(*a);
  if (logical != (type == ElementType::Bool)) {
    error(DiagnosticKind::TypeMismatch, expr.span,
          fmt::format("`{}` needs {}, found {}", op, logical ? "bools" : "numbers", name(type)));
    return std::nullopt;
  }
  if (op == "/" && !is_float(type)) {
    error(DiagnosticKind::TypeMismatch, expr.span,
          fmt::format("`/` needs floats, found {}", name(type)),
          "write `//` for the quotient rounded down, or convert: `f32(...) / ...`");
    return std::nullopt;
  }
  if ((op == "//" || op == "%") && !is_integer(type)) {
    error(DiagnosticKind::TypeMismatch, expr.span,
          fmt::format("`{}` needs integers, found {}", op, name(type)),
          "write `/`, or floor(a / b)", {}, op == "//" ? change_operator(expr, "/") : Fixes{});
    return std::nullopt;
  }
  const ScalarOp code = op == "+"     ? ScalarOp::Add
                        : op == "-"   ? ScalarOp::Sub
                        : op == "*"   ? ScalarOp::Mul
                        : op == "/"   ? ScalarOp::Div
                        : op == "//"  ? ScalarOp::FloorDiv
                        : op == "%"   ? ScalarOp::Mod
                        : op == "and" ? ScalarOp::And
                                      : ScalarOp::Or;
  return node_scalar(node({.op = code, .type = type, .a = a->node, .b = b->node}));
}

std::optional<Scalar> Nest::scalar_chain(const ast::Expr& expr) {
  if (is_index_condition(expr) && !reads_tensor(expr) && has_loop(expr)) {
    const auto guards = conditions(expr);
    if (!guards) return std::nullopt;
    return condition_node(*guards);
  }
  std::optional<Scalar> result;
  std::optional<Scalar> left = scalar(*expr.operands[0]);
  const std::vector<std::string_view> operators = ast::chain_operators(expr);
  for (size_t i = 0; i < operators.size(); ++i) {
    std::optional<Scalar> right = scalar(*expr.operands[i + 1]);
    if (!left || !right) return std::nullopt;
    Scalar a = *left;
    Scalar b = *right;
    if (a.node < 0 && b.node < 0) {
      a = node_scalar(materialise(*expr.operands[i], a,
                                  a.is_float || b.is_float ? ElementType::F64 : type_of(a)));
      if (a.node < 0) return std::nullopt;
    }
    ast::Expr pair = expr;  // for the places of the two operands
    pair.operands = {expr.operands[i], expr.operands[i + 1]};
    const auto compared = binary_node(pair, *comparison(operators[i]), a, b);
    if (!compared) return std::nullopt;
    result = result ? node_scalar(node({.op = ScalarOp::And,
                                        .type = ElementType::Bool,
                                        .a = result->node,
                                        .b = compared->node}))
                    : *compared;
    left = right;
  }
  return result;
}

}  // namespace solar::ir

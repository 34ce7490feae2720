// Calls: a function's dims and types are bound by its arguments, its body is inlined.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ir/verify/builtin.h"
#include "ir/verify/context.h"

namespace solar::ir {
namespace {

constexpr size_t kMaxCallDepth = 64;
constexpr int64_t kMaxCalls = 250'000;

class CallBinder {
 public:
  CallBinder(Context& context, Environment& caller, const ast::Call& call,
             const ast::Function& function, Place span)
      : context_(context), caller_(caller), call_(call), function_(function), span_(span) {}

  bool bind(Environment& env) {
    if (call_.arguments.size() != function_.parameters.size()) {
      return bad(call_.function.span,
                 fmt::format("`{}` has {}, found {}", function_.name.text,
                             counted(function_.parameters.size(), "parameter"),
                             counted(call_.arguments.size(), "argument")),
                 signature());
    }
    if (call_.results.size() != function_.results.size()) {
      return bad(call_.function.span,
                 fmt::format("`{}` returns {}, found {}", function_.name.text,
                             counted(function_.results.size(), "tensor"),
                             counted(call_.results.size(), "name")),
                 signature());
    }
    if (!bind_attributes(env)) return false;
    bool ok = true;
    for (size_t i = 0; i < function_.parameters.size(); ++i) ok = resolve(i) && ok;
    if (!ok) return false;
    // Tensors first: they bind types that literals adapt to.
    for (size_t i = 0; i < function_.parameters.size(); ++i) ok = bind_tensor(env, i) && ok;
    if (!ok) return false;
    if (!all_bound(env)) return false;
    for (size_t i = 0; i < function_.parameters.size(); ++i) ok = check_extents(env, i) && ok;
    for (size_t i = 0; i < function_.parameters.size(); ++i) ok = ok && bind_literal(env, i);
    return ok;
  }

 private:
  bool bad(Place span, std::string message, std::string hint = {},
           DiagnosticKind kind = DiagnosticKind::CallArgument) {
    context_.error(caller_, kind, span, std::move(message), std::move(hint));
    return false;
  }

  std::string signature() const {
    std::string out = "fn " + function_.name.text + "<";
    for (size_t i = 0; i < function_.generics.size(); ++i) {
      const ast::Generic& g = function_.generics[i];
      out += (i ? ", " : "") +
             std::string(g.kind == ast::Generic::Kind::Pack   ? "*"
                         : g.kind == ast::Generic::Kind::Type ? "type "
                                                              : "") +
             g.name.text;
    }
    out += ">(";
    for (size_t i = 0; i < function_.parameters.size(); ++i) {
      out += (i ? ", " : "") + function_.parameters[i].name.text;
    }
    out += ") -> (";
    for (size_t i = 0; i < function_.results.size(); ++i)
      out += (i ? ", " : "") + function_.results[i].text;
    return out + ")";
  }

  const ast::Generic* generic(const std::string& name, ast::Generic::Kind kind) const {
    for (const ast::Generic& g : function_.generics) {
      if (g.kind == kind && g.name.text == name) return &g;
    }
    return nullptr;
  }

  bool bind_attributes(Environment& env) {
    for (const ast::Attribute& attribute : call_.attributes) {
      const std::string& name = attribute.name.text;
      if (env.dims.contains(name) || env.types.contains(name)) {
        return bad(attribute.name.span, fmt::format("`{}` is given twice", name), "leave one out",
                   DiagnosticKind::BadDimensionArgument);
      }
      if (generic(name, ast::Generic::Kind::Type) != nullptr) {
        std::optional<ElementType> type;
        if (attribute.value->kind == ast::ExprKind::Name) {
          type = element_type_named(attribute.value->text);
          const auto outer = caller_.types.find(attribute.value->text);
          if (!type && outer != caller_.types.end()) type = outer->second;
        }
        if (!type) {
          return bad(attribute.value->span,
                     fmt::format("`{}` is a type parameter, expected an element type", name),
                     fmt::format("for instance `{} = bf16`", name),
                     DiagnosticKind::BadDimensionArgument);
        }
        env.types[name] = *type;
        continue;
      }
      if (generic(name, ast::Generic::Kind::Dim) == nullptr) {
        std::vector<std::string> known;
        for (const ast::Generic& g : function_.generics) known.push_back(g.name.text);
        const auto near = nearest_names(name, known);
        return bad(attribute.name.span,
                   fmt::format("`{}` has no dim or type called `{}`", function_.name.text, name),
                   near.empty() || name.size() == 1
                       ? signature()
                       : fmt::format("did you mean {}?", quoted_choices(near)),
                   DiagnosticKind::BadDimensionArgument);
      }
      const auto value = attribute.value->kind == ast::ExprKind::Bool
                             ? std::optional(context_.constant(attribute.value->integer))
                             : context_.eval_dim(caller_, *attribute.value);
      if (!value) return false;
      env.dims[name] = *value;
    }
    return true;
  }

  /// An argument: a tensor, or a literal with its sign.
  struct Actual {
    std::optional<TensorId> tensor = {};
    std::optional<Literal> literal = {};
    const ast::Expr* literal_expr = nullptr;
  };

  bool resolve(size_t i) {
    const ast::Expr& expr = *call_.arguments[i].expr;
    Actual actual;
    if (expr.kind == ast::ExprKind::Name) {
      const Binding* binding = context_.find_tensor(caller_, expr.text, expr.span);
      if (binding == nullptr || (!binding->tensor && !binding->literal)) return false;
      actual.tensor = binding->tensor;
      actual.literal = binding->literal;
      actuals_.push_back(actual);
      return true;
    }
    const bool negative = expr.kind == ast::ExprKind::Unary && expr.text == "-";
    const ast::Expr& inner = negative ? *expr.operands[0] : expr;
    if (inner.kind != ast::ExprKind::Integer && inner.kind != ast::ExprKind::Float &&
        inner.kind != ast::ExprKind::Bool) {
      return bad(expr.span, "an argument is a tensor's name or a literal",
                 "compute it in a kernel first");
    }
    actual.literal_expr = &expr;
    actuals_.push_back(actual);
    return true;
  }

  bool bind_element(Environment& env, const ast::ElementRef& element, ElementType found,
                    Place span) {
    if (generic(element.name, ast::Generic::Kind::Type) != nullptr && !element.wide) {
      const auto [at, fresh] = env.types.try_emplace(element.name, found);
      if (at->second == found) return true;
      return bad(span,
                 fmt::format("type `{}` of `{}` is {} here and {} elsewhere", element.name,
                             function_.name.text, name(found), name(at->second)),
                 "convert one of the arguments");
    }
    if (element.wide && generic(element.name, ast::Generic::Kind::Type) != nullptr &&
        !env.types.contains(element.name)) {
      return true;  // checked once the type is bound
    }
    const auto expected = context_.eval_element(env, element);
    if (!expected) return false;
    if (*expected == found) return true;
    return bad(span, fmt::format("expected {}, found {}", name(*expected), name(found)),
               "convert the argument");
  }

  bool bind_tensor(Environment& env, size_t i) {
    if (!actuals_[i].tensor) return true;
    const ast::Type& type = function_.parameters[i].type;
    const Tensor& tensor = context_.program.tensor(*actuals_[i].tensor);
    const std::vector<DimValue>& extents = context_.shapes[ir::index(*actuals_[i].tensor)];
    const Place place = call_.arguments[i].expr->span;
    if (!bind_element(env, type.element, tensor.type, place)) return false;
    size_t packs = 0;
    for (const ast::ExprPtr& e : type.extents) packs += e->kind == ast::ExprKind::Pack ? 1 : 0;
    const size_t fixed = type.extents.size() - packs;
    if (packs > 1 || (packs == 0 ? fixed != extents.size() : fixed > extents.size())) {
      return bad(place,
                 fmt::format("parameter `{}` of `{}` has {}{} axes, found {}",
                             function_.parameters[i].name.text, function_.name.text,
                             packs ? "at least " : "", fixed, extents.size()),
                 signature(), DiagnosticKind::RankMismatch);
    }
    size_t at = 0;
    for (const ast::ExprPtr& extent : type.extents) {
      if (extent->kind == ast::ExprKind::Pack) {
        const std::vector<DimValue> members(
            extents.begin() + static_cast<std::ptrdiff_t>(at),
            extents.begin() + static_cast<std::ptrdiff_t>(at + extents.size() - fixed));
        at += members.size();
        if (!bind_pack(env, extent->text, members, place)) return false;
        continue;
      }
      const DimValue& found = extents[at++];
      const bool name_alone = extent->kind == ast::ExprKind::Name;
      if (name_alone && generic(extent->text, ast::Generic::Kind::Dim) != nullptr &&
          !env.dims.contains(extent->text)) {
        env.dims[extent->text] = found;
      } else {
        pending_.push_back({i, at - 1, extent, found});
      }
    }
    env.tensors[function_.parameters[i].name.text] = {.tensor = actuals_[i].tensor,
                                                      .defined = function_.parameters[i].name.span};
    return true;
  }

  bool bind_pack(Environment& env, const std::string& pack, const std::vector<DimValue>& found,
                 Place place) {
    const auto [at, fresh] = env.packs.try_emplace(pack, found);
    if (fresh) return true;
    bool same = at->second.size() == found.size();
    for (size_t k = 0; same && k < found.size(); ++k)
      same = context_.equal(at->second[k], found[k], place);
    if (same) return true;
    const auto shape = [](const std::vector<DimValue>& extents) {
      std::vector<int64_t> values;
      for (const DimValue& e : extents) values.push_back(e.value);
      return fmt::format("[{}]", fmt::join(values, ", "));
    };
    return bad(place,
               fmt::format("leading axes `*{}` of `{}` are {} here and {} elsewhere", pack,
                           function_.name.text, shape(found), shape(at->second)),
               "broadcast with a view first", DiagnosticKind::ShapeMismatch);
  }

  bool check_extents(Environment& env, size_t i) {
    for (const Pending& p : pending_) {
      if (p.parameter != i) continue;
      const auto expected = context_.eval_dim(env, *p.expr);
      if (!expected) return false;
      const Place place = call_.arguments[i].expr->span;
      if (!context_.equal(*expected, p.found, place)) {
        return bad(place,
                   fmt::format("axis {} of `{}` must be {}, found {}", p.axis,
                               function_.parameters[i].name.text, context_.text(*expected),
                               context_.text(p.found)),
                   signature(), DiagnosticKind::ShapeMismatch);
      }
    }
    if (!actuals_[i].tensor || !function_.parameters[i].type.element.wide) return true;
    const auto expected = context_.eval_element(env, function_.parameters[i].type.element);
    const ElementType found = context_.program.tensor(*actuals_[i].tensor).type;
    if (!expected || *expected == found) return expected.has_value();
    return bad(call_.arguments[i].expr->span,
               fmt::format("expected {}, found {}", name(*expected), name(found)),
               "convert the argument");
  }

  bool bind_literal(Environment& env, size_t i) {
    if (actuals_[i].tensor) return true;
    const ast::Declaration& parameter = function_.parameters[i];
    const ast::Expr& expr = *call_.arguments[i].expr;
    for (const ast::ExprPtr& e : parameter.type.extents) {
      const bool empty_pack = e->kind == ast::ExprKind::Pack && env.packs.contains(e->text) &&
                              env.packs.at(e->text).empty();
      if (!empty_pack) {
        return bad(expr.span,
                   fmt::format("parameter `{}` of `{}` is a tensor, found a literal",
                               parameter.name.text, function_.name.text),
                   signature());
      }
    }
    const ast::ElementRef& element = parameter.type.element;
    const bool is_bool = actuals_[i].literal ? actuals_[i].literal->type == ElementType::Bool
                                             : expr.kind == ast::ExprKind::Bool;
    const auto type = context_.eval_element(env, element);
    if (!type) return false;
    Literal literal;
    if (actuals_[i].literal) {
      literal = *actuals_[i].literal;
    } else {
      const bool negative = expr.kind == ast::ExprKind::Unary;
      const ast::Expr& inner = negative ? *expr.operands[0] : expr;
      literal.integer = negative ? -inner.integer : inner.integer;
      literal.number = inner.kind == ast::ExprKind::Float
                           ? (negative ? -inner.number : inner.number)
                           : static_cast<double>(literal.integer);
      if (inner.kind == ast::ExprKind::Float && is_integer(*type) && std::isfinite(inner.number)) {
        return bad(expr.span, fmt::format("a float literal does not adapt to {}", name(*type)), "",
                   DiagnosticKind::TypeMismatch);
      }
    }
    if (is_bool != (*type == ElementType::Bool)) {
      return bad(expr.span,
                 fmt::format("expected {}, found a {}", name(*type), is_bool ? "bool" : "number"),
                 "", DiagnosticKind::TypeMismatch);
    }
    literal.type = *type;
    env.tensors[parameter.name.text] = {.literal = literal, .defined = parameter.name.span};
    return true;
  }

  bool all_bound(const Environment& env) {
    for (const ast::Generic& g : function_.generics) {
      const bool bound = g.kind == ast::Generic::Kind::Dim    ? env.dims.contains(g.name.text)
                         : g.kind == ast::Generic::Kind::Type ? env.types.contains(g.name.text)
                                                              : env.packs.contains(g.name.text);
      if (!bound) {
        return bad(call_.function.span,
                   fmt::format("`{}` of `{}` cannot be inferred from the arguments", g.name.text,
                               function_.name.text),
                   fmt::format("pass it after a semicolon: `; {} = ...`", g.name.text),
                   DiagnosticKind::BadDimensionArgument);
      }
    }
    return true;
  }

  struct Pending {
    size_t parameter;
    size_t axis;
    ast::ExprPtr expr;
    DimValue found;
  };

  Context& context_;
  Environment& caller_;
  const ast::Call& call_;
  const ast::Function& function_;
  Place span_;
  std::vector<Actual> actuals_;
  std::vector<Pending> pending_;
};

}  // namespace

void Context::elaborate_call(Environment& env, const ast::Call& call, Place span) {
  const auto give_up = [&] {
    for (const ast::Name& result : call.results) poison(env, result);
  };
  const auto found = functions.find(call.function.text);
  if (found == functions.end()) {
    if (elaborate_builtin(env, call, span)) return;
    std::vector<std::string> known = builtin_names();
    for (const auto& [name, function] : functions) known.push_back(name);
    const auto near = nearest_names(call.function.text, known);
    error(env, DiagnosticKind::UnknownName, call.function.span,
          fmt::format("no function is called `{}`", call.function.text),
          near.empty() ? "a function is one of the file, of the prelude, or built in"
                       : fmt::format("did you mean {}?", quoted_choices(near)),
          {}, rename(call.function.text, call.function.span, near));
    return give_up();
  }
  const ast::Function& function = *found->second;
  if (wrong_signatures.contains(&function)) return give_up();
  if (std::find(call_stack.begin(), call_stack.end(), &function) != call_stack.end()) {
    error(env, DiagnosticKind::Recursion, call.function.span,
          fmt::format("`{}` calls itself", call.function.text),
          "write the repetition as loops of a kernel");
    return give_up();
  }
  if (call_stack.size() >= kMaxCallDepth || ++inlined > kMaxCalls) {
    if (inlined <= kMaxCalls + 1) {
      error(env, DiagnosticKind::CountOverflow, call.function.span,
            call_stack.size() >= kMaxCallDepth
                ? fmt::format("calls nest more than {} deep", kMaxCallDepth)
                : fmt::format("the program makes more than {} calls once functions are inlined",
                              kMaxCalls),
            "inline the innermost functions by hand, or split the program");
    }
    return give_up();
  }
  Environment inner;
  inner.caller = &env;
  inner.call_site = span;
  inner.call_chain =
      env.call_chain.empty() ? call.function.text : env.call_chain + "." + call.function.text;
  inner.module = call.module ? module_path(env, *call.module) : env.module;
  if (!CallBinder(*this, env, call, function, span).bind(inner)) return give_up();
  inner.prefix = full_name(env, call.results.front().text) + ".";
  for (size_t i = 0; i < call.results.size(); ++i) {
    inner.renamed[function.results[i].text] = full_name(env, call.results[i].text);
  }
  const size_t before = errors.size();
  call_stack.push_back(&function);
  elaborate_block(inner, function.block);
  call_stack.pop_back();
  for (size_t i = 0; i < call.results.size(); ++i) {
    const ast::Name& result = call.results[i];
    const auto value = inner.tensors.find(function.results[i].text);
    if (value == inner.tensors.end() && errors.size() == before) {
      error(inner, DiagnosticKind::OutputMissing, function.results[i].span,
            fmt::format("`{}` never defines its output `{}`", function.name.text,
                        function.results[i].text),
            "a result is the name of a tensor that the body defines");
    }
    if (value != inner.tensors.end() && value->second.literal) {
      error(inner, DiagnosticKind::OutputMissing, function.results[i].span,
            fmt::format("the output `{}` of `{}` is a literal in this call",
                        function.results[i].text, function.name.text),
            "store it in a kernel: `kernel y: f32[] { y[] = e }`");
      poison(env, result);
      continue;
    }
    if (env.tensors.contains(result.text) || env.dims.contains(result.text)) {
      name_is_free(env, result);
    } else if (value == inner.tensors.end()) {
      poison(env, result);
    } else {
      Binding bound = value->second;
      bound.defined = result.span;
      bind(env, result.text, std::move(bound));
    }
  }
}

}  // namespace solar::ir

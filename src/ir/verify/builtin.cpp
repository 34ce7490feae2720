#include "ir/verify/builtin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace solar::ir {
namespace {

struct Builtin {
  std::string_view name;
  bool (*elaborate)(const BuiltinCall&);
};

constexpr std::array kBuiltins = {
    Builtin{"argsort", elaborate_argsort}, Builtin{"concat", elaborate_concat},
    Builtin{"nonzero", elaborate_nonzero}, Builtin{"sort", elaborate_sort},
    Builtin{"split", elaborate_split},     Builtin{"stack", elaborate_stack},
    Builtin{"topk", elaborate_topk},       Builtin{"unbind", elaborate_unbind},
    Builtin{"unique", elaborate_unique},
};

}  // namespace

bool BuiltinCall::has_form(const Form& form, const char* message, const char* example) const {
  const auto known = [&](const std::string& name) {
    return std::find(form.required.begin(), form.required.end(), name) != form.required.end() ||
           std::find(form.optional.begin(), form.optional.end(), name) != form.optional.end();
  };
  const auto fits = [](size_t expected, size_t found) {
    return expected == 0 ? found > 0 : found == expected;
  };
  bool ok = fits(form.arguments, call.arguments.size()) && fits(form.results, call.results.size());
  for (size_t i = 0; i < call.attributes.size(); ++i) {
    const std::string& name = call.attributes[i].name.text;
    ok = ok && known(name) && attribute(name) == &call.attributes[i];
  }
  for (const std::string_view name : form.required) ok = ok && attribute(name) != nullptr;
  if (!ok) {
    context.error(env, DiagnosticKind::CallArgument, call.function.span, message, example);
  }
  return ok;
}

std::optional<TensorId> BuiltinCall::tensor(size_t argument) const {
  const ast::Expr& expr = *call.arguments[argument].expr;
  if (expr.kind != ast::ExprKind::Name) {
    context.error(env, DiagnosticKind::CallArgument, expr.span,
                  fmt::format("`{}` takes tensors by name", call.function.text),
                  "compute it in a kernel first");
    return std::nullopt;
  }
  const Binding* binding = context.find_tensor(env, expr.text, expr.span);
  if (binding != nullptr && binding->literal) {
    context.error(env, DiagnosticKind::CallArgument, expr.span,
                  fmt::format("`{}` is a scalar literal, it has no axes", expr.text),
                  "store it in a kernel first");
  }
  return binding != nullptr ? binding->tensor : std::nullopt;
}

/// The first attribute of that name.
const ast::Attribute* BuiltinCall::attribute(std::string_view name) const {
  for (const ast::Attribute& attribute : call.attributes) {
    if (attribute.name.text == name) return &attribute;
  }
  return nullptr;
}

std::optional<DimValue> BuiltinCall::dim(std::string_view name) const {
  return context.eval_dim(env, *attribute(name)->value);
}

std::optional<bool> BuiltinCall::flag(std::string_view name, bool fallback) const {
  const ast::Attribute* found = attribute(name);
  if (found == nullptr) return fallback;
  if (found->value->kind == ast::ExprKind::Bool) return found->value->integer != 0;
  context.error(env, DiagnosticKind::BadDimensionArgument, found->value->span,
                fmt::format("`{}` is true or false", name), fmt::format("`{} = true`", name));
  return std::nullopt;
}

std::optional<size_t> BuiltinCall::axis(size_t rank, const std::string& of) const {
  const auto value = dim("axis");
  if (!value) return std::nullopt;
  if (value->value >= 0 && value->value < static_cast<int64_t>(rank)) {
    return static_cast<size_t>(value->value);
  }
  const int64_t from_end = value->value < 0 ? value->value + static_cast<int64_t>(rank) : -1;
  context.error(env, DiagnosticKind::BadDimensionArgument, attribute("axis")->value->span,
                fmt::format("there is no axis {}: {}", value->value, of),
                "axes count from 0; there are no negative ones", {},
                from_end < 0
                    ? Fixes{}
                    : replace(attribute("axis")->value->span, fmt::format("{}", from_end)));
  return std::nullopt;
}

bool Context::elaborate_builtin(Environment& env, const ast::Call& call, Place span) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.name != call.function.text) continue;
    if (!builtin.elaborate(BuiltinCall(*this, env, call, span))) {
      for (const ast::Name& result : call.results) poison(env, result);
    }
    return true;
  }
  return false;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (const Builtin& builtin : kBuiltins) names.emplace_back(builtin.name);
  return names;
}

}  // namespace solar::ir

// Operators without a body: holes and opaque ones.

#include <fmt/format.h>

#include "ir/verify/context.h"

namespace solar::ir {
namespace {

/// A declared cost; nothing where none is declared or it is wrong.
std::optional<int64_t> cost(Context& context, Environment& env, const ast::ExprPtr& expr,
                            const char* what) {
  if (!expr) return std::nullopt;
  const auto value = context.eval_dim(env, *expr);
  if (!value) return std::nullopt;
  if (value->value < 0) {
    context.error(env, DiagnosticKind::BadExtent, expr->span,
                  fmt::format("`{}` is {}, it must not be negative", what, value->value),
                  "leave it out");
    return std::nullopt;
  }
  return value->value;
}

}  // namespace

void Context::elaborate_opaque(Environment& env, const ast::Opaque& opaque, Place span) {
  const size_t before = errors.size();
  Opaque made;
  made.op = opaque.op;
  made.hole = opaque.hole;
  bool ok = !opaque.outputs.empty();
  if (!ok) {
    error(env, DiagnosticKind::OutputMissing, span,
          fmt::format("`{}` defines no tensor", opaque.op), "declare one: `hole y: f32[N] = ...`");
  }
  for (const ast::Name& input : opaque.inputs) {
    const Binding* binding = find_tensor(env, input.text, input.span);
    ok = ok && binding != nullptr && (binding->tensor || binding->literal);
    if (binding != nullptr && binding->tensor) made.inputs.push_back(*binding->tensor);
  }
  made.macs = cost(*this, env, opaque.macs, "macs");
  made.nominal = cost(*this, env, opaque.nominal, "nominal");
  made.reads = cost(*this, env, opaque.reads, "reads");
  made.writes = cost(*this, env, opaque.writes, "writes");
  for (const ast::Declaration& output : opaque.outputs) {
    const auto shape = eval_type(env, output.type);
    const auto id = shape ? define_tensor(env, output.name, *shape) : std::nullopt;
    if (!id) {
      poison(env, output.name);
      ok = false;
    } else {
      made.outputs.push_back(*id);
    }
  }
  if (!ok || errors.size() != before) return;
  Statement statement;
  statement.body = std::move(made);
  add_statement(env, std::move(statement), span);
}

}  // namespace solar::ir

#include "ir/verify/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/lexer.h"

namespace solar::ir {
namespace {

constexpr size_t kMaxErrors = 100;
constexpr size_t kMaxMessage = 1000;  // names may be long

bool same_place(const Diagnostic& a, const Diagnostic& b) {
  return a.kind == b.kind && a.span.source == b.span.source && a.span.begin == b.span.begin &&
         a.message == b.message;
}

}  // namespace

void Context::error(const Environment& env, DiagnosticKind kind, Place span, std::string message,
                    std::string hint, std::vector<Label> labels, Fixes fixes) {
  for (const Environment* at = &env; at->caller != nullptr; at = at->caller) {
    labels.push_back({at->call_site, "in this call"});
  }
  if (message.size() > kMaxMessage) message = message.substr(0, kMaxMessage) + "...";
  if (hint.size() > kMaxMessage) hint = hint.substr(0, kMaxMessage) + "...";
  Diagnostic diagnostic = {.kind = kind,
                           .message = std::move(message),
                           .span = span,
                           .hint = std::move(hint),
                           .labels = std::move(labels),
                           .fixes = std::move(fixes)};
  const bool known = std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& other) {
    return same_place(other, diagnostic);
  });
  if (known) return;
  if (errors.size() < kMaxErrors) {
    errors.push_back(std::move(diagnostic));
  } else {
    ++hidden_errors;
  }
}

bool Context::equal(const DimValue& a, const DimValue& b, Place span) {
  if (a.value != b.value) return false;
  if (!(a.expr == b.expr)) equations.push_back({a.expr, b.expr, span});
  return true;
}

std::string Context::text(const DimValue& value) const {
  if (value.expr.is_constant()) return fmt::format("{}", value.value);
  return fmt::format("{} = {}", table.text(value.expr), value.value);
}

bool Context::name_is_free(const Environment& env, const ast::Name& name) {
  const auto at = env.tensors.find(name.text);
  if (at == env.tensors.end() && !env.dims.contains(name.text) &&
      !env.poisoned_dims.contains(name.text)) {
    return true;
  }
  std::vector<Label> labels;
  if (at != env.tensors.end() && at->second.defined.source) {
    labels.push_back({at->second.defined, "defined here first"});
  }
  error(env, DiagnosticKind::DuplicateName, name.span,
        fmt::format("`{}` is already defined", name.text), "a name is defined once; choose another",
        std::move(labels));
  return false;
}

std::optional<TensorId> Context::define_tensor(Environment& env, const ast::Name& name,
                                               TensorShape shape, Role role) {
  if (!name_is_free(env, name)) return std::nullopt;
  std::optional<int64_t> count = 1;
  for (const DimValue& extent : shape.extents) {
    if (count) count = checked_mul(*count, extent.value);
  }
  // 2^58 elements of 8 bytes still have a byte count that fits.
  if (!count || *count > (int64_t{1} << 58)) {
    std::vector<int64_t> values;
    for (const DimValue& extent : shape.extents) values.push_back(extent.value);
    error(env, DiagnosticKind::CountOverflow, name.span,
          fmt::format("`{}` has more than 2^58 elements: [{}]", full_name(env, name.text),
                      fmt::join(values, ", ")),
          "bind smaller dims");
    poison(env, name);
    return std::nullopt;
  }
  const TensorId id = add_tensor(full_name(env, name.text), std::move(shape), name.span);
  program.tensors.back().role = role;
  bind(env, name.text, {.tensor = id, .defined = name.span});
  return id;
}

void Context::poison(Environment& env, const ast::Name& name) {
  if (!env.tensors.contains(name.text)) bind(env, name.text, {.defined = name.span});
}

void Context::bind(Environment& env, const std::string& name, Binding binding) {
  env.tensors[name] = std::move(binding);
  if (env.open_bodies > 0) env.body_names.push_back(name);
}

std::string Context::full_name(const Environment& env, const std::string& name) const {
  const auto renamed = env.renamed.find(name);
  // A name of an inner body that equals a result is another tensor.
  return renamed != env.renamed.end() && env.open_bodies == 0 ? renamed->second : env.prefix + name;
}

TensorId Context::add_tensor(std::string name, TensorShape shape, Place span) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = shape.type;
  tensor.storage = std::move(shape.storage);
  tensor.span = span;
  tensor.shape.reserve(shape.extents.size());
  tensor.extents.reserve(shape.extents.size());
  for (const DimValue& extent : shape.extents) {
    tensor.shape.push_back(extent.value);
    tensor.extents.push_back(table.text(extent.expr));
  }
  const auto id = static_cast<TensorId>(program.tensors.size());
  program.tensors.push_back(std::move(tensor));
  shapes.push_back(std::move(shape.extents));
  return id;
}

TensorId Context::define_literal(Environment& env, std::string name, const Literal& literal,
                                 Place span) {
  const TensorId id = add_tensor(std::move(name), {literal.type, {}}, span);
  Kernel kernel;
  kernel.output = id;
  kernel.value = 0;
  ScalarNode constant;
  constant.type = literal.type;
  constant.constant = literal.number;
  constant.integer = literal.integer;
  kernel.nodes.push_back(constant);
  Statement statement;
  statement.body = std::move(kernel);
  add_statement(env, std::move(statement), span);
  return id;
}

const Binding* Context::find_tensor(const Environment& env, const std::string& name, Place span) {
  const auto at = env.tensors.find(name);
  if (at != env.tensors.end()) return &at->second;
  std::vector<std::string> near;
  if (gives_hints()) {
    std::vector<std::string> known;
    for (const auto& [candidate, binding] : env.tensors) known.push_back(candidate);
    std::sort(known.begin(), known.end());
    near = nearest_names(name, known);
  }
  std::string hint;
  if (env.dims.contains(name)) {
    hint = fmt::format("`{}` is a dim, not a tensor", name);
  } else if (!near.empty()) {
    hint = fmt::format("did you mean {}?", quoted_choices(near));
  } else {
    hint = "a tensor is defined before it is used";
  }
  error(env, DiagnosticKind::UnknownName, span, fmt::format("no tensor is called `{}`", name),
        std::move(hint), {}, env.dims.contains(name) ? Fixes{} : rename(name, span, near));
  return nullptr;
}

void Context::add_statement(const Environment& env, Statement statement, Place span) {
  statement.group = group;
  statement.call = env.call_chain;
  statement.span = span;
  program.statements.push_back(std::move(statement));
}

}  // namespace solar::ir

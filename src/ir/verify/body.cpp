#include "ir/verify/body.h"

#include <fmt/format.h>

#include <cmath>

namespace solar::ir {
namespace {

std::string described(const Context& context, TensorId id) {
  const Tensor& tensor = context.program.tensor(id);
  return fmt::format("{}[{}]", name(tensor.type), fmt::join(tensor.shape, ", "));
}

/// The type that a statement of the block, or of a group in it, declares for a name.
const ast::Type* declared_type(const ast::Block& block, const std::string& name) {
  const auto among = [&](const std::vector<ast::Declaration>& outputs) -> const ast::Type* {
    for (const ast::Declaration& output : outputs) {
      if (output.name.text == name) return &output.type;
    }
    return nullptr;
  };
  for (const ast::Statement& statement : block.statements) {
    const ast::Type* type = nullptr;
    if (const auto* kernel = std::get_if<ast::Kernel>(&statement.body)) {
      type = among(kernel->outputs);
    } else if (const auto* opaque = std::get_if<ast::Opaque>(&statement.body)) {
      type = among(opaque->outputs);
    } else if (const auto* op = std::get_if<ast::Op>(&statement.body)) {
      type = declared_type(op->block, name);
    }
    if (type != nullptr) return type;
  }
  return nullptr;
}

const ast::Next* last_next(const ast::Block& block) {
  return block.statements.empty() ? nullptr : std::get_if<ast::Next>(&block.statements.back().body);
}

}  // namespace

BodyScope::BodyScope(Context& context, Environment& env, const std::string& prefix)
    : context_(context),
      env_(env),
      names_before_(env.body_names.size()),
      outer_prefix_(std::exchange(env.prefix, prefix)),
      outer_statements_(std::exchange(context.program.statements, {})) {
  ++env.open_bodies;
}

BodyScope::~BodyScope() {
  --env_.open_bodies;
  for (size_t i = names_before_; i < env_.body_names.size(); ++i) {
    env_.tensors.erase(env_.body_names[i]);
  }
  env_.body_names.resize(names_before_);
  env_.prefix = std::move(outer_prefix_);
  context_.program.statements = std::move(outer_statements_);
}

const ast::Next* BodyScope::next_of(const ast::Block& block, const ast::Name& owner,
                                    const char* what) {
  const ast::Next* next = last_next(block);
  if (next == nullptr) {
    context_.error(env_, DiagnosticKind::LoopForm, owner.span,
                   fmt::format("the {} of `{}` does not end with `next`", what, owner.text),
                   "`next` gives the values that leave the body: `next h2` or `next (h2, c2)`");
  }
  return next;
}

std::optional<std::vector<TensorId>> BodyScope::leaving(const std::vector<ast::Name>& names,
                                                        const std::vector<ast::Name>& results,
                                                        Place place, const char* word) {
  if (names.size() != results.size()) {
    context_.error(env_, DiagnosticKind::LoopForm, place,
                   fmt::format("`{}` gives {} value{}, but {} name{} stand{} before the `=`", word,
                               names.size(), names.size() == 1 ? "" : "s", results.size(),
                               results.size() == 1 ? "" : "s", results.size() == 1 ? "s" : ""),
                   "one value for each name, in the same order");
    return std::nullopt;
  }
  std::vector<TensorId> tensors;
  bool ok = true;
  for (const ast::Name& name : names) {
    const Binding* binding = context_.find_tensor(env_, name.text, name.span);
    if (binding != nullptr && binding->literal) {
      // Several names may leave with the same literal.
      tensors.push_back(context_.define_literal(
          env_, fmt::format("{}{}.{}.{}", env_.prefix, word, name.text, tensors.size()),
          *binding->literal, name.span));
    } else if (binding != nullptr && binding->tensor) {
      tensors.push_back(*binding->tensor);
    } else {
      ok = false;
    }
  }
  if (!ok) return std::nullopt;
  return tensors;
}

void CarriedValues::start(const ast::Block& block) {
  if (results_.size() != initials_.size()) {
    const Place place = !initials_.empty()  ? initials_.front().name.span
                        : !results_.empty() ? results_.front().span
                                            : Place{};
    context_.error(
        env_, DiagnosticKind::LoopForm, place,
        fmt::format("{} value{} carried, but {} name{} stand{} before the `=`", initials_.size(),
                    initials_.size() == 1 ? " is" : "s are", results_.size(),
                    results_.size() == 1 ? "" : "s", results_.size() == 1 ? "s" : ""),
        "the loop gives the last of each value of `with`, in the same order");
  }
  const ast::Next* next = last_next(block);
  for (size_t i = 0; i < initials_.size(); ++i) {
    const ast::Expr& expr = *initials_[i].value;
    if (expr.kind == ast::ExprKind::Name) {
      const Binding* binding = context_.find_tensor(env_, expr.text, expr.span);
      if (binding != nullptr && binding->literal) {
        starts_.push_back(context_.define_literal(
            env_, prefix_ + initials_[i].name.text + ".initial", *binding->literal, expr.span));
      } else {
        starts_.push_back(binding != nullptr ? binding->tensor : std::nullopt);
      }
      continue;
    }
    const ast::Type* type = next != nullptr && i < next->values.size()
                                ? declared_type(block, next->values[i].text)
                                : nullptr;
    starts_.push_back(literal_tensor(expr, initials_[i].name, type));
  }
}

std::optional<TensorId> CarriedValues::literal_tensor(const ast::Expr& expr, const ast::Name& name,
                                                      const ast::Type* type) {
  const bool negative = expr.kind == ast::ExprKind::Unary && expr.text == "-";
  const ast::Expr& inner = negative ? *expr.operands[0] : expr;
  const bool is_bool = inner.kind == ast::ExprKind::Bool;
  const bool is_number = inner.kind == ast::ExprKind::Float;
  if ((inner.kind != ast::ExprKind::Integer && !is_bool && !is_number) || (is_bool && negative)) {
    context_.error(env_, DiagnosticKind::CallArgument, expr.span,
                   "a carried value starts with a tensor or a literal",
                   "compute it in a kernel first");
    return std::nullopt;
  }
  Literal literal;
  literal.type = is_bool ? ElementType::Bool : is_number ? ElementType::F32 : ElementType::I64;
  if (type != nullptr) {
    const auto element = context_.eval_element(env_, type->element);
    if (!element) return std::nullopt;
    literal.type = *element;
  }
  if (is_bool != (literal.type == ElementType::Bool) || (is_number && !is_float(literal.type))) {
    context_.error(env_, DiagnosticKind::TypeMismatch, expr.span,
                   fmt::format("`{}` starts with a {} literal, but its next value is {}", name.text,
                               is_bool     ? "bool"
                               : is_number ? "float"
                                           : "integer",
                               ir::name(literal.type)),
                   "write the literal in that type");
    return std::nullopt;
  }
  literal.integer = negative ? -inner.integer : inner.integer;
  const double number = is_number ? inner.number : static_cast<double>(inner.integer);
  literal.number = negative ? -number : number;
  return context_.define_literal(env_, prefix_ + name.text + ".initial", literal, expr.span);
}

void CarriedValues::enter() {
  for (size_t i = 0; i < initials_.size(); ++i) {
    insides_.emplace_back();
    if (!starts_[i]) {
      context_.poison(env_, initials_[i].name);
      continue;
    }
    TensorShape shape = {context_.program.tensor(*starts_[i]).type,
                         context_.shapes[ir::index(*starts_[i])]};
    insides_.back() = context_.define_tensor(env_, initials_[i].name, std::move(shape));
  }
}

void CarriedValues::next(BodyScope& body, const ast::Next& next) {
  const Place place = !next.values.empty() ? next.values.front().span
                      : !results_.empty()  ? results_.front().span
                                           : Place{};
  const auto values = body.leaving(next.values, results_, place, "next");
  if (!values) return;
  for (size_t i = 0; i < values->size() && i < insides_.size(); ++i) {
    if (!insides_[i] || !starts_[i]) continue;
    const TensorId inside = *insides_[i];
    const TensorId value = (*values)[i];
    const std::vector<DimValue> a = context_.shapes[ir::index(inside)];
    const std::vector<DimValue> b = context_.shapes[ir::index(value)];
    bool same = a.size() == b.size() &&
                context_.program.tensor(inside).type == context_.program.tensor(value).type;
    for (size_t k = 0; same && k < a.size(); ++k) {
      same = context_.equal(a[k], b[k], next.values[i].span);
    }
    if (!same) {
      context_.error(
          env_, DiagnosticKind::CarriedMismatch, next.values[i].span,
          fmt::format("`{}` starts as {}, but its next value `{}` is {}", initials_[i].name.text,
                      described(context_, inside), next.values[i].text, described(context_, value)),
          "a carried value keeps its type and shape from step to step",
          {{initials_[i].name.span, "carried from here"}});
      continue;
    }
    carried.push_back({inside, *starts_[i], value, {}});
  }
}

void CarriedValues::finish() {
  for (size_t i = 0; i < carried.size(); ++i) {
    TensorShape shape = {context_.program.tensor(carried[i].inside).type,
                         context_.shapes[ir::index(carried[i].inside)]};
    const auto id = context_.define_tensor(env_, results_[i], std::move(shape));
    if (id) carried[i].result = *id;
  }
}

std::optional<TensorId> condition_tensor(Context& context, Environment& env, const ast::Name& name,
                                         const char* what) {
  const Binding* binding = context.find_tensor(env, name.text, name.span);
  if (binding == nullptr || (!binding->tensor && !binding->literal)) return std::nullopt;
  const ElementType type =
      binding->literal ? binding->literal->type : context.program.tensor(*binding->tensor).type;
  const size_t rank = binding->literal ? 0 : context.program.tensor(*binding->tensor).shape.size();
  if (type != ElementType::Bool || rank != 0) {
    context.error(env, DiagnosticKind::TypeMismatch, name.span,
                  fmt::format("{} must be a bool[] tensor, `{}` is {}", what, name.text,
                              binding->literal ? std::string(ir::name(type))
                                               : described(context, *binding->tensor)),
                  "compute it in a kernel: `kernel go: bool[] { go[] = x > 0 }`");
    return std::nullopt;
  }
  if (binding->tensor) return binding->tensor;
  return context.define_literal(
      env, fmt::format("{}{}.literal.{}", env.prefix, name.text, context.program.tensors.size()),
      *binding->literal, name.span);
}

}  // namespace solar::ir

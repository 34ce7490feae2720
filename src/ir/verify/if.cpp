// `if`: one of two branches runs; both give the same types and shapes.

#include <fmt/format.h>

#include "ir/verify/body.h"

namespace solar::ir {
namespace {

class IfChecker {
 public:
  IfChecker(Context& context, Environment& env, const ast::If& source, Place span)
      : context_(context), env_(env), source_(source), span_(span) {}

  void run() {
    const size_t before = context_.errors.size();
    const auto condition = condition_tensor(context_, env_, source_.condition, "the condition");
    if (condition) if_.condition = *condition;
    const ast::Name& owner = source_.results.front();
    const std::string name = context_.full_name(env_, owner.text);
    if_.control = static_cast<int32_t>(context_.program.controls.size());
    context_.program.controls.push_back({Control::Kind::If, name, owner.span});
    const auto taken = branch(source_.taken, owner, name + ".if.");
    const auto otherwise = branch(source_.otherwise, owner, name + ".else.");
    if (taken && otherwise) match(*taken, *otherwise);
    if (context_.errors.size() != before || !taken || !otherwise) {
      for (const ast::Name& result : source_.results) context_.poison(env_, result);
      return;
    }
    if_.taken = {std::move(taken->body), taken->values};
    if_.otherwise = {std::move(otherwise->body), otherwise->values};
    for (size_t i = 0; i < source_.results.size(); ++i) {
      const TensorId value = if_.taken.values[i];
      const auto id = context_.define_tensor(
          env_, source_.results[i],
          {context_.program.tensor(value).type, context_.shapes[ir::index(value)]});
      if (!id) return;
      if_.results.push_back(*id);
    }
    Statement statement;
    statement.body = std::move(if_);
    context_.add_statement(env_, std::move(statement), span_);
  }

 private:
  struct Made {
    std::vector<Statement> body;
    std::vector<TensorId> values;
    const ast::Next* next;
  };

  std::optional<Made> branch(const ast::Block& block, const ast::Name& owner,
                             const std::string& prefix) {
    BodyScope body(context_, env_, prefix);
    const ast::Next* next = body.next_of(block, owner, "branch");
    for (const ast::Statement& statement : block.statements) {
      if (next != nullptr && &statement == &block.statements.back()) break;
      context_.elaborate_statement(env_, statement);
    }
    if (next == nullptr) return std::nullopt;
    if (!next->stacked.empty()) {
      context_.error(env_, DiagnosticKind::LoopForm, next->stacked.front().span,
                     "a branch stacks nothing", "leave `stack` out; it belongs to `repeat`");
      return std::nullopt;
    }
    const Place place = next->values.empty() ? owner.span : next->values.front().span;
    auto values = body.leaving(next->values, source_.results, place, "next");
    if (!values) return std::nullopt;
    return Made{body.take_statements(), std::move(*values), next};
  }

  void match(const Made& taken, const Made& otherwise) {
    for (size_t i = 0; i < source_.results.size(); ++i) {
      const Tensor& a = context_.program.tensor(taken.values[i]);
      const Tensor& b = context_.program.tensor(otherwise.values[i]);
      Place place = otherwise.next->values[i].span;
      if (a.type != b.type) {
        context_.error(env_, DiagnosticKind::TypeMismatch, place,
                       fmt::format("`{}` is {} in this branch and {} in the other",
                                   source_.results[i].text, name(b.type), name(a.type)),
                       "both branches give the same type; convert in a kernel");
        continue;
      }
      const std::vector<DimValue> x = context_.shapes[ir::index(taken.values[i])];
      const std::vector<DimValue> y = context_.shapes[ir::index(otherwise.values[i])];
      bool same = x.size() == y.size();
      for (size_t k = 0; same && k < x.size(); ++k) same = context_.equal(x[k], y[k], place);
      if (same) continue;
      context_.error(
          env_, DiagnosticKind::ShapeMismatch, place,
          fmt::format("`{}` is [{}] in this branch and [{}] in the other", source_.results[i].text,
                      fmt::join(b.shape, ", "), fmt::join(a.shape, ", ")),
          "both branches give the same shape");
    }
  }

  Context& context_;
  Environment& env_;
  const ast::If& source_;
  Place span_;
  If if_;
};

}  // namespace

void Context::elaborate_if(Environment& env, const ast::If& branches, Place span) {
  IfChecker(*this, env, branches, span).run();
}

}  // namespace solar::ir

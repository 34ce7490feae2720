// `repeat`: the body runs once for every value of the step variable.

#include <fmt/format.h>

#include "ir/verify/body.h"

namespace solar::ir {
namespace {

class RepeatChecker {
 public:
  RepeatChecker(Context& context, Environment& env, const ast::Repeat& source, Place span)
      : context_(context), env_(env), source_(source), span_(span) {}

  void run() {
    const size_t before = context_.errors.size();
    const auto extent = context_.eval_extent(env_, *source_.extent);
    if (source_.results.empty() && source_.stacked.empty()) {
      error(source_.step.span, "the repeat gives no result", "name one: `let y = repeat ...`");
    }
    if (!extent || !step_is_free() || context_.errors.size() != before) return poison();
    extent_ = *extent;
    const ast::Name& owner =
        source_.results.empty() ? source_.stacked.front() : source_.results.front();
    const std::string prefix = context_.full_name(env_, owner.text) + ".";
    CarriedValues values(context_, env_, source_.results, source_.carried, prefix);
    values.start(source_.block);
    elaborate_body(values, owner, prefix);
    if (context_.errors.size() != before) return poison();
    values.finish();
    repeat_.carried = std::move(values.carried);
    define_stacked();
    if (context_.errors.size() != before) return;
    Statement statement;
    statement.body = std::move(repeat_);
    context_.add_statement(env_, std::move(statement), span_);
  }

 private:
  void error(Place span, std::string message, std::string hint) {
    context_.error(env_, DiagnosticKind::LoopForm, span, std::move(message), std::move(hint));
  }

  void poison() {
    for (const ast::Name& name : source_.results) context_.poison(env_, name);
    for (const ast::Name& name : source_.stacked) context_.poison(env_, name);
  }

  bool step_is_free() {
    const std::string& name = source_.step.text;
    if (!env_.dims.contains(name) && !env_.steps.contains(name)) return true;
    context_.error(
        env_, DiagnosticKind::DuplicateName, source_.step.span,
        fmt::format("`{}` is already {}", name,
                    env_.dims.contains(name) ? "a dim" : "the variable of a repeat around it"),
        "rename the step variable");
    return false;
  }

  void elaborate_body(CarriedValues& values, const ast::Name& owner, const std::string& prefix) {
    repeat_.step = static_cast<int32_t>(context_.program.steps.size());
    context_.program.steps.push_back(
        {source_.step.text, extent_.value, source_.descending, context_.table.text(extent_.expr)});
    BodyScope body(context_, env_, prefix);
    env_.steps[source_.step.text] = {repeat_.step, extent_};
    values.enter();
    const ast::Next* next = body.next_of(source_.block, owner, "body");
    for (const ast::Statement& statement : source_.block.statements) {
      if (next != nullptr && &statement == &source_.block.statements.back()) break;
      context_.elaborate_statement(env_, statement);
    }
    if (next != nullptr) {
      values.next(body, *next);
      stack(body, *next);
    }
    repeat_.body = body.take_statements();
    env_.steps.erase(source_.step.text);
  }

  void stack(BodyScope& body, const ast::Next& next) {
    const Place place = !next.stacked.empty()      ? next.stacked.front().span
                        : !source_.stacked.empty() ? source_.stacked.front().span
                                                   : source_.step.span;
    const auto elements = body.leaving(next.stacked, source_.stacked, place, "stack");
    if (!elements) return;
    for (const TensorId element : *elements) repeat_.stacked.push_back({element, {}});
  }

  void define_stacked() {
    for (size_t i = 0; i < repeat_.stacked.size(); ++i) {
      const TensorId element = repeat_.stacked[i].element;
      TensorShape shape = {context_.program.tensor(element).type, {extent_}};
      const std::vector<DimValue>& inner = context_.shapes[ir::index(element)];
      shape.extents.insert(shape.extents.end(), inner.begin(), inner.end());
      const auto id = context_.define_tensor(env_, source_.stacked[i], std::move(shape));
      if (id) repeat_.stacked[i].result = *id;
    }
  }

  Context& context_;
  Environment& env_;
  const ast::Repeat& source_;
  Place span_;
  DimValue extent_;
  Repeat repeat_;
};

}  // namespace

void Context::elaborate_repeat(Environment& env, const ast::Repeat& repeat, Place span) {
  RepeatChecker(*this, env, repeat, span).run();
}

}  // namespace solar::ir

// `while`: the body runs until its test is false.

#include <fmt/format.h>

#include "ir/verify/body.h"

namespace solar::ir {
namespace {

class WhileChecker {
 public:
  WhileChecker(Context& context, Environment& env, const ast::While& source, Place span)
      : context_(context), env_(env), source_(source), span_(span) {}

  void run() {
    const size_t before = context_.errors.size();
    const auto limit = context_.eval_extent(env_, *source_.limit);
    if (limit) while_.limit = limit->value;
    const ast::Name& owner = source_.results.front();
    const std::string prefix = context_.full_name(env_, owner.text) + ".";
    CarriedValues values(context_, env_, source_.results, source_.carried, prefix);
    values.start(source_.block);
    while_.control = static_cast<int32_t>(context_.program.controls.size());
    context_.program.controls.push_back(
        {Control::Kind::While, context_.full_name(env_, owner.text), owner.span});
    elaborate_body(values, owner, prefix);
    if (context_.errors.size() != before) {
      for (const ast::Name& name : source_.results) context_.poison(env_, name);
      return;
    }
    values.finish();
    while_.carried = std::move(values.carried);
    if (context_.errors.size() != before) return;
    Statement statement;
    statement.body = std::move(while_);
    context_.add_statement(env_, std::move(statement), span_);
  }

 private:
  void error(Place span, std::string message, std::string hint) {
    context_.error(env_, DiagnosticKind::LoopForm, span, std::move(message), std::move(hint));
  }

  void elaborate_body(CarriedValues& values, const ast::Name& owner, const std::string& prefix) {
    BodyScope body(context_, env_, prefix);
    values.enter();
    const ast::Next* next = body.next_of(source_.block, owner, "body");
    const ast::Test* tested = nullptr;
    for (const ast::Statement& statement : source_.block.statements) {
      if (next != nullptr && &statement == &source_.block.statements.back()) break;
      const auto* test = std::get_if<ast::Test>(&statement.body);
      if (test == nullptr) {
        context_.elaborate_statement(env_, statement);
      } else if (tested != nullptr) {
        error(statement.span, "a `while` has one `test`, this is the second",
              "combine both conditions in one kernel");
      } else {
        tested = test;
        const auto condition = condition_tensor(context_, env_, test->value, "the test");
        if (condition) while_.test = *condition;
        while_.before_test = context_.program.statements.size();
      }
    }
    if (tested == nullptr) {
      error(owner.span, fmt::format("the body of `{}` has no `test`", owner.text),
            "`test go` ends the loop, before the step takes effect, when `go` is false");
    }
    if (next != nullptr) {
      if (!next->stacked.empty()) {
        error(next->stacked.front().span, "a `while` stacks nothing: its steps are not known",
              "leave `stack` out, or use `repeat`");
      }
      values.next(body, *next);
    }
    while_.body = body.take_statements();
  }

  Context& context_;
  Environment& env_;
  const ast::While& source_;
  Place span_;
  While while_;
};

}  // namespace

void Context::elaborate_while(Environment& env, const ast::While& loop, Place span) {
  WhileChecker(*this, env, loop, span).run();
}

}  // namespace solar::ir

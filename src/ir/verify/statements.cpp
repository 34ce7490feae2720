// Statements of a block, and the short ones: groups, updates.

#include <fmt/format.h>

#include "ir/verify/context.h"

namespace solar::ir {
namespace {

Group group_of(Context& context, Environment& env, const ast::Op& op) {
  Group made;
  made.op = op.name;
  made.at = op.at.value_or("");
  made.module = Context::module_path(env, op.module.value_or(""));
  if (!op.nominal) return made;
  if (const auto nominal = context.eval_dim(env, *op.nominal)) made.nominal = nominal->value;
  if (made.nominal && *made.nominal < 0) {
    context.error(env, DiagnosticKind::BadExtent, op.nominal->span,
                  fmt::format("the nominal count is {}, it must not be negative", *made.nominal),
                  "leave it out");
  }
  return made;
}

}  // namespace

std::string Context::module_path(const Environment& env, const std::string& path) {
  if (env.caller == nullptr) return path;
  std::string out;
  for (const char c : path) {
    if (c == '*') {
      out += env.module;
    } else if (c != '.' || !out.empty()) {  // a call without a module leaves no empty step
      out += c;
    }
  }
  return out;
}

void Context::elaborate_block(Environment& env, const ast::Block& block) {
  for (const ast::Statement& statement : block.statements) elaborate_statement(env, statement);
}

void Context::elaborate_statement(Environment& env, const ast::Statement& statement) {
  Place span = statement.span;
  if (const auto* dims = std::get_if<ast::Dims>(&statement.body)) {
    if (env.caller != nullptr) define_dims(env, *dims, false, nullptr);
  } else if (const auto* require = std::get_if<ast::Require>(&statement.body)) {
    check_require(env, *require);
  } else if (const auto* op = std::get_if<ast::Op>(&statement.body)) {
    Group made = group_of(*this, env, *op);
    const int32_t outer = group;
    group = static_cast<int32_t>(program.groups.size());
    program.groups.push_back(std::move(made));
    elaborate_block(env, op->block);
    group = outer;
  } else if (const auto* kernel = std::get_if<ast::Kernel>(&statement.body)) {
    if (kernel->scatter) {
      elaborate_scatter(env, *kernel, span);
    } else {
      elaborate_kernel(env, *kernel, span);
    }
  } else if (const auto* view = std::get_if<ast::View>(&statement.body)) {
    elaborate_view(env, *view, span);
  } else if (const auto* slice = std::get_if<ast::Slice>(&statement.body)) {
    elaborate_slice(env, *slice, span);
  } else if (const auto* call = std::get_if<ast::Call>(&statement.body)) {
    elaborate_call(env, *call, span);
  } else if (const auto* update = std::get_if<ast::Update>(&statement.body)) {
    elaborate_update(env, *update);
  } else if (const auto* repeat = std::get_if<ast::Repeat>(&statement.body)) {
    elaborate_repeat(env, *repeat, span);
  } else if (const auto* loop = std::get_if<ast::While>(&statement.body)) {
    elaborate_while(env, *loop, span);
  } else if (const auto* branches = std::get_if<ast::If>(&statement.body)) {
    elaborate_if(env, *branches, span);
  } else if (std::holds_alternative<ast::Next>(statement.body)) {
    error(env, DiagnosticKind::LoopForm, span,
          env.open_bodies > 0 ? "`next` must be the last statement of the body"
                              : "`next` stands outside of a loop or branch",
          "`next` ends the body of `repeat`, `while` or `if`, outside of its `op` groups");
  } else if (std::holds_alternative<ast::Test>(statement.body)) {
    error(env, DiagnosticKind::LoopForm, span,
          "`test` must be a statement of the body of a `while`",
          "`test go` ends a `while` when `go` is false; it stands outside of `op` groups");
  } else {
    elaborate_opaque(env, std::get<ast::Opaque>(statement.body), span);
  }
}

void Context::elaborate_update(Environment& env, const ast::Update& update) {
  const Binding* state = find_tensor(env, update.state.text, update.state.span);
  const Binding* value = find_tensor(env, update.value.text, update.value.span);
  if (state != nullptr && value != nullptr && (state->literal || value->literal)) {
    return error(
        env, DiagnosticKind::CallArgument, (state->literal ? update.state : update.value).span,
        "a scalar literal can be neither a state nor its value", "store it in a kernel first");
  }
  if (state == nullptr || value == nullptr || !state->tensor || !value->tensor) return;
  const Tensor& old = program.tensor(*state->tensor);
  const Tensor& fresh = program.tensor(*value->tensor);
  if (env.open_bodies > 0) {
    return error(env, DiagnosticKind::LoopForm, update.state.span,
                 fmt::format("`{}` is updated inside of a loop or branch", update.state.text),
                 "carry the value out of it with `next`, and update after it");
  }
  if (env.caller != nullptr || old.role != Role::State) {
    return error(env, DiagnosticKind::CallArgument, update.state.span,
                 fmt::format("`{}` is not a `state` of the program", update.state.text),
                 "only the program updates, and only its own `state` tensors");
  }
  if (old.type != fresh.type || old.shape != fresh.shape) {
    return error(
        env, DiagnosticKind::ShapeMismatch, update.value.span,
        fmt::format("`{}` is {}[{}], the state is {}[{}]", update.value.text, name(fresh.type),
                    fmt::join(fresh.shape, ", "), name(old.type), fmt::join(old.shape, ", ")),
        "the new value has the state's type and shape");
  }
  for (const Update& other : program.updates) {
    if (other.state == *state->tensor) {
      return error(env, DiagnosticKind::DuplicateName, update.state.span,
                   fmt::format("`{}` is updated twice", update.state.text),
                   "an update sets the final value once");
    }
  }
  program.updates.push_back({*state->tensor, *value->tensor});
}

}  // namespace solar::ir

#include "ir/reroll/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace solar::ir {

void Walk::run(ast::Statement& whole) {
  own_.clear();
  ordinals_ = 0;
  statement(whole);
}

void Walk::statement(ast::Statement& statement) {
  for (const std::string& comment : statement.comments) visitor_.fixed(comment);
  number(statement.body.index());
  std::visit([&](auto& body) { part(body); }, statement.body);
}

void Walk::block(ast::Block& block) {
  number(block.statements.size());
  for (ast::Statement& inner : block.statements) statement(inner);
  for (const std::string& comment : block.trailing_comments) visitor_.fixed(comment);
}

void Walk::number(size_t count) { visitor_.fixed(fmt::format("{}", count)); }

// --- tensors ---------------------------------------------------------------------------------

void Walk::tensor(std::string& name) {
  const auto at = own_.find(name);
  if (at == own_.end() || at->second < 0) return visitor_.use(name);
  visitor_.fixed(fmt::format("%{}", at->second));
}

void Walk::tensors(std::vector<ast::Name>& names) {
  number(names.size());
  for (ast::Name& name : names) tensor(name.text);
}

void Walk::define(std::string& name) {
  const auto [at, fresh] = own_.try_emplace(name, -1);
  if (!scopes_.empty()) hidden_.push_back({name, at->second});
  at->second = ordinals_++;
  visitor_.define(name, scopes_.empty());
}

void Walk::define(std::vector<ast::Name>& names) {
  number(names.size());
  for (ast::Name& name : names) define(name.text);
}

void Walk::leave() {
  for (; hidden_.size() > scopes_.back(); hidden_.pop_back()) {
    own_[hidden_.back().name] = hidden_.back().before;
  }
  scopes_.pop_back();
}

// --- expressions -----------------------------------------------------------------------------

bool Walk::is_variable(const std::string& name) const {
  return std::find(variables_.begin(), variables_.end(), name) != variables_.end();
}

void Walk::name(ast::ExprPtr& expr) {
  if (is_variable(expr->text)) return visitor_.fixed("$" + expr->text);
  std::string text = expr->text;
  if (dims_.contains(text)) {
    visitor_.dim(text);
  } else {
    tensor(text);
  }
  if (text == expr->text) return;
  ast::Expr copy = *expr;
  copy.text = std::move(text);
  expr = std::make_shared<const ast::Expr>(std::move(copy));
}

void Walk::expr(ast::ExprPtr& expr) {
  if (!expr) return visitor_.fixed("-");
  switch (expr->kind) {
    case ast::ExprKind::Integer:
      return visitor_.fixed(fmt::format("{}", expr->integer));
    case ast::ExprKind::Float:
      return visitor_.fixed(fmt::format("{}f", expr->number));
    case ast::ExprKind::Bool:
      return visitor_.fixed(expr->integer != 0 ? "true" : "false");
    case ast::ExprKind::Prev:
      return visitor_.fixed("prev");
    case ast::ExprKind::Name:
      return name(expr);
    default:
      break;
  }
  ast::Expr copy = *expr;
  if (expr->kind == ast::ExprKind::Read) {
    visitor_.fixed("[");
    tensor(copy.text);
  } else {
    visitor_.fixed(copy.text);
  }
  visitor_.fixed(expr->kind == ast::ExprKind::Pack ? "*" : "");
  exprs(copy.operands);
  const bool changed = copy.text != expr->text || copy.operands != expr->operands;
  if (changed) expr = std::make_shared<const ast::Expr>(std::move(copy));
}

void Walk::exprs(std::vector<ast::ExprPtr>& exprs) {
  number(exprs.size());
  for (ast::ExprPtr& one : exprs) expr(one);
}

void Walk::type(ast::Type& type) {
  visitor_.fixed(type.element.name);
  visitor_.fixed(type.element.wide ? "wide" : "");
  visitor_.fixed(type.storage);
  exprs(type.extents);
}

// --- statements ------------------------------------------------------------------------------

void Walk::part(ast::Update& update) {
  visitor_.barrier();
  tensor(update.state.text);
  tensor(update.value.text);
}

void Walk::part(ast::Op& op) {
  visitor_.fixed(op.name);
  visitor_.fixed(op.at.value_or(""));
  visitor_.module(op.module);
  expr(op.nominal);
  block(op.block);
}

void Walk::part(ast::Kernel& kernel) {
  visitor_.fixed(kernel.scatter ? "scatter" : kernel.indexed ? "indexed" : "kernel");
  const size_t variables = variables_.size();
  number(kernel.outputs.size());
  for (ast::Declaration& output : kernel.outputs) type(output.type);
  visitor_.fixed(kernel.base.text.empty() ? "" : "base");
  if (!kernel.base.text.empty()) tensor(kernel.base.text);
  for (ast::Declaration& output : kernel.outputs) define(output.name.text);
  number(kernel.loops.size());
  for (ast::Loop& loop : kernel.loops) {
    visitor_.fixed(loop.pack ? "*" : "");
    number(static_cast<size_t>(loop.order));
    expr(loop.extent);
    expr(loop.begin);
    expr(loop.end);
    visitor_.binder(loop.name.text);
    variables_.push_back(loop.name.text);
  }
  number(kernel.lets.size());
  for (ast::Let& let : kernel.lets) {
    expr(let.value);
    visitor_.binder(let.name.text);
    variables_.push_back(let.name.text);
  }
  exprs(kernel.guards);
  visitor_.fixed(kernel.assign);
  for (ast::Target& target : kernel.targets) {
    tensor(target.tensor.text);
    exprs(target.subscripts);
  }
  for (ast::ExprPtr& value : kernel.values) expr(value);
  expr(kernel.init);
  expr(kernel.otherwise);
  visitor_.fixed(kernel.donated ? "donated" : "");
  visitor_.fixed(kernel.unique ? "unique" : "");
  variables_.resize(variables);
}

void Walk::axes(std::vector<ast::Axis>& axes) {
  number(axes.size());
  for (ast::Axis& axis : axes) {
    number(static_cast<size_t>(axis.kind));
    visitor_.binder(axis.name);
    expr(axis.extent);
    this->axes(axis.group);
  }
}

void Walk::part(ast::View& view) {
  tensor(view.input.text);
  axes(view.left);
  axes(view.right);
  define(view.output.text);
}

void Walk::part(ast::Slice& slice) {
  const auto own = own_.find(slice.input.text);
  const std::string outside =
      own == own_.end() || own->second < 0 ? slice.input.text : std::string();
  tensor(slice.input.text);
  number(slice.items.size());
  int32_t axis = 0;
  const auto count = static_cast<int32_t>(slice.items.size());
  bool after_ellipsis = false;
  for (ast::SliceItem& one : slice.items) {
    after_ellipsis = after_ellipsis || one.kind == ast::SliceItem::Kind::Ellipsis;
    item(one, outside, after_ellipsis ? axis - count : axis);
    ++axis;
  }
  define(slice.output.text);
}

void Walk::item(ast::SliceItem& item, const std::string& input, int32_t axis) {
  using Kind = ast::SliceItem::Kind;
  number(static_cast<size_t>(item.kind));
  const bool places = item.kind == Kind::Index || item.kind == Kind::Range;
  if (!places || in_repeat_) {  // a step inside of the statement stays what it is
    expr(item.start);
    expr(item.stop);
    return expr(item.step);
  }
  const bool whole = !item.start && !item.stop;
  visitor_.fixed(whole ? "whole" : item.stop ? "to" : "on");
  expr(item.step);
  if (whole) return;
  const bool from_zero = !item.start;
  SliceBounds bounds = {item.start, item.stop, item.kind == Kind::Index, input, axis};
  if (from_zero) bounds.start = std::make_shared<const ast::Expr>();  // the integer 0
  const ast::ExprPtr zero = bounds.start;
  visitor_.bounds(bounds);
  item.stop = std::move(bounds.stop);
  if (!from_zero || bounds.start != zero) item.start = std::move(bounds.start);
}

void Walk::part(ast::Call& call) {
  visitor_.fixed(call.function.text);
  visitor_.fixed(call.tuple ? "tuple" : "");
  visitor_.module(call.module);
  number(call.arguments.size());
  for (ast::Argument& argument : call.arguments) expr(argument.expr);
  number(call.attributes.size());
  for (ast::Attribute& attribute : call.attributes) {
    visitor_.fixed(attribute.name.text);
    const bool is_type = attribute.value->kind == ast::ExprKind::Name &&
                         element_type_named(attribute.value->text).has_value();
    if (is_type) {
      visitor_.fixed(attribute.value->text);
    } else {
      expr(attribute.value);
    }
  }
  define(call.results);
}

void Walk::starts(std::vector<ast::Initial>& carried) {
  number(carried.size());
  for (ast::Initial& initial : carried) expr(initial.value);
}

void Walk::part(ast::Repeat& repeat) {
  visitor_.fixed(repeat.descending ? "revseq" : "");
  starts(repeat.carried);
  expr(repeat.extent);
  visitor_.binder(repeat.step.text);
  enter();
  const bool outer = std::exchange(in_repeat_, true);
  variables_.push_back(repeat.step.text);
  for (ast::Initial& initial : repeat.carried) define(initial.name.text);
  block(repeat.block);
  variables_.pop_back();
  in_repeat_ = outer;
  leave();
  define(repeat.results);
  define(repeat.stacked);
}

void Walk::part(ast::While& loop) {
  starts(loop.carried);
  expr(loop.limit);
  enter();
  for (ast::Initial& initial : loop.carried) define(initial.name.text);
  block(loop.block);
  leave();
  define(loop.results);
}

void Walk::part(ast::If& branches) {
  tensor(branches.condition.text);
  for (ast::Block* branch : {&branches.taken, &branches.otherwise}) {
    enter();
    block(*branch);
    leave();
  }
  define(branches.results);
}

void Walk::part(ast::Next& next) {
  tensors(next.values);
  tensors(next.stacked);
}

void Walk::part(ast::Test& test) { tensor(test.value.text); }

void Walk::part(ast::Opaque& opaque) {
  visitor_.fixed(opaque.hole ? "hole" : "opaque");
  visitor_.fixed(opaque.op);
  tensors(opaque.inputs);
  for (ast::ExprPtr* cost : {&opaque.macs, &opaque.nominal, &opaque.reads, &opaque.writes}) {
    expr(*cost);
  }
  number(opaque.outputs.size());
  for (ast::Declaration& output : opaque.outputs) {
    type(output.type);
    define(output.name.text);
  }
}

}  // namespace solar::ir

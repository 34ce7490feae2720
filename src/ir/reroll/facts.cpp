#include "ir/reroll/facts.h"

#include <map>

namespace solar::ir {

Facts::Facts(const ast::Program& program, Elaboration& elaboration) : table_(elaboration.table) {
  for (const Tensor& tensor : elaboration.program->tensors) {
    tensors_.try_emplace(tensor.name, TensorFacts{tensor.type, tensor.shape, tensor.extents});
  }
  for (const ast::Statement& statement : program.block.statements) {
    const auto* dims = std::get_if<ast::Dims>(&statement.body);
    if (dims == nullptr) continue;
    for (const ast::Let& dim : dims->dims) {
      const bool free = dim.value->kind == ast::ExprKind::Integer;
      if (free) numbers_[dim.name.text] = table_.constant(dim.value->integer);
      const auto known = free ? table_.variable(dim.name.text) : value(*dim.value);
      if (known) dims_[dim.name.text] = *known;
    }
  }
}

const TensorFacts* Facts::tensor(const std::string& name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

std::optional<DimExpr> Facts::value(const ast::Expr& expr) {
  static const std::map<std::string, DimOp> operations = {
      {"//", DimOp::FloorDiv}, {"%", DimOp::Mod}, {"min", DimOp::Min}, {"max", DimOp::Max}};
  if (expr.kind == ast::ExprKind::Integer) return table_.constant(expr.integer);
  if (expr.kind == ast::ExprKind::Name) {
    const auto at = dims_.find(expr.text);
    return at == dims_.end() ? std::nullopt : std::optional(at->second);
  }
  if (expr.kind == ast::ExprKind::Unary && expr.text == "-") {
    const auto inner = value(*expr.operands[0]);
    return inner ? std::optional(table_.subtract(DimExpr{}, *inner)) : std::nullopt;
  }
  if (expr.operands.size() != 2) return std::nullopt;
  const auto a = value(*expr.operands[0]);
  const auto b = value(*expr.operands[1]);
  if (!a || !b) return std::nullopt;
  if (expr.text == "+") return table_.add(*a, *b);
  if (expr.text == "-") return table_.subtract(*a, *b);
  if (expr.text == "*") return table_.multiply(*a, *b);
  const auto operation = operations.find(expr.text);
  if (operation == operations.end()) return std::nullopt;
  return table_.apply(operation->second, *a, *b);
}

std::optional<DimExpr> Facts::number(const std::string& dim) const {
  const auto at = numbers_.find(dim);
  return at == numbers_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::string> Facts::text(const ast::Expr& expr) {
  const auto known = value(expr);
  return known ? std::optional(table_.text(*known)) : std::nullopt;
}

}  // namespace solar::ir

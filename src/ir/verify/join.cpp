// concat and stack: tensors joined along an axis, an old or a new one.

#include <fmt/format.h>

#include "ir/verify/builtin.h"

namespace solar::ir {
namespace {

bool same_type(const BuiltinCall& call, size_t argument, const TensorShape& first,
               const TensorShape& next) {
  if (next.type == first.type) return true;
  const ast::Expr& expr = *call.call.arguments[argument].expr;
  call.context.error(call.env, DiagnosticKind::TypeMismatch, expr.span,
                     fmt::format("`{}` is {}, the tensors before it are {}", expr.text,
                                 name(next.type), name(first.type)),
                     "convert it in a kernel first");
  return false;
}

bool define(const BuiltinCall& call, Concat concat, TensorShape shape) {
  const auto output =
      call.context.define_tensor(call.env, call.call.results.front(), std::move(shape));
  if (!output) return false;
  concat.output = *output;
  Statement statement;
  statement.body = std::move(concat);
  call.add(std::move(statement));
  return true;
}

}  // namespace

bool elaborate_concat(const BuiltinCall& call) {
  if (!call.has_form({0, 1, {"axis"}}, "`concat` takes tensors and one axis",
                     "let y = concat(a, b; axis = 1)")) {
    return false;
  }
  Concat concat;
  TensorShape shape;
  for (size_t i = 0; i < call.call.arguments.size(); ++i) {
    const auto input = call.tensor(i);
    if (!input) return false;
    concat.inputs.push_back(*input);
    const ast::Expr& expr = *call.call.arguments[i].expr;
    const TensorShape next = call.shape_of(*input);
    const std::vector<DimValue>& extents = next.extents;
    if (i == 0) {
      const auto axis =
          call.axis(extents.size(), fmt::format("`{}` has rank {}", expr.text, extents.size()));
      if (!axis) return false;
      concat.axis = static_cast<int32_t>(*axis);
      shape = next;
      continue;
    }
    if (!same_type(call, i, shape, next)) return false;
    bool same = extents.size() == shape.extents.size();
    for (size_t k = 0; same && k < extents.size(); ++k) {
      if (static_cast<int32_t>(k) == concat.axis) {
        DimValue& total = shape.extents[k];
        total = {total.value + extents[k].value,
                 call.context.table.add(total.expr, extents[k].expr)};
      } else {
        same = call.context.equal(shape.extents[k], extents[k], expr.span);
      }
    }
    if (!same) {
      call.context.error(
          call.env, DiagnosticKind::ShapeMismatch, expr.span,
          fmt::format(
              "`{}` has shape [{}], which differs from the tensors before it outside axis {}",
              expr.text, fmt::join(call.context.program.tensor(*input).shape, ", "), concat.axis),
          "joined tensors differ only along the axis");
      return false;
    }
  }
  return define(call, std::move(concat), std::move(shape));
}

bool elaborate_stack(const BuiltinCall& call) {
  if (!call.has_form({0, 1, {"axis"}}, "`stack` takes tensors of one shape and the new axis",
                     "let y = stack(a, b; axis = 0)")) {
    return false;
  }
  std::vector<TensorId> inputs;
  TensorShape shape;
  for (size_t i = 0; i < call.call.arguments.size(); ++i) {
    const auto input = call.tensor(i);
    if (!input) return false;
    inputs.push_back(*input);
    const TensorShape next = call.shape_of(*input);
    if (i == 0) {
      shape = next;
      continue;
    }
    if (!same_type(call, i, shape, next)) return false;
    const ast::Expr& expr = *call.call.arguments[i].expr;
    bool same = next.extents.size() == shape.extents.size();
    for (size_t k = 0; same && k < shape.extents.size(); ++k) {
      same = call.context.equal(shape.extents[k], next.extents[k], expr.span);
    }
    if (!same) {
      call.context.error(
          call.env, DiagnosticKind::ShapeMismatch, expr.span,
          fmt::format("`{}` has shape [{}], the tensors before it have another", expr.text,
                      fmt::join(call.context.program.tensor(*input).shape, ", ")),
          "stacked tensors have the same shape");
      return false;
    }
  }
  const size_t rank = shape.extents.size() + 1;
  const auto axis = call.axis(rank, fmt::format("the result has rank {}", rank));
  if (!axis) return false;
  const std::string name = call.context.full_name(call.env, call.call.results.front().text);
  TensorShape unit = shape;
  const auto place = static_cast<std::ptrdiff_t>(*axis);
  unit.extents.insert(unit.extents.begin() + place, call.context.constant(1));
  Concat concat;
  concat.axis = static_cast<int32_t>(*axis);
  for (size_t i = 0; i < inputs.size(); ++i) {
    View view;
    view.input = inputs[i];
    view.atoms.resize(rank);
    for (size_t k = 0; k < rank; ++k) {
      if (k != *axis) view.subscripts.push_back({{{static_cast<int32_t>(k), 1}}, 0});
    }
    view.output = call.context.add_tensor(fmt::format("{}.{}", name, i), unit,
                                          call.call.results.front().span);
    concat.inputs.push_back(view.output);
    Statement statement;
    statement.body = std::move(view);
    call.add(std::move(statement));
  }
  unit.extents[*axis] = call.context.constant(static_cast<int64_t>(inputs.size()));
  return define(call, std::move(concat), std::move(unit));
}

}  // namespace solar::ir

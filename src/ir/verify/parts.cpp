// split and unbind: a tensor taken apart along an axis, as views.

#include <fmt/format.h>

#include "ir/verify/builtin.h"

namespace solar::ir {
namespace {

/// Part `i` of the input: from `start`, `length` long, or one element if the axis is dropped.
bool add_part(const BuiltinCall& call, size_t i, TensorId input, size_t axis, int64_t start,
              const std::optional<DimValue>& length) {
  TensorShape shape = call.shape_of(input);
  const size_t rank = shape.extents.size();
  View view;
  view.input = input;
  int32_t output_axis = 0;
  for (size_t k = 0; k < rank; ++k) {
    Linear subscript;
    if (k == axis) subscript.constant = start;
    if (k != axis || length) subscript.terms.push_back({output_axis++, 1});
    view.subscripts.push_back(std::move(subscript));
  }
  if (length) {
    shape.extents[axis] = *length;
  } else {
    shape.extents.erase(shape.extents.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  view.atoms.resize(shape.extents.size());
  const auto output = call.context.define_tensor(call.env, call.call.results[i], std::move(shape));
  if (!output) return false;
  view.output = *output;
  Statement statement;
  statement.body = std::move(view);
  call.add(std::move(statement));
  return true;
}

std::optional<size_t> axis_of(const BuiltinCall& call, TensorId input) {
  const size_t rank = call.shape_of(input).extents.size();
  return call.axis(rank, fmt::format("`{}` has rank {}", call.call.arguments[0].expr->text, rank));
}

}  // namespace

bool elaborate_split(const BuiltinCall& call) {
  if (!call.has_form({1, 0, {"axis"}}, "`split` takes one tensor and an axis",
                     "let (a, b, c) = split(x; axis = 1) gives equal parts")) {
    return false;
  }
  const auto input = call.tensor(0);
  if (!input) return false;
  const auto axis = axis_of(call, *input);
  if (!axis) return false;
  const DimValue whole = call.shape_of(*input).extents[*axis];
  const auto parts = static_cast<int64_t>(call.call.results.size());
  if (whole.value % parts != 0) {
    call.context.error(
        call.env, DiagnosticKind::ShapeMismatch, call.span,
        fmt::format("axis {} of `{}` has extent {}, which {} parts do not divide", *axis,
                    call.call.arguments[0].expr->text, call.context.text(whole), parts),
        "unequal parts are slices");
    return false;
  }
  DimTable& table = call.context.table;
  const DimValue length = {
      whole.value / parts,
      parts == 1 ? whole.expr : table.apply(DimOp::FloorDiv, whole.expr, table.constant(parts))};
  bool ok = true;
  for (int64_t i = 0; i < parts; ++i) {
    ok = add_part(call, static_cast<size_t>(i), *input, *axis, i * length.value, length) && ok;
  }
  return ok;
}

bool elaborate_unbind(const BuiltinCall& call) {
  if (!call.has_form({1, 0, {"axis"}}, "`unbind` takes one tensor and an axis",
                     "let (a, b) = unbind(x; axis = 0) for an axis of extent 2")) {
    return false;
  }
  const auto input = call.tensor(0);
  if (!input) return false;
  const auto axis = axis_of(call, *input);
  if (!axis) return false;
  const DimValue whole = call.shape_of(*input).extents[*axis];
  const auto parts = static_cast<int64_t>(call.call.results.size());
  if (!call.context.equal(whole, call.context.constant(parts), call.span)) {
    call.context.error(
        call.env, DiagnosticKind::ShapeMismatch, call.span,
        fmt::format("axis {} of `{}` has extent {}, found {} names", *axis,
                    call.call.arguments[0].expr->text, call.context.text(whole), parts),
        "one name for each element of the axis");
    return false;
  }
  bool ok = true;
  for (int64_t i = 0; i < parts; ++i) {
    ok = add_part(call, static_cast<size_t>(i), *input, *axis, i, std::nullopt) && ok;
  }
  return ok;
}

}  // namespace solar::ir

// sort, topk, argsort.

#include <fmt/format.h>

#include "ir/verify/builtin.h"

namespace solar::ir {
namespace {

/// `values` and `positions`: the names of the results; null: the values are not wanted.
bool add_sort(const BuiltinCall& call, const ast::Name* values, const ast::Name& positions,
              bool descending_default, bool all) {
  const auto input = call.tensor(0);
  if (!input) return false;
  TensorShape shape = call.shape_of(*input);
  const std::string& text = call.call.arguments[0].expr->text;
  const auto axis =
      call.axis(shape.extents.size(), fmt::format("`{}` has rank {}", text, shape.extents.size()));
  const auto descending = call.flag("descending", descending_default);
  if (!axis || !descending) return false;
  Sort sort;
  sort.input = *input;
  sort.axis = static_cast<int32_t>(*axis);
  sort.descending = *descending;
  if (!all) {
    const auto count = call.dim("k");
    if (!count) return false;
    const DimValue& whole = shape.extents[*axis];
    if (count->value < 1 || count->value > whole.value) {
      call.context.error(
          call.env, DiagnosticKind::BadDimensionArgument, call.attribute("k")->value->span,
          fmt::format("`k` is {}, axis {} of `{}` has extent {}", call.context.text(*count), *axis,
                      text, call.context.text(whole)),
          "`k` is from 1 to the extent");
      return false;
    }
    shape.extents[*axis] = *count;
  }
  sort.count = shape.extents[*axis].value;
  const TensorShape places = {ElementType::I64, shape.extents};
  if (values != nullptr) {
    const auto id = call.context.define_tensor(call.env, *values, shape);
    if (!id) return false;
    sort.values = *id;
  } else {
    sort.values = call.context.add_tensor(
        call.context.full_name(call.env, positions.text) + ".values", shape, positions.span);
  }
  const auto id = call.context.define_tensor(call.env, positions, places);
  if (!id) return false;
  sort.positions = *id;
  Statement statement;
  statement.body = std::move(sort);
  call.add(std::move(statement));
  return true;
}

}  // namespace

bool elaborate_sort(const BuiltinCall& call) {
  return call.has_form({1, 2, {"axis"}, {"descending"}},
                       "`sort` takes one tensor and an axis, and gives values and positions",
                       "let (v, ix) = sort(x; axis = 1)") &&
         add_sort(call, &call.call.results[0], call.call.results[1], false, true);
}

bool elaborate_topk(const BuiltinCall& call) {
  return call.has_form({1, 2, {"axis", "k"}, {"descending"}},
                       "`topk` takes one tensor, an axis and `k`, and gives values and positions",
                       "let (v, ix) = topk(x; axis = 1, k = K)") &&
         add_sort(call, &call.call.results[0], call.call.results[1], true, false);
}

bool elaborate_argsort(const BuiltinCall& call) {
  return call.has_form({1, 1, {"axis"}, {"descending"}},
                       "`argsort` takes one tensor and an axis, and gives positions",
                       "let ix = argsort(x; axis = 1)") &&
         add_sort(call, nullptr, call.call.results[0], false, true);
}

}  // namespace solar::ir

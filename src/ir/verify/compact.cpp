// unique and nonzero: results of a bounded length, and their count.

#include <fmt/format.h>

#include "ir/verify/builtin.h"

namespace solar::ir {
namespace {

bool add_compact(const BuiltinCall& call, Compact::Kind kind) {
  const auto input = call.tensor(0);
  const auto limit = call.context.eval_extent(call.env, *call.attribute("limit")->value);
  if (!input || !limit) return false;
  TensorShape shape = call.shape_of(*input);
  if (kind == Compact::Kind::Unique) {
    shape.extents = {*limit};
  } else {
    if (shape.extents.empty()) {
      call.context.error(call.env, DiagnosticKind::RankMismatch, call.call.arguments[0].expr->span,
                         "`nonzero` needs at least one axis, found a scalar",
                         "compare the scalar in a kernel");
      return false;
    }
    const auto rank = static_cast<int64_t>(shape.extents.size());
    shape = {ElementType::I64, {*limit, call.context.constant(rank)}};
  }
  Compact compact;
  compact.kind = kind;
  compact.input = *input;
  const auto output = call.context.define_tensor(call.env, call.call.results[0], std::move(shape));
  const auto count =
      call.context.define_tensor(call.env, call.call.results[1], {ElementType::I64, {}});
  if (!output || !count) return false;
  compact.output = *output;
  compact.count = *count;
  Statement statement;
  statement.body = compact;
  call.add(std::move(statement));
  return true;
}

}  // namespace

bool elaborate_unique(const BuiltinCall& call) {
  return call.has_form({1, 2, {"limit"}},
                       "`unique` takes one tensor and a limit, and gives values and their number",
                       "let (v, n) = unique(x; limit = K)") &&
         add_compact(call, Compact::Kind::Unique);
}

bool elaborate_nonzero(const BuiltinCall& call) {
  return call.has_form(
             {1, 2, {"limit"}},
             "`nonzero` takes one tensor and a limit, and gives positions and their number",
             "let (ix, n) = nonzero(x; limit = K)") &&
         add_compact(call, Compact::Kind::Nonzero);
}

}  // namespace solar::ir

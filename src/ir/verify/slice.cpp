// Slices with static bounds.

#include <fmt/format.h>

#include "ir/verify/context.h"

namespace solar::ir {
namespace {

class SliceChecker {
 public:
  SliceChecker(Context& context, Environment& env, const ast::Slice& slice, Span span)
      : context_(context), env_(env), slice_(slice), span_(std::move(span)) {}

  void run() {
    const Binding* binding = context_.find_tensor(env_, slice_.input.text, slice_.input.span);
    if (binding != nullptr && binding->literal) {
      bad(slice_.input.span,
          fmt::format("`{}` is a scalar literal, it cannot be sliced", slice_.input.text));
    }
    if (binding == nullptr || !binding->tensor || !read_items(*binding->tensor)) {
      return context_.poison(env_, slice_.output);
    }
    shape_.type = context_.program.tensor(view_.input).type;
    view_.atoms.resize(shape_.extents.size());
    const auto output = context_.define_tensor(env_, slice_.output, std::move(shape_));
    if (!output) return;
    view_.output = *output;
    Statement statement;
    statement.body = std::move(view_);
    context_.add_statement(env_, std::move(statement), span_);
  }

 private:
  bool bad(Span span, std::string message, std::string hint = {}) {
    context_.error(env_, DiagnosticKind::BadSlice, std::move(span), std::move(message),
                   std::move(hint));
    return false;
  }

  bool read_items(TensorId input) {
    view_.input = input;
    extents_ = context_.shapes[static_cast<int32_t>(input)];
    size_t dots = 0;
    for (const ast::SliceItem& item : slice_.items)
      dots += item.kind == ast::SliceItem::Kind::Ellipsis ? 1 : 0;
    const size_t fixed = slice_.items.size() - dots;
    if (dots > 1)
      return bad(span_, "a slice has at most one `...`", "write `:` for the other axes");
    if (dots == 0 ? fixed != extents_.size() : fixed > extents_.size()) {
      const Tensor& tensor = context_.program.tensor(input);
      context_.error(env_, DiagnosticKind::RankMismatch, span_,
                     fmt::format("`{}` has {} axes, found {} items", slice_.input.text,
                                 extents_.size(), fixed),
                     "`:` takes a whole axis, `...` all remaining ones",
                     {{tensor.span, "defined here"}});
      return false;
    }
    for (const ast::SliceItem& item : slice_.items) {
      if (item.kind == ast::SliceItem::Kind::Ellipsis) {
        for (size_t i = 0; i < extents_.size() - fixed; ++i)
          keep(extents_[view_.subscripts.size()], 0, 1);
      } else if (!read_item(item)) {
        return false;
      }
    }
    return true;
  }

  /// Output axis o reads start + step * o.
  void keep(const DimValue& extent, int64_t start, int64_t step) {
    Linear subscript;
    subscript.constant = start;
    subscript.terms.push_back({static_cast<int32_t>(shape_.extents.size()), step});
    view_.subscripts.push_back(std::move(subscript));
    shape_.extents.push_back(extent);
  }

  bool read_item(const ast::SliceItem& item) {
    const DimValue& whole = extents_[view_.subscripts.size()];
    const size_t axis = view_.subscripts.size();
    if (item.kind == ast::SliceItem::Kind::Reverse) {
      keep(whole, whole.value - 1, -1);
      return true;
    }
    DimValue start = context_.constant(0);
    if (item.start) {
      const auto value = context_.eval_dim(env_, *item.start);
      if (!value) return false;
      start = *value;
    }
    if (start.value < 0 || start.value >= whole.value) {
      return bad(item.span,
                 fmt::format("{} is outside axis {} of `{}` with extent {}", context_.text(start),
                             axis, slice_.input.text, context_.text(whole)),
                 start.value < 0 ? "there are no negative bounds: write `N - 1`"
                                 : "an index runs from 0 to the extent - 1");
    }
    if (item.kind == ast::SliceItem::Kind::Index) {
      Linear subscript;
      subscript.constant = start.value;
      view_.subscripts.push_back(std::move(subscript));
      return true;
    }
    DimValue stop = whole;
    if (item.stop) {
      const auto value = context_.eval_dim(env_, *item.stop);
      if (!value) return false;
      stop = *value;
    }
    DimValue step = context_.constant(1);
    if (item.step) {
      const auto value = context_.eval_dim(env_, *item.step);
      if (!value) return false;
      step = *value;
    }
    if (step.value < 1)
      return bad(item.span,
                 fmt::format("the step is {}, it must be at least 1", context_.text(step)),
                 "`reverse` flips an axis");
    if (stop.value <= start.value || stop.value > whole.value) {
      return bad(
          item.span,
          fmt::format("the range from {} to {} is empty or leaves axis {} of `{}` with extent {}",
                      context_.text(start), context_.text(stop), axis, slice_.input.text,
                      context_.text(whole)),
          "a slice `a:b` needs 0 <= a < b <= EXTENT");
    }
    DimTable& table = context_.table;
    const DimExpr length = table.subtract(stop.expr, start.expr);
    DimValue extent = {stop.value - start.value, length};
    if (step.value != 1) {
      extent.value = (extent.value - 1) / step.value + 1;
      extent.expr =
          table.apply(DimOp::FloorDiv,
                      table.add(length, table.subtract(step.expr, table.constant(1))), step.expr);
    }
    keep(extent, start.value, extent.value == 1 ? 1 : step.value);
    return true;
  }

  Context& context_;
  Environment& env_;
  const ast::Slice& slice_;
  Span span_;
  View view_;
  TensorShape shape_;
  std::vector<DimValue> extents_;
};

}  // namespace

void Context::elaborate_slice(Environment& env, const ast::Slice& slice, Span span) {
  SliceChecker(*this, env, slice, std::move(span)).run();
}

}  // namespace solar::ir

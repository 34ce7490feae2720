// Slices: bounds are dim expressions, in which the variables of repeats may stand; or a run-time
// start.

#include <fmt/format.h>

#include "ir/verify/nest.h"

namespace solar::ir {
namespace {

constexpr int64_t kMaxEnumerated = 4'000'000;

class SliceChecker {
 public:
  SliceChecker(Context& context, Environment& env, const ast::Slice& slice, Place span)
      : context_(context),
        env_(env),
        slice_(slice),
        span_(span),
        nest_(context, env, no_kernel(), bounds_) {}

  void run() {
    const Binding* binding = context_.find_tensor(env_, slice_.input.text, slice_.input.span);
    if (binding != nullptr && binding->literal) {
      bad(slice_.input.span,
          fmt::format("`{}` is a scalar literal, it cannot be sliced", slice_.input.text));
    }
    if (binding == nullptr || !binding->tensor || !read_items(*binding->tensor)) {
      return context_.poison(env_, slice_.output);
    }
    finish();
  }

 private:
  /// One bound: its value at the first step, and as an index expression of the steps.
  struct Bound {
    DimValue value = {};
    Linear linear = {};
    bool steps = false;
  };

  /// Bounds are index expressions of a nest without loops.
  static const ast::Kernel& no_kernel() {
    static const ast::Kernel kernel;
    return kernel;
  }

  bool bad(Place span, std::string message, std::string hint = {}) {
    context_.error(env_, DiagnosticKind::BadSlice, span, std::move(message), std::move(hint));
    return false;
  }

  std::string axis_text(size_t axis) const {
    return fmt::format("axis {} of `{}` with extent {}", axis, slice_.input.text,
                       context_.text(extents_[axis]));
  }

  bool read_items(TensorId input) {
    view_.input = input;
    extents_ = context_.shapes[ir::index(input)];
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
          keep(extents_[starts_.size()], constant(0), 1);
      } else if (!read_item(item)) {
        return false;
      }
    }
    return true;
  }

  static Linear constant(int64_t value) {
    Linear linear;
    linear.constant = value;
    return linear;
  }

  /// Output axis o reads start + step * o.
  void keep(const DimValue& extent, Linear start, int64_t step) {
    starts_.push_back(std::move(start));
    strides_.push_back(step);
    shape_.extents.push_back(extent);
  }

  bool names_step(const ast::Expr& expr) const {
    if (expr.kind == ast::ExprKind::Name) return env_.steps.contains(expr.text);
    for (const ast::ExprPtr& operand : expr.operands) {
      if (names_step(*operand)) return true;
    }
    return false;
  }

  std::optional<Bound> bound(const ast::Expr& expr) {
    Bound result;
    result.steps = names_step(expr);
    context_.steps_allowed = true;
    const auto value = context_.eval_dim(env_, expr);
    context_.steps_allowed = false;
    if (!value) return std::nullopt;
    result.value = *value;
    if (!result.steps) {
      result.linear = constant(value->value);
      return result;
    }
    const auto linear = nest_.index(expr);
    if (!linear) return std::nullopt;
    result.linear = *linear;
    return result;
  }

  /// The bound's values over all steps: an interval if it is within 0 .. `high`, else exact where
  /// that can be enumerated.
  Interval range(const Linear& value, int64_t high) const {
    const std::vector<Guard> none;
    const RangeProver prover(bounds_.loops, bounds_.atoms, none, context_.program.steps);
    const Interval interval = prover.range(value);
    if (value.terms.empty() || (interval.low >= 0 && interval.high <= high)) return interval;
    const auto exact = prover.enumerate(value, kMaxEnumerated);
    return exact ? exact->interval : interval;
  }

  bool read_item(const ast::SliceItem& item) {
    const size_t axis = starts_.size();
    const DimValue whole = extents_[axis];
    if (item.kind == ast::SliceItem::Kind::Reverse) {
      keep(whole, constant(whole.value - 1), -1);
      return true;
    }
    if (item.kind == ast::SliceItem::Kind::RunTime) return read_run_time(item, whole, axis);
    Bound start = {context_.constant(0), constant(0), false};
    if (item.start) {
      const auto found = bound(*item.start);
      if (!found) return false;
      start = *found;
    }
    const Interval begin = range(start.linear, whole.value - 1);
    if (begin.low < 0 || begin.high >= whole.value) {
      return bad(item.span,
                 start.steps
                     ? fmt::format("the start is in [{}, {}], outside {}", begin.low, begin.high,
                                   axis_text(axis))
                     : fmt::format("{} is outside {}", context_.text(start.value), axis_text(axis)),
                 begin.low < 0 ? "there are no negative bounds: write `N - 1`"
                               : "an index runs from 0 to the extent - 1");
    }
    if (item.kind == ast::SliceItem::Kind::Index) {
      tie(start, whole, item.span);
      starts_.push_back(start.linear);
      strides_.push_back(0);
      return true;
    }
    return read_range(item, start, whole, axis);
  }

  /// A plain step variable over the whole axis ties the two extents together.
  void tie(const Bound& start, const DimValue& whole, Place span) {
    if (!start.steps) return;
    const DimValue* extent = nest_.plain_extent(start.linear);
    if (extent != nullptr && extent->value == whole.value) context_.equal(*extent, whole, span);
  }

  bool read_range(const ast::SliceItem& item, const Bound& start, const DimValue& whole,
                  size_t axis) {
    Bound stop = {whole, constant(whole.value), false};
    if (item.stop) {
      const auto found = bound(*item.stop);
      if (!found) return false;
      stop = *found;
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
    const bool inside = stop.steps || (stop.value.value >= 0 && stop.value.value <= whole.value);
    const Linear difference =
        inside ? combine(stop.linear, 1, start.linear, -1) : constant(0);  // 0: refused below
    if (!difference.terms.empty()) {
      return bad(item.span, "the extent of the slice depends on the step of a repeat",
                 "both bounds move together: `x[t : t + K]`");
    }
    const int64_t length = difference.constant;
    const Interval begin = range(start.linear, whole.value - length);
    if (length < 1 || begin.high + length > whole.value) {
      return bad(
          item.span,
          start.steps
              ? fmt::format("the range of {} from a start in [{}, {}] is empty or leaves {}",
                            length, begin.low, begin.high, axis_text(axis))
              : fmt::format("the range from {} to {} is empty or leaves {}",
                            context_.text(start.value), context_.text(stop.value), axis_text(axis)),
          "a slice `a:b` needs 0 <= a < b <= EXTENT");
    }
    DimTable& table = context_.table;
    DimValue extent = {length, table.subtract(stop.value.expr, start.value.expr)};
    if (mentions_step(extent.expr)) extent = context_.constant(length);
    if (step.value != 1) {
      extent.value = (extent.value - 1) / step.value + 1;
      extent.expr = table.apply(
          DimOp::FloorDiv, table.add(extent.expr, table.subtract(step.expr, table.constant(1))),
          step.expr);
    }
    keep(extent, start.linear, extent.value == 1 ? 1 : step.value);
    return true;
  }

  bool mentions_step(const DimExpr& expr) {
    for (const auto& [name, variable] : env_.steps) {
      if (context_.table.contains(expr, "repeat " + name)) return true;
    }
    return false;
  }

  /// `at s size n`: the start is read when the program runs, and checked then.
  bool read_run_time(const ast::SliceItem& item, const DimValue& whole, size_t axis) {
    const auto size = context_.eval_extent(env_, *item.stop);
    const Binding* start = context_.find_tensor(env_, item.start->text, item.start->span);
    if (!size || start == nullptr) return false;
    if (size->value > whole.value) {
      return bad(item.span,
                 fmt::format("the size {} exceeds {}", context_.text(*size), axis_text(axis)),
                 "a slice stays inside its axis");
    }
    if (start->literal) {
      const int64_t at = start->literal->integer;
      if (!is_integer(start->literal->type) || at < 0 || at > whole.value - size->value) {
        return bad(item.span,
                   fmt::format("`{}` is no start inside {}", item.start->text, axis_text(axis)),
                   "the start is an integer from 0 to the extent - the size");
      }
      keep(*size, constant(at), 1);
      return true;
    }
    if (!start->tensor) return false;
    const Tensor& tensor = context_.program.tensor(*start->tensor);
    if (!is_integer(tensor.type) || !tensor.shape.empty()) {
      context_.error(
          env_, DiagnosticKind::TypeMismatch, item.start->span,
          fmt::format("a start must be an integer scalar, `{}` is {}[{}]", item.start->text,
                      name(tensor.type), fmt::join(tensor.shape, ", ")),
          "compute it in a kernel: `kernel s: i64[] { s[] = ... }`");
      return false;
    }
    Atom read;
    read.kind = Atom::Kind::DataRead;
    read.tensor = *start->tensor;
    Linear linear;
    linear.terms.push_back({static_cast<int32_t>(bounds_.atoms.size()), 1});
    bounds_.atoms.push_back(std::move(read));
    keep(*size, std::move(linear), 1);
    return true;
  }

  /// The view's atoms are the output's axes, then those of the bounds.
  void finish() {
    shape_.type = context_.program.tensor(view_.input).type;
    const auto rank = static_cast<int32_t>(shape_.extents.size());
    const auto shifted = [&](Linear linear) {
      for (Term& term : linear.terms) term.atom += rank;
      return linear;
    };
    view_.atoms.resize(shape_.extents.size());
    for (Atom& atom : bounds_.atoms) {
      for (Linear& operand : atom.operands) operand = shifted(std::move(operand));
      for (Guard& guard : atom.conditions) guard.value = shifted(std::move(guard.value));
      view_.atoms.push_back(std::move(atom));
    }
    int32_t output_axis = 0;
    for (size_t i = 0; i < starts_.size(); ++i) {
      Linear subscript = shifted(starts_[i]);
      if (strides_[i] != 0) {
        subscript.terms.insert(subscript.terms.begin(), {output_axis++, strides_[i]});
      }
      view_.subscripts.push_back(std::move(subscript));
    }
    const auto output = context_.define_tensor(env_, slice_.output, std::move(shape_));
    if (!output) return;
    view_.output = *output;
    Statement statement;
    statement.body = std::move(view_);
    context_.add_statement(env_, std::move(statement), span_);
  }

  Context& context_;
  Environment& env_;
  const ast::Slice& slice_;
  Place span_;
  Kernel bounds_;  // without loops: holds the atoms of the bounds
  Nest nest_;
  View view_;
  TensorShape shape_;
  std::vector<DimValue> extents_;
  std::vector<Linear> starts_;    // of every input axis
  std::vector<int64_t> strides_;  // 0: the axis is dropped
};

}  // namespace

void Context::elaborate_slice(Environment& env, const ast::Slice& slice, Place span) {
  SliceChecker(*this, env, slice, span).run();
}

}  // namespace solar::ir

// `scatter`: every point of a nest writes to the element that its subscripts name.

#include <fmt/format.h>

#include "ir/verify/nest.h"

namespace solar::ir {
namespace {

class ScatterChecker {
 public:
  ScatterChecker(Context& context, Environment& env, const ast::Kernel& source, Place span)
      : context_(context),
        env_(env),
        source_(source),
        span_(span),
        nest_(context, env, source, scatter_.nest) {}

  void run() {
    const size_t before = context_.errors.size();
    const auto fail = [&] {
      for (const ast::Declaration& output : source_.outputs) context_.poison(env_, output.name);
    };
    if (!check_form()) return fail();
    const auto shape = context_.eval_type(env_, source_.outputs[0].type);
    if (!shape || !nest_.add_loops() || !nest_.add_lets()) return fail();
    Kernel& nest = scatter_.nest;
    nest.indexed = true;
    nest.reduction = reduction_named(source_.assign);
    nest_.add_guards();
    check_type(*shape);
    add_subscripts(*shape);
    nest.value = nest_.value(*source_.values[0], shape->type, "the value");
    add_base(*shape);
    if (context_.errors.size() != before) return fail();
    const auto output = context_.define_tensor(env_, source_.outputs[0].name, *shape);
    if (!output) return;
    nest.output = *output;
    Statement statement;
    statement.body = std::move(scatter_);
    context_.add_statement(env_, std::move(statement), span_);
  }

 private:
  bool bad(Place span, std::string message, std::string hint,
           DiagnosticKind kind = DiagnosticKind::ScatterForm) {
    context_.error(env_, kind, span, std::move(message), std::move(hint));
    return false;
  }

  bool check_form() {
    if (source_.outputs.size() != 1 || source_.targets.size() != 1 || source_.values.size() != 1) {
      return bad(source_.assign_span, "a scatter writes one tensor with one value",
                 "y[ids[i], d] += x[i,d]");
    }
    const std::string& name = source_.outputs[0].name.text;
    if (source_.targets[0].tensor.text != name) {
      return bad(source_.targets[0].tensor.span,
                 fmt::format("the scatter declares `{}` but assigns `{}`", name,
                             source_.targets[0].tensor.text),
                 "a scatter assigns the tensor that it declares", DiagnosticKind::TargetForm);
    }
    const std::string& assign = source_.assign;
    if (assign == "argmax=" || assign == "argmin=") {
      return bad(source_.assign_span, fmt::format("a scatter cannot combine with `{}`", assign),
                 "= += *= max= min= and= or=");
    }
    const ast::ExprPtr& clause = source_.init ? source_.init : source_.otherwise;
    if (clause) {
      return bad(clause->span,
                 fmt::format("a scatter takes no `{}`", source_.init ? "init" : "else"),
                 "`base` gives what the output holds where nothing is written");
    }
    for (const ast::Loop& loop : source_.loops) {
      if (loop.order == ast::Loop::Order::Any) continue;
      return bad(loop.name.span, "a scatter has no ordered loop", "leave `seq` out");
    }
    bool ok = true;
    if ((assign == "=") != source_.unique) {
      ok =
          assign == "="
              ? bad(source_.assign_span, "`=` in a scatter needs `unique`",
                    "`unique` promises that no element is written twice; it is checked when run")
              : bad(source_.unique_span, fmt::format("`unique` belongs to `=`, found `{}`", assign),
                    "leave `unique` out");
    }
    const bool from_zero = assign == "=" || assign == "+=" || assign == "or=";
    if (!from_zero && source_.base.text.empty()) {
      ok = bad(source_.assign_span, fmt::format("`{}` in a scatter needs `base`", assign),
               "`base y0` gives the values that the writes combine with");
    }
    return ok;
  }

  void check_type(const TensorShape& shape) {
    const Reduction r = scatter_.nest.reduction;
    const bool logical = r == Reduction::And || r == Reduction::Or;
    if (r == Reduction::None || logical == (shape.type == ElementType::Bool)) return;
    bad(source_.assign_span,
        fmt::format("`{}` needs {}, the tensor is {}", source_.assign,
                    logical ? "bool" : "a number", name(shape.type)),
        logical ? "declare the tensor bool" : "combine bools with and= or or=",
        DiagnosticKind::TypeMismatch);
  }

  void add_subscripts(const TensorShape& shape) {
    const ast::Target& target = source_.targets[0];
    Tensor written;  // for messages
    written.name = target.tensor.text;
    written.span = source_.outputs[0].name.span;
    const auto subscripts = nest_.subscripts(target.subscripts);
    if (!subscripts) return;
    if (subscripts->size() != shape.extents.size()) {
      bad(target.span,
          fmt::format("`{}` has {} axes, found {} subscripts", target.tensor.text,
                      shape.extents.size(), subscripts->size()),
          "one subscript for each axis", DiagnosticKind::RankMismatch);
      return;
    }
    for (size_t axis = 0; axis < subscripts->size(); ++axis) {
      const auto& [place, value] = (*subscripts)[axis];
      nest_.prove_subscript(*place, value, shape.extents[axis], axis, written);
      scatter_.subscripts.push_back(value);
    }
  }

  void add_base(const TensorShape& shape) {
    scatter_.donated = source_.donated;
    if (source_.base.text.empty()) return;
    const ast::Name& base = source_.base;
    const Binding* binding = context_.find_tensor(env_, base.text, base.span);
    if (binding != nullptr && binding->literal) {
      bad(base.span, fmt::format("`{}` is a scalar literal, not a tensor to write to", base.text),
          "store it in a kernel first");
    }
    if (binding == nullptr || !binding->tensor) return;
    scatter_.base = *binding->tensor;
    const std::vector<DimValue> extents = context_.shapes[ir::index(*scatter_.base)];
    const ElementType type = context_.program.tensor(*scatter_.base).type;
    bool same = type == shape.type && extents.size() == shape.extents.size();
    for (size_t k = 0; same && k < extents.size(); ++k) {
      same = context_.equal(shape.extents[k], extents[k], base.span);
    }
    if (same) return;
    std::vector<int64_t> own;
    for (const DimValue& extent : shape.extents) own.push_back(extent.value);
    bad(base.span,
        fmt::format("the base `{}` is {}[{}], the output is {}[{}]", base.text, name(type),
                    fmt::join(context_.program.tensor(*scatter_.base).shape, ", "),
                    name(shape.type), fmt::join(own, ", ")),
        "the base has the output's type and shape");
  }

  Context& context_;
  Environment& env_;
  const ast::Kernel& source_;
  Place span_;
  Scatter scatter_;
  Nest nest_;
};

}  // namespace

void Context::elaborate_scatter(Environment& env, const ast::Kernel& scatter, Place span) {
  ScatterChecker(*this, env, scatter, span).run();
}

}  // namespace solar::ir

// One kernel: target, reduction, coverage, ordered loops.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "ir/verify/nest.h"

namespace solar::ir {
namespace {

constexpr int64_t kMaxEnumerated = int64_t{1} << 24;

bool is_arg(Reduction reduction) {
  return reduction == Reduction::ArgMax || reduction == Reduction::ArgMin;
}

class KernelChecker {
 public:
  KernelChecker(Context& context, Environment& env, const ast::Kernel& source, Place span)
      : context_(context),
        env_(env),
        source_(source),
        span_(span),
        nest_(context, env, source, kernel_) {}

  void run() {
    if (!check_form() || !evaluate_types() || !nest_.add_loops() || !nest_.add_lets())
      return poison();
    kernel_.indexed = source_.indexed;
    kernel_.reduction = reduction_named(source_.assign);
    const size_t before = context_.errors.size();
    if (!check_target()) return poison();
    nest_.add_guards();
    if (context_.errors.size() != before) return poison();
    check_reduction();
    check_order();
    check_values();
    if (context_.errors.size() == before) check_coverage();
    if (context_.errors.size() != before) return poison();
    finish();
  }

 private:
  void error(DiagnosticKind kind, Place span, std::string message, std::string hint = {},
             Fixes fixes = {}) {
    context_.error(env_, kind, span, std::move(message), std::move(hint), {}, std::move(fixes));
  }

  void poison() {
    for (const ast::Declaration& output : source_.outputs) context_.poison(env_, output.name);
  }

  bool check_form() {
    if (!source_.base.text.empty() || source_.unique) {
      error(DiagnosticKind::ScatterForm, source_.unique ? source_.unique_span : source_.base_span,
            fmt::format("`{}` belongs to a scatter", source_.unique ? "unique" : "base"),
            "a kernel writes every element once; `scatter` writes where its subscripts say",
            change_word_before(source_.outputs.front().name.span,
                               source_.indexed ? "indexed" : "kernel", "scatter"));
      return false;
    }
    const bool arg = is_arg(reduction_named(source_.assign));
    const size_t expected = arg ? 2 : 1;
    if (source_.outputs.size() != expected || source_.targets.size() != expected ||
        source_.values.size() != expected) {
      error(DiagnosticKind::TargetForm, source_.assign_span,
            fmt::format("`{}` defines {}, found {} declared, {} assigned and {}", source_.assign,
                        counted(expected, "tensor"), source_.outputs.size(), source_.targets.size(),
                        counted(source_.values.size(), "value")),
            arg ? "v[b], ix[b] argmax= x[b,j], j" : "");
      return false;
    }
    for (size_t i = 0; i < expected; ++i) {
      if (source_.targets[i].tensor.text != source_.outputs[i].name.text) {
        error(DiagnosticKind::TargetForm, source_.targets[i].tensor.span,
              fmt::format("the kernel declares `{}` but assigns `{}`", source_.outputs[i].name.text,
                          source_.targets[i].tensor.text),
              "a kernel assigns the tensor that it declares");
        return false;
      }
    }
    return true;
  }

  bool evaluate_types() {
    for (const ast::Declaration& output : source_.outputs) {
      auto shape = context_.eval_type(env_, output.type);
      if (!shape) return false;
      shapes_.push_back(std::move(*shape));
    }
    if (shapes_.size() == 2 && shapes_[1].type != ElementType::I64) {
      error(DiagnosticKind::TypeMismatch, source_.outputs[1].type.span,
            fmt::format("the index of an arg reduction is i64, found {}", name(shapes_[1].type)),
            "declare it i64, and convert in another kernel",
            replace(source_.outputs[1].type.element.span, "i64"));
      return false;
    }
    return true;
  }

  /// The loops a target's subscripts name, -1 entries after an error.
  std::vector<int32_t> target_loops(const ast::Target& target, const TensorShape& shape) {
    std::vector<int32_t> loops;
    std::vector<const ast::Expr*> places;
    for (const ast::ExprPtr& subscript : target.subscripts) {
      if (subscript->kind == ast::ExprKind::Pack) {
        const auto* pack = nest_.pack_loops(subscript->text);
        if (pack == nullptr) {
          error(DiagnosticKind::UnknownName, subscript->span,
                fmt::format("no loop pack is called `*{}`", subscript->text));
          return {-1};
        }
        for (int32_t loop : *pack) {
          loops.push_back(loop);
          places.push_back(subscript.get());
        }
        continue;
      }
      const bool plain = subscript->kind == ast::ExprKind::Name;
      const int32_t loop = plain ? nest_.loop_named(subscript->text) : -1;
      if (loop < 0) {
        error(DiagnosticKind::TargetForm, subscript->span,
              "a target's subscript must be a plain loop variable",
              "loop over the output and invert the map on the right-hand side");
        return {-1};
      }
      if (std::find(loops.begin(), loops.end(), loop) != loops.end()) {
        error(DiagnosticKind::TargetForm, subscript->span,
              fmt::format("`{}` stands twice in the target", subscript->text),
              "loop over both axes, with `where i == j` and `else` for the rest");
        return {-1};
      }
      loops.push_back(loop);
      places.push_back(subscript.get());
    }
    if (loops.size() != shape.extents.size()) {
      error(DiagnosticKind::RankMismatch, target.span,
            fmt::format("`{}` has {} axes, found {}", target.tensor.text, shape.extents.size(),
                        counted(loops.size(), "subscript")),
            "one loop variable for each axis");
      return {-1};
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      const DimValue& extent = nest_.loop_extent(loops[i]);
      if (!context_.equal(extent, shape.extents[i], places[i]->span)) {
        error(DiagnosticKind::ShapeMismatch, places[i]->span,
              fmt::format("loop `{}` has extent {}, axis {} of `{}` has {}",
                          kernel_.loops[static_cast<size_t>(loops[i])].name, context_.text(extent),
                          i, target.tensor.text, context_.text(shape.extents[i])),
              "a target covers whole axes");
        return {-1};
      }
    }
    return loops;
  }

  bool check_target() {
    kernel_.target_loops = target_loops(source_.targets[0], shapes_[0]);
    const auto bad = [](const std::vector<int32_t>& loops) {
      return std::find(loops.begin(), loops.end(), -1) != loops.end();
    };
    if (bad(kernel_.target_loops)) return false;
    if (source_.targets.size() == 2) {
      const auto second = target_loops(source_.targets[1], shapes_[1]);
      if (bad(second)) return false;
      if (second != kernel_.target_loops) {
        error(DiagnosticKind::TargetForm, source_.targets[1].span,
              "both targets of an arg reduction must have the same subscripts",
              "v[b], ix[b] argmax= x[b,j], j");
        return false;
      }
    }
    return true;
  }

  bool is_target(size_t loop) const {
    return std::find(kernel_.target_loops.begin(), kernel_.target_loops.end(),
                     static_cast<int32_t>(loop)) != kernel_.target_loops.end();
  }

  void check_reduction() {
    if (kernel_.reduction != Reduction::None) {
      const ElementType type = shapes_[0].type;
      const bool logical =
          kernel_.reduction == Reduction::And || kernel_.reduction == Reduction::Or;
      if (logical != (type == ElementType::Bool)) {
        error(DiagnosticKind::TypeMismatch, source_.assign_span,
              fmt::format("`{}` needs {}, the tensor is {}", source_.assign,
                          logical ? "bool" : "a number", name(type)),
              logical ? "declare the tensor bool" : "reduce a bool with and= or or=");
      }
      return;
    }
    for (size_t i = 0; i < kernel_.loops.size(); ++i) {
      if (is_target(i)) continue;
      error(DiagnosticKind::NotAReduction, source_.assign_span,
            fmt::format("loop `{}` is missing from the target of `=`", kernel_.loops[i].name),
            "reduce with +=, max=, ..., or add it to the target",
            is_ordered() ? Fixes{}
                         : replace(source_.assign_span,
                                   shapes_[0].type == ElementType::Bool ? "or=" : "+="));
      return;
    }
  }

  bool is_ordered() const {
    return source_.init != nullptr ||
           std::any_of(source_.loops.begin(), source_.loops.end(),
                       [](const ast::Loop& loop) { return loop.order != ast::Loop::Order::Any; });
  }

  /// The n-th ordered loop as written.
  Place ordered_place(size_t n) const {
    for (const ast::Loop& loop : source_.loops) {
      if (loop.order != ast::Loop::Order::Any && n-- == 0) return loop.name.span;
    }
    return span_;
  }

  void check_order() {
    int ordered = -1;
    for (size_t i = 0; i < kernel_.loops.size(); ++i) {
      if (kernel_.loops[i].order == Loop::Order::Any) continue;
      const Place place = ordered_place(ordered < 0 ? 0 : 1);
      if (ordered >= 0) {
        error(DiagnosticKind::OrderedLoop, place, "a kernel has at most one ordered loop",
              "carry the second in a kernel of its own");
        return;
      }
      ordered = static_cast<int>(i);
      if (kernel_.reduction != Reduction::None) {
        error(DiagnosticKind::OrderedLoop, source_.assign_span,
              fmt::format("an ordered loop needs `=`, found `{}`", source_.assign),
              "write the operation with `prev`: `y[t] = prev + x[t]`");
      } else if (!is_target(i)) {
        error(DiagnosticKind::OrderedLoop, place, "the ordered loop must be in the target",
              "store every step, then read the last with a slice");
      } else if (!source_.init) {
        error(DiagnosticKind::OrderedLoop, place, "an ordered loop needs `init`",
              "`init` is the value of `prev` at the first step",
              insert_after(source_.values.back()->span,
                           shapes_[0].type == ElementType::Bool ? " init false" : " init 0"));
      }
    }
    ordered_ = ordered >= 0;
    if (source_.init && !ordered_ &&
        (kernel_.reduction == Reduction::None || is_arg(kernel_.reduction))) {
      error(DiagnosticKind::OrderedLoop, source_.init->span,
            fmt::format("`{}` takes no `init`", source_.assign),
            "`init` is where a reduction or an ordered loop starts; `else` is the value of skipped "
            "elements");
    }
  }

  void check_values() {
    nest_.allow_prev(ordered_, shapes_[0].type);
    kernel_.value = nest_.value(*source_.values[0], shapes_[0].type, "the value");
    if (source_.values.size() == 2) {
      kernel_.second_value = nest_.value(*source_.values[1], ElementType::I64, "the index");
    }
    nest_.allow_prev(false, shapes_[0].type);
    if (source_.init) {
      nest_.restrict_to_targets("init");
      kernel_.init = nest_.value(*source_.init, shapes_[0].type, "`init`");
    }
    if (source_.otherwise) {
      nest_.restrict_to_targets("else");
      kernel_.otherwise = nest_.value(*source_.otherwise, shapes_[0].type, "`else`");
    }
    nest_.restrict_to_targets(nullptr);
  }

  /// Every element is reached, or `else` (or `init` of a reduction) says what it is.
  void check_coverage() {
    const bool guarded = !kernel_.guards.empty() || kernel_.data_guard >= 0 || ragged();
    if (!guarded || kernel_.otherwise >= 0) return;
    const Reduction r = kernel_.reduction;
    const bool strict = r == Reduction::None || is_arg(r) ||
                        ((r == Reduction::Max || r == Reduction::Min) && kernel_.init < 0);
    if (!strict) return;
    const bool by_data = kernel_.data_guard >= 0 || ragged();
    if (!by_data && r != Reduction::None && every_element_reached()) return;
    if (!by_data && r == Reduction::None && guards_always_hold()) return;
    error(DiagnosticKind::ElseRequired, span_,
          r == Reduction::None
              ? "a guarded `=` must give `else`, the value of the elements it skips"
              : fmt::format("some element of `{}` may be reached by no point, and `{}` gives "
                            "it no value",
                            source_.outputs[0].name.text, source_.assign),
          "add `else VALUE`",
          r == Reduction::None
              ? insert_after(source_.values.back()->span,
                             shapes_[0].type == ElementType::Bool ? " else false" : " else 0")
              : Fixes{});
  }

  bool ragged() const {
    return std::any_of(kernel_.loops.begin(), kernel_.loops.end(),
                       [](const Loop& loop) { return loop.ragged != nullptr; });
  }

  bool guards_always_hold() const {
    const std::vector<Guard> none;
    const RangeProver prover(kernel_.loops, kernel_.atoms, none, context_.program.steps);
    return std::all_of(kernel_.guards.begin(), kernel_.guards.end(), [&](const Guard& guard) {
      const Interval range = prover.range(guard.value);
      return guard.kind == Guard::Kind::NonNegative ? range.low >= 0
             : guard.kind == Guard::Kind::Zero      ? range.low == 0 && range.high == 0
                                                    : range.low > 0 || range.high < 0;
    });
  }

  /// For every target element some point of the reduced loops satisfies all guards. Guards that
  /// share no loop are taken apart; within a part by enumeration, first point found; false if that
  /// is too many.
  bool every_element_reached() const {
    const std::vector<Guard> none;
    const RangeProver prover(kernel_.loops, kernel_.atoms, none, context_.program.steps);
    struct Part {
      std::vector<bool> loops;
      std::vector<const Guard*> guards;
    };
    std::vector<Part> parts;
    for (const Guard& guard : kernel_.guards) {
      const auto loops = prover.loops_of(guard);
      if (!loops) return false;
      Part joined = {*loops, {&guard}};
      for (size_t i = parts.size(); i-- > 0;) {
        bool shares = false;
        for (size_t k = 0; k < loops->size(); ++k)
          shares = shares || (parts[i].loops[k] && joined.loops[k]);
        if (!shares) continue;
        for (size_t k = 0; k < loops->size(); ++k)
          joined.loops[k] = joined.loops[k] || parts[i].loops[k];
        joined.guards.insert(joined.guards.end(), parts[i].guards.begin(), parts[i].guards.end());
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      }
      parts.push_back(std::move(joined));
    }
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return reached(prover, part.loops, part.guards); });
  }

  bool reached(const RangeProver& prover, const std::vector<bool>& involved,
               const std::vector<const Guard*>& guards) const {
    std::vector<size_t> outer;
    std::vector<size_t> inner;
    int64_t points = 1;
    for (size_t i = 0; i < involved.size(); ++i) {
      if (!involved[i]) continue;
      // A repeat's variable is fixed while the kernel runs.
      (is_target(i) || i >= kernel_.loops.size() ? outer : inner).push_back(i);
      const auto product = checked_mul(points, prover.extent(i));
      if (!product || *product > kMaxEnumerated) return false;
      points = *product;
    }
    std::vector<int64_t> point(prover.variables(), 0);
    std::vector<int64_t> values;
    const auto next = [&](const std::vector<size_t>& loops) {
      for (size_t i = loops.size(); i-- > 0;) {
        if (++point[loops[i]] < prover.extent(loops[i])) return true;
        point[loops[i]] = 0;
      }
      return false;
    };
    do {
      bool found = false;
      do {
        atom_values(kernel_.atoms, point, values);
        found = std::all_of(guards.begin(), guards.end(),
                            [&](const Guard* g) { return holds(*g, values); });
      } while (!found && next(inner));
      for (size_t i : inner) point[i] = 0;
      if (!found) return false;
    } while (next(outer));
    return true;
  }

  void finish() {
    Statement statement;
    const auto first = context_.define_tensor(env_, source_.outputs[0].name, std::move(shapes_[0]));
    std::optional<TensorId> second;
    if (source_.outputs.size() == 2) {
      second = context_.define_tensor(env_, source_.outputs[1].name, std::move(shapes_[1]));
      if (!second) return;
    }
    if (!first) return;
    kernel_.output = *first;
    kernel_.second_output = second;
    statement.body = std::move(kernel_);
    context_.add_statement(env_, std::move(statement), span_);
  }

  Context& context_;
  Environment& env_;
  const ast::Kernel& source_;
  Place span_;
  Kernel kernel_;
  Nest nest_;
  std::vector<TensorShape> shapes_;
  bool ordered_ = false;
};

}  // namespace

Reduction reduction_named(const std::string& assign) {
  static const std::map<std::string, Reduction> table = {
      {"=", Reduction::None},   {"+=", Reduction::Sum},         {"*=", Reduction::Product},
      {"max=", Reduction::Max}, {"min=", Reduction::Min},       {"and=", Reduction::And},
      {"or=", Reduction::Or},   {"argmax=", Reduction::ArgMax}, {"argmin=", Reduction::ArgMin}};
  return table.at(assign);
}

void Context::elaborate_kernel(Environment& env, const ast::Kernel& kernel, Place span) {
  KernelChecker(*this, env, kernel, span).run();
}

}  // namespace solar::ir

// Reads of tensors, and the proof that their subscripts stay inside.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/printer.h"
#include "ir/printer_text.h"
#include "ir/verify/nest.h"

namespace solar::ir {
namespace {

constexpr int64_t kMaxEnumerated = 4'000'000;

std::string point_text(const RangeProver& prover, const std::vector<bool>& involved,
                       const std::vector<int64_t>& point) {
  std::string out;
  for (size_t i = 0; i < prover.variables(); ++i) {
    if (!involved[i]) continue;
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", prover.variable_name(i), point[i]);
  }
  return out;
}

}  // namespace

bool Nest::allowed(int32_t loop) const {
  return restricted_ == nullptr ||
         std::find(kernel_.target_loops.begin(), kernel_.target_loops.end(), loop) !=
             kernel_.target_loops.end();
}

std::vector<Guard> Nest::conditions_here() const {
  std::vector<Guard> all;
  if (restricted_ == nullptr) all = kernel_.guards;
  all.insert(all.end(), path.begin(), path.end());
  return all;
}

std::optional<std::vector<std::pair<const ast::Expr*, Linear>>> Nest::subscripts(
    const std::vector<ast::ExprPtr>& written) {
  std::vector<std::pair<const ast::Expr*, Linear>> subscripts;
  subscripts.reserve(written.size());
  for (const ast::ExprPtr& subscript : written) {
    if (subscript->kind == ast::ExprKind::Pack) {
      const std::vector<int32_t>* loops = pack_loops(subscript->text);
      if (loops == nullptr) {
        error(DiagnosticKind::UnknownName, subscript->span,
              fmt::format("no loop pack is called `*{}`", subscript->text));
        return std::nullopt;
      }
      for (int32_t loop : *loops) {
        if (!allowed(loop)) {
          error(DiagnosticKind::UnknownName, subscript->span,
                fmt::format("`{}` may use only the target's loop variables, not `*{}`", restricted_,
                            subscript->text),
                "reduce it in a kernel of its own first");
          return std::nullopt;
        }
        Linear plain;
        plain.terms.push_back({loop, 1});
        subscripts.emplace_back(subscript.get(), plain);
      }
      continue;
    }
    auto value = index(*subscript);
    if (!value) return std::nullopt;
    if (!in_range(*subscript, *value)) return std::nullopt;
    subscripts.emplace_back(subscript.get(), std::move(*value));
  }
  return subscripts;
}

std::optional<int32_t> Nest::access(const ast::Expr& read) {
  for (const ast::Declaration& output : source_.outputs) {
    if (output.name.text == read.text) {
      error(DiagnosticKind::UnknownName, read.span,
            fmt::format("a {} cannot read its own output `{}`",
                        source_.scatter ? "scatter" : "kernel", read.text),
            source_.scatter ? "read the base" : "use an ordered loop and `prev` for a recurrence");
      return std::nullopt;
    }
  }
  const Binding* binding = context_.find_tensor(env_, read.text, read.span);
  if (binding == nullptr) return std::nullopt;
  if (!binding->tensor) {
    if (binding->literal) {
      error(DiagnosticKind::RankMismatch, read.span,
            fmt::format("`{}` is a scalar, it has no axes", read.text), "read it by its bare name",
            {}, replace(read.span, name_text(read.text)));
    }
    return std::nullopt;
  }
  const TensorId id = *binding->tensor;
  const std::vector<DimValue>& extents = context_.shapes[ir::index(id)];
  Access result;
  result.tensor = id;
  result.conditional = !path.empty();
  auto subscripts = this->subscripts(read.operands);
  if (!subscripts) return std::nullopt;
  if (subscripts->size() != extents.size()) {
    const Tensor& tensor = context_.program.tensor(id);
    error(DiagnosticKind::RankMismatch, read.span,
          fmt::format("`{}` has {} axes, found {}", read.text, extents.size(),
                      counted(subscripts->size(), "subscript")),
          "one subscript for each axis", {{tensor.span, "defined here"}});
    return std::nullopt;
  }
  size_t axis = 0;
  result.subscripts.reserve(subscripts->size());
  for (auto& [subscript, value] : *subscripts) {
    prove_subscript(*subscript, value, extents[axis], axis, context_.program.tensor(id));
    result.subscripts.push_back(std::move(value));
    ++axis;
  }
  kernel_.accesses.push_back(std::move(result));
  return static_cast<int32_t>(kernel_.accesses.size() - 1);
}

const DimValue* Nest::plain_extent(const Linear& value) const {
  if (value.terms.size() != 1 || value.constant != 0 || value.terms[0].coefficient != 1)
    return nullptr;
  const Atom& atom = kernel_.atoms[static_cast<size_t>(value.terms[0].atom)];
  if (atom.kind == Atom::Kind::Loop) return &loop_extent(value.terms[0].atom);
  if (atom.kind != Atom::Kind::Step) return nullptr;
  for (const auto& [name, variable] : env_.steps) {
    if (variable.step == atom.step) return &variable.extent;
  }
  return nullptr;
}

void Nest::prove_subscript(const ast::Expr& at, const Linear& value, const DimValue& extent,
                           size_t axis, const Tensor& tensor) {
  // A plain variable over the whole axis ties the two extents together.
  if (const DimValue* run = plain_extent(value); run != nullptr && run->value == extent.value) {
    context_.equal(*run, extent, at.span);
    return;
  }
  const std::vector<Guard> conditions = conditions_here();
  const RangeProver prover(kernel_.loops, kernel_.atoms, conditions, context_.program.steps);
  const Interval range = prover.range(value);
  if (range.low >= 0 && range.high < extent.value) return;
  const auto involved = prover.loops_of(value);
  if (!involved) return;  // depends on data: checked when run
  const auto exact = prover.enumerate(value, kMaxEnumerated);
  const std::string subscript = to_text(at);
  // The dims of the program are not known in its functions.
  const bool in_function = env_.caller != nullptr;
  const std::string guard =
      fmt::format("0 <= {} < {}", subscript, context_.table.text(extent.expr));
  const std::string guard_hint =
      in_function ? fmt::format("guard it, so that `{}` stays on axis {}", subscript, axis)
                  : fmt::format("guard it: `where {}`", guard);
  const std::vector<Label> labels = {{tensor.span, "defined here"}};
  const std::string axis_text =
      fmt::format("axis {} of `{}` has extent {}", axis, tensor.name, context_.text(extent));
  if (!exact) {
    error(DiagnosticKind::SubscriptRange, at.span,
          fmt::format("`{}` may leave its axis: it is in [{}, {}], {}", subscript, range.low,
                      range.high, axis_text),
          guard_hint, labels, add_guard(at, guard));
    return;
  }
  if (exact->interval.low > exact->interval.high) return;  // no point is reached
  if (exact->interval.low >= 0 && exact->interval.high < extent.value) return;
  const bool high = exact->interval.high >= extent.value;
  const std::vector<int64_t>& point = high ? exact->high_point : exact->low_point;
  const std::string where = point_text(prover, *involved, point);
  error(DiagnosticKind::SubscriptRange, at.span,
        fmt::format("`{}` reaches {}{}, but {}", subscript,
                    high ? exact->interval.high : exact->interval.low,
                    where.empty() ? "" : fmt::format(" (at {})", where), axis_text),
        involved->empty() ? "it is the same at every point: change it, or the dims it comes from"
                          : guard_hint,
        labels, involved->empty() ? Fixes{} : add_guard(at, guard));
}

Fixes Nest::make_indexed() const {
  return change_word_before(source_.outputs.front().name.span, "kernel", "indexed");
}

Fixes Nest::add_guard(const ast::Expr& at, const std::string& guard) const {
  // Of what the target, a `let` or another guard reads, a guard may come too late. A plain variable
  // that leaves its axis is more likely the wrong one.
  const bool in_value =
      restricted_ == nullptr && env_.caller == nullptr && at.span.begin > source_.assign_span.end;
  if (!in_value || at.kind == ast::ExprKind::Name) return {};
  if (!source_.guards.empty()) return insert_after(source_.guards.back()->span, ", " + guard);
  const Place target = source_.targets.front().span;
  return {{Place{target.source, target.begin, target.begin}, fmt::format("where {}   ", guard),
           FixConfidence::Maybe}};
}

}  // namespace solar::ir

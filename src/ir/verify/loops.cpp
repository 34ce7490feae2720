#include <fmt/format.h>

#include <set>

#include "ir/verify/nest.h"

namespace solar::ir {
namespace {

Loop::Order order_of(ast::Loop::Order order) {
  switch (order) {
    case ast::Loop::Order::Ascending:
      return Loop::Order::Ascending;
    case ast::Loop::Order::Descending:
      return Loop::Order::Descending;
    default:
      return Loop::Order::Any;
  }
}

/// The first bare name of `names` in an expression.
const ast::Expr* first_use(const ast::Expr& expr, const std::set<std::string>& names) {
  if (expr.kind == ast::ExprKind::Name) return names.contains(expr.text) ? &expr : nullptr;
  for (const ast::ExprPtr& operand : expr.operands) {
    if (const ast::Expr* found = first_use(*operand, names)) return found;
  }
  return nullptr;
}

}  // namespace

int32_t Nest::loop_named(const std::string& name) const {
  const auto at = loops_.find(name);
  return at == loops_.end() ? -1 : at->second;
}

const std::vector<int32_t>* Nest::pack_loops(const std::string& name) const {
  const auto at = packs_.find(name);
  return at == packs_.end() ? nullptr : &at->second;
}

bool Nest::add_loops() {
  bool ok = true;
  kernel_.loops.reserve(source_.loops.size());
  kernel_.atoms.reserve(source_.loops.size());
  extents_.reserve(source_.loops.size());
  const auto push = [&](const std::string& name, const DimValue& extent, Loop::Order order) {
    Atom loop_atom;
    kernel_.atoms.push_back(loop_atom);
    kernel_.loops.push_back({name, extent.value, order, context_.table.text(extent.expr)});
    extents_.push_back(extent);
    return static_cast<int32_t>(kernel_.loops.size() - 1);
  };
  for (const ast::Loop& loop : source_.loops) {
    const std::string& name = loop.name.text;
    if (loops_.contains(name) || packs_.contains(name) || env_.dims.contains(name) ||
        env_.steps.contains(name)) {
      error(DiagnosticKind::DuplicateName, loop.name.span,
            fmt::format("`{}` is already {}", name,
                        env_.dims.contains(name)    ? "a dim"
                        : env_.steps.contains(name) ? "the variable of a repeat around it"
                                                    : "a loop of this kernel"),
            "rename the loop variable");
      ok = false;
      continue;
    }
    if (loop.pack) {
      const auto at = env_.packs.find(loop.extent->text);
      if (at == env_.packs.end()) {
        error(DiagnosticKind::UnknownName, loop.extent->span,
              fmt::format("no dim pack is called `*{}`", loop.extent->text),
              "a pack is declared by a function: `fn f<*L>(x: f32[*L])`");
        ok = false;
        continue;
      }
      std::vector<int32_t> indices;
      for (size_t i = 0; i < at->second.size(); ++i) {
        indices.push_back(push(name + std::to_string(i), at->second[i], Loop::Order::Any));
      }
      packs_[name] = std::move(indices);
      continue;
    }
    const auto extent = context_.eval_extent(env_, *loop.extent);
    if (!extent) {
      ok = false;
      continue;
    }
    loops_[name] = push(name, *extent, order_of(loop.order));
  }
  return ok && add_ragged_ranges();
}

/// Once all loops have their atoms.
bool Nest::add_ragged_ranges() {
  bool ok = true;
  const auto bound = [&](const ast::Expr& expr) -> std::optional<Linear> {
    if (!is_index(expr)) {
      error(DiagnosticKind::RaggedLoop, expr.span,
            "the ends of a loop's range must be index expressions",
            "loops before it, dims, integers and reads of integer tensors");
      return std::nullopt;
    }
    const auto value = index(expr);
    return value && in_range(expr, *value) ? value : std::nullopt;
  };
  for (const ast::Loop& loop : source_.loops) {
    if (!loop.begin) continue;
    if (!source_.indexed || loop.order != ast::Loop::Order::Any) {
      error(DiagnosticKind::RaggedLoop, loop.name.span,
            source_.indexed ? "an ordered loop cannot run over a range of its own"
                            : "a loop of a `kernel` cannot run over a range of its own",
            source_.indexed ? "leave `seq` out" : "use an `indexed` block, or a guard", {},
            source_.indexed ? Fixes{} : make_indexed());
      ok = false;
      continue;
    }
    const int32_t id = loops_.at(loop.name.text);
    visible_loops_ = id;
    const auto begin = bound(*loop.begin);
    const auto end = bound(*loop.end);
    visible_loops_ = INT32_MAX;
    ok = ok && begin && end;
    if (begin && end)
      kernel_.loops[static_cast<size_t>(id)].ragged =
          std::make_shared<const RaggedRange>(RaggedRange{*begin, *end});
  }
  return ok;
}

bool Nest::add_lets() {
  std::set<std::string> later;
  for (const ast::Let& let : source_.lets) later.insert(let.name.text);
  for (const ast::Let& let : source_.lets) {
    if (loops_.contains(let.name.text) || lets_.contains(let.name.text) ||
        env_.dims.contains(let.name.text) || env_.steps.contains(let.name.text)) {
      error(DiagnosticKind::DuplicateName, let.name.span,
            fmt::format("`{}` is already defined in this kernel", let.name.text),
            "rename the abbreviation");
      return false;
    }
    if (const ast::Expr* early = first_use(*let.value, later)) {
      error(DiagnosticKind::UnknownName, early->span,
            fmt::format("the abbreviation `{}` is used before it is defined", early->text),
            "a `let` uses only those before it");
      return false;
    }
    later.erase(let.name.text);
    lets_[let.name.text] = let.value.get();
  }
  return true;
}

void Nest::add_guards() {
  const auto tests_data = [&](const ast::Expr& guard) {
    return source_.indexed && (!is_index_condition(guard) || reads_tensor(guard));
  };
  for (const ast::ExprPtr& guard : source_.guards) {
    if (tests_data(*guard)) continue;
    if (const auto guards = conditions(*guard)) {
      kernel_.guards.insert(kernel_.guards.end(), guards->begin(), guards->end());
    }
  }
  // Data is tested only where the index guards hold; several tests are combined.
  for (const ast::ExprPtr& guard : source_.guards) {
    if (tests_data(*guard)) {
      const auto condition = scalar(*guard);
      if (!condition) continue;
      if (condition->node < 0 || type_of(*condition) != ElementType::Bool) {
        error(DiagnosticKind::GuardForm, guard->span,
              "a guard must be a comparison or a bool value", "compare it: `!= 0`");
        continue;
      }
      if (kernel_.data_guard < 0) {
        kernel_.data_guard = condition->node;
      } else {
        kernel_.data_guard = node({.op = ScalarOp::And,
                                   .type = ElementType::Bool,
                                   .a = kernel_.data_guard,
                                   .b = condition->node});
      }
    }
  }
}

}  // namespace solar::ir

// Index expressions: integers, affine in the loop variables, with // % min max select.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/verify/nest.h"

namespace solar::ir {
namespace {

constexpr int64_t kMaxCoefficient = int64_t{1} << 60;

bool within_limit(int64_t value) { return value > -kMaxCoefficient && value < kMaxCoefficient; }

Linear constant_linear(int64_t value) {
  Linear result;
  result.constant = value;
  return result;
}

}  // namespace

int32_t Nest::atom(Atom atom) {
  const auto at =
      std::find(kernel_.atoms.begin() + static_cast<std::ptrdiff_t>(kernel_.loops.size()),
                kernel_.atoms.end(), atom);
  if (at != kernel_.atoms.end()) return static_cast<int32_t>(at - kernel_.atoms.begin());
  kernel_.atoms.push_back(std::move(atom));
  return static_cast<int32_t>(kernel_.atoms.size() - 1);
}

/// One that an index expression may read.
bool Nest::is_integer_tensor(const std::string& name) const {
  if (!source_.indexed) return false;
  const auto at = env_.tensors.find(name);
  return at != env_.tensors.end() && at->second.tensor &&
         is_integer(context_.program.tensor(*at->second.tensor).type);
}

bool Nest::is_index(const ast::Expr& expr) const {
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      return true;
    case ast::ExprKind::Name: {
      if (loops_.contains(expr.text) || env_.steps.contains(expr.text)) return true;
      const auto let = lets_.find(expr.text);
      if (let != lets_.end()) {
        return remember(let_is_index_, expr.text, [&] { return is_index(*let->second); });
      }
      if (env_.dims.contains(expr.text) || env_.poisoned_dims.contains(expr.text)) return true;
      return is_integer_tensor(expr.text);
    }
    case ast::ExprKind::Read:
      return is_integer_tensor(expr.text);
    case ast::ExprKind::Unary:
      return expr.text == "-" && is_index(*expr.operands[0]);
    case ast::ExprKind::Binary:
      return (expr.text == "+" || expr.text == "-" || expr.text == "*" || expr.text == "//" ||
              expr.text == "%") &&
             is_index(*expr.operands[0]) && is_index(*expr.operands[1]);
    case ast::ExprKind::Call:
      if (expr.text == "min" || expr.text == "max") {
        return !expr.operands.empty() &&
               std::all_of(expr.operands.begin(), expr.operands.end(),
                           [&](const ast::ExprPtr& e) { return is_index(*e); });
      }
      return expr.text == "select" && expr.operands.size() == 3 &&
             is_index_condition(*expr.operands[0]) && is_index(*expr.operands[1]) &&
             is_index(*expr.operands[2]);
    default:
      return false;
  }
}

bool Nest::has_loop(const ast::Expr& expr) const {
  if (expr.kind == ast::ExprKind::Name) {
    if (loops_.contains(expr.text) || env_.steps.contains(expr.text)) return true;
    const auto let = lets_.find(expr.text);
    return let != lets_.end() &&
           remember(let_has_loop_, expr.text, [&] { return has_loop(*let->second); });
  }
  if (expr.kind == ast::ExprKind::Read) return false;
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const ast::ExprPtr& e) { return has_loop(*e); });
}

bool Nest::reads_tensor(const ast::Expr& expr) const {
  if (expr.kind == ast::ExprKind::Read) return true;
  if (expr.kind == ast::ExprKind::Name && !loops_.contains(expr.text) &&
      !env_.steps.contains(expr.text)) {
    const auto let = lets_.find(expr.text);
    if (let != lets_.end()) {
      return remember(let_reads_, expr.text, [&] { return reads_tensor(*let->second); });
    }
    return !env_.dims.contains(expr.text) && env_.tensors.contains(expr.text);
  }
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const ast::ExprPtr& e) { return reads_tensor(*e); });
}

bool Nest::is_index_condition(const ast::Expr& expr) const {
  if (expr.kind == ast::ExprKind::Binary && expr.text == "and") {
    return is_index_condition(*expr.operands[0]) && is_index_condition(*expr.operands[1]);
  }
  return expr.kind == ast::ExprKind::Chain &&
         std::all_of(expr.operands.begin(), expr.operands.end(),
                     [&](const ast::ExprPtr& e) { return is_index(*e); });
}

std::optional<Linear> Nest::index(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      return constant_linear(expr.integer);
    case ast::ExprKind::Name:
      return index_name(expr);
    case ast::ExprKind::Unary:
      if (expr.text == "-") {
        const auto inner = index(*expr.operands[0]);
        return inner ? scale(expr, *inner, -1) : std::nullopt;
      }
      break;
    case ast::ExprKind::Binary:
      return index_binary(expr);
    case ast::ExprKind::Call:
      return index_call(expr);
    case ast::ExprKind::Read:
      return index_read(expr);
    default:
      break;
  }
  error(DiagnosticKind::IndexForm, expr.span, "expected an index expression",
        "loop variables, dims and integers with + - * // % min max select");
  return std::nullopt;
}

std::optional<Linear> Nest::index_name(const ast::Expr& expr) {
  const int32_t loop = loop_named(expr.text);
  if (loop >= 0) {
    if (loop >= visible_loops_) {
      error(DiagnosticKind::RaggedLoop, expr.span,
            fmt::format("the range of a loop may use only loops before it, not `{}`", expr.text),
            "write that loop first");
      return std::nullopt;
    }
    if (!allowed(loop)) {
      error(DiagnosticKind::UnknownName, expr.span,
            fmt::format("`{}` may use only the target's loop variables, not `{}`", restricted_,
                        expr.text),
            "reduce it in a kernel of its own first");
      return std::nullopt;
    }
    Linear result;
    result.terms.push_back({loop, 1});
    return result;
  }
  const auto step = env_.steps.find(expr.text);
  if (step != env_.steps.end()) {
    Atom variable;
    variable.kind = Atom::Kind::Step;
    variable.step = step->second.step;
    Linear result;
    result.terms.push_back({atom(std::move(variable)), 1});
    return result;
  }
  const auto let = lets_.find(expr.text);
  if (let != lets_.end()) {
    if (restricted_ != nullptr) {
      error(DiagnosticKind::UnknownName, expr.span,
            fmt::format("`{}` may not use the abbreviation `{}`", restricted_, expr.text));
      return std::nullopt;
    }
    const auto key = std::make_pair(expr.text, path_id_);
    const auto known = let_indices_.find(key);
    if (known != let_indices_.end()) return known->second;
    const auto result = index(*let->second);
    let_indices_[key] = result;
    return result;
  }
  if (env_.dims.contains(expr.text) || env_.poisoned_dims.contains(expr.text)) {
    const auto value = context_.eval_dim(env_, expr);
    if (!value) return std::nullopt;
    return constant_linear(value->value);
  }
  const auto tensor = env_.tensors.find(expr.text);
  if (tensor != env_.tensors.end()) {
    if (tensor->second.tensor && source_.indexed) return index_read(expr);
    if (!tensor->second.tensor && !tensor->second.literal) return std::nullopt;  // reported before
    error(DiagnosticKind::IndexForm, expr.span,
          fmt::format("`{}` is a tensor, a subscript of a `kernel` must not depend on data",
                      expr.text),
          "use an `indexed` block", {}, make_indexed());
    return std::nullopt;
  }
  std::vector<std::string> known;
  for (const auto& [name, index] : loops_) known.push_back(name);
  for (const auto& [name, variable] : env_.steps) known.push_back(name);
  for (const auto& [name, value] : env_.dims) known.push_back(name);
  const auto near = nearest_names(expr.text, known);
  error(DiagnosticKind::UnknownName, expr.span,
        fmt::format("no loop variable or dim is called `{}`", expr.text),
        near.empty() ? fmt::format("write its loop: `for {}:EXTENT`", expr.text)
                     : fmt::format("did you mean {}?", quoted_choices(near)),
        {}, rename(expr.text, expr.span, near));
  return std::nullopt;
}

std::optional<Linear> Nest::add(const ast::Expr& at, const Linear& a, const Linear& b,
                                int64_t sign) {
  Linear result;
  bool ok = true;
  const auto sum = [&](int64_t x, int64_t y) {
    const auto scaled = checked_mul(y, sign);
    const auto total = scaled ? checked_add(x, *scaled) : std::nullopt;
    ok = ok && total && within_limit(*total);
    return ok ? *total : 0;
  };
  result.constant = sum(a.constant, b.constant);
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    Term term;
    if (j == b.terms.end() || (i != a.terms.end() && i->atom < j->atom)) {
      term = *i++;
    } else if (i == a.terms.end() || j->atom < i->atom) {
      term = {j->atom, sum(0, j->coefficient)};
      ++j;
    } else {
      term = {i->atom, sum(i->coefficient, j->coefficient)};
      ++i;
      ++j;
    }
    if (term.coefficient != 0) result.terms.push_back(term);
  }
  if (!ok) {
    error(DiagnosticKind::CountOverflow, at.span, "the index expression exceeds 2^60",
          "bind smaller dims");
    return std::nullopt;
  }
  return result;
}

std::optional<Linear> Nest::scale(const ast::Expr& at, const Linear& a, int64_t factor) {
  if (factor == 0) return Linear{};
  Linear result = a;
  const auto multiply = [&](int64_t& value) {
    const auto product = checked_mul(value, factor);
    if (!product || !within_limit(*product)) return false;
    value = *product;
    return true;
  };
  bool ok = multiply(result.constant);
  for (Term& term : result.terms) ok = ok && multiply(term.coefficient);
  if (!ok) {
    error(DiagnosticKind::CountOverflow, at.span, "the index expression exceeds 2^60",
          "bind smaller dims");
    return std::nullopt;
  }
  return result;
}

std::optional<Linear> Nest::divide(const ast::Expr& at, const Linear& a, int64_t divisor,
                                   bool modulo) {
  if (divisor <= 0) {
    error(DiagnosticKind::IndexForm, at.span,
          fmt::format("the divisor of `{}` in a subscript is {}, it must be positive",
                      modulo ? "%" : "//", divisor),
          "change the dims it comes from");
    return std::nullopt;
  }
  if (!in_range(at, a)) return std::nullopt;
  // Terms that divide exactly leave the quotient linear; the rest keeps its form, which guards
  // match.
  Linear quotient;
  Linear rest;
  for (const Term& term : a.terms) {
    if (term.coefficient % divisor == 0) {
      quotient.terms.push_back({term.atom, term.coefficient / divisor});
    } else {
      rest.terms.push_back(term);
    }
  }
  rest.constant = a.constant;
  const std::vector<Guard> none;  // the guards do not hold in `init` and `else`
  const RangeProver prover(kernel_.loops, kernel_.atoms,
                           restricted_ == nullptr ? kernel_.guards : none, context_.program.steps);
  const Interval inside = prover.range(rest);
  if (floor_div(inside.low, divisor) == floor_div(inside.high, divisor) &&
      inside.low > -kUnbounded && inside.high < kUnbounded) {
    const int64_t whole = floor_div(inside.low, divisor);
    if (!modulo) {
      quotient.constant = whole;
      return quotient;
    }
    rest.constant -= whole * divisor;
    return rest;
  }
  Atom divided;
  divided.kind = modulo ? Atom::Kind::Mod : Atom::Kind::FloorDiv;
  divided.divisor = divisor;
  divided.operands = {modulo ? a : rest};
  Linear term;
  term.terms.push_back({atom(std::move(divided)), 1});
  return modulo ? std::optional<Linear>(term) : add(at, quotient, term, 1);
}

std::optional<Linear> Nest::index_binary(const ast::Expr& expr) {
  const auto a = index(*expr.operands[0]);
  const auto b = index(*expr.operands[1]);
  if (!a || !b) return std::nullopt;
  if (expr.text == "+") return add(expr, *a, *b, 1);
  if (expr.text == "-") return add(expr, *a, *b, -1);
  if (expr.text == "*") {
    if (b->terms.empty()) return scale(expr, *a, b->constant);
    if (a->terms.empty()) return scale(expr, *b, a->constant);
    error(DiagnosticKind::IndexForm, expr.span, "a product of two loop variables is not affine",
          "one factor must be a dim or an integer");
    return std::nullopt;
  }
  if (expr.text == "//" || expr.text == "%") {
    if (!b->terms.empty()) {
      error(DiagnosticKind::IndexForm, expr.operands[1]->span,
            "the divisor in a subscript must be a dim or an integer",
            "a loop variable cannot divide");
      return std::nullopt;
    }
    return divide(expr, *a, b->constant, expr.text == "%");
  }
  error(DiagnosticKind::IndexForm, expr.span,
        fmt::format("`{}` may not stand in an index expression", expr.text),
        expr.text == "/" ? "write `//` for the quotient rounded down" : "", {},
        expr.text == "/" ? change_operator(expr, "//") : Fixes{});
  return std::nullopt;
}

std::optional<Linear> Nest::index_call(const ast::Expr& expr) {
  Atom result;
  if ((expr.text == "min" || expr.text == "max") && expr.operands.size() >= 2) {
    result.kind = expr.text == "min" ? Atom::Kind::Min : Atom::Kind::Max;
    for (const ast::ExprPtr& operand : expr.operands) {
      const auto value = index(*operand);
      if (!value || !in_range(*operand, *value)) return std::nullopt;
      result.operands.push_back(*value);
    }
    if (std::all_of(result.operands.begin(), result.operands.end(),
                    [](const Linear& l) { return l.terms.empty(); })) {
      int64_t best = result.operands[0].constant;
      for (const Linear& l : result.operands) {
        best = expr.text == "min" ? std::min(best, l.constant) : std::max(best, l.constant);
      }
      return constant_linear(best);
    }
  } else if (expr.text == "select" && expr.operands.size() == 3) {
    auto when = conditions(*expr.operands[0]);
    const auto a = index(*expr.operands[1]);
    const auto b = index(*expr.operands[2]);
    if (!when || !a || !b) return std::nullopt;
    if (!in_range(*expr.operands[1], *a) || !in_range(*expr.operands[2], *b)) return std::nullopt;
    result.kind = Atom::Kind::Select;
    result.conditions = std::move(*when);
    result.operands = {*a, *b};
  } else {
    error(DiagnosticKind::IndexForm, expr.span,
          fmt::format("`{}` with {} arguments may not stand in an index expression", expr.text,
                      expr.operands.size()),
          "min(a, b), max(a, b) and select(condition, a, b) may");
    return std::nullopt;
  }
  Linear term;
  term.terms.push_back({atom(std::move(result)), 1});
  return term;
}

std::optional<Linear> Nest::index_read(const ast::Expr& expr) {
  if (!source_.indexed) {
    error(DiagnosticKind::IndexForm, expr.span,
          fmt::format("a subscript of a `kernel` must not depend on the data of `{}`", expr.text),
          "use an `indexed` block", {}, make_indexed());
    return std::nullopt;
  }
  const auto at = access(expr);
  if (!at) return std::nullopt;
  const Access& read = kernel_.accesses[static_cast<size_t>(*at)];
  const Tensor& tensor = context_.program.tensor(read.tensor);
  if (!is_integer(tensor.type)) {
    error(DiagnosticKind::TypeMismatch, expr.span,
          fmt::format("`{}` is {}, a subscript must be an integer", expr.text, name(tensor.type)),
          "convert it in a kernel first: `i64(...)`");
    return std::nullopt;
  }
  Atom data;
  data.kind = Atom::Kind::DataRead;
  data.tensor = read.tensor;
  data.operands = read.subscripts;
  kernel_.accesses.erase(kernel_.accesses.begin() + *at);  // the atom holds the read
  Linear term;
  term.terms.push_back({atom(std::move(data)), 1});
  return term;
}

bool Nest::reads_data(const Linear& value) const {
  const RangeProver prover(kernel_.loops, kernel_.atoms, kernel_.guards, context_.program.steps);
  return !prover.loops_of(value).has_value();
}

bool Nest::in_range(const ast::Expr& at, const Linear& value) {
  if (const DimValue* run = plain_extent(value); run != nullptr && run->value < kUnbounded)
    return true;
  const std::vector<Guard> none;
  const RangeProver prover(kernel_.loops, kernel_.atoms, none, context_.program.steps);
  const Interval range = prover.range(value);
  if ((range.low > -kUnbounded && range.high < kUnbounded) || reads_data(value)) return true;
  error(DiagnosticKind::CountOverflow, at.span, "the index expression exceeds 2^60",
        "bind smaller dims");
  return false;
}

std::optional<std::vector<Guard>> Nest::conditions(const ast::Expr& chain) {
  std::vector<Guard> guards;
  if (chain.kind == ast::ExprKind::Binary && chain.text == "and") {
    auto a = conditions(*chain.operands[0]);
    const auto b = conditions(*chain.operands[1]);
    if (!a || !b) return std::nullopt;
    a->insert(a->end(), b->begin(), b->end());
    return a;
  }
  if (chain.kind != ast::ExprKind::Chain) {
    error(DiagnosticKind::GuardForm, chain.span,
          "a guard must be a comparison of index expressions",
          "guards with commas between them must all hold; `or` and conditions on data go into "
          "select(...)");
    return std::nullopt;
  }
  std::vector<Linear> values;
  for (const ast::ExprPtr& operand : chain.operands) {
    if (!is_index(*operand) && operand->kind != ast::ExprKind::Name) {
      error(DiagnosticKind::GuardForm, operand->span,
            "a guard must compare index expressions, not data",
            source_.indexed ? "" : "put a data condition into select(...), or use `indexed`");
      return std::nullopt;
    }
    const auto value = index(*operand);
    if (!value || !in_range(*operand, *value)) return std::nullopt;
    values.push_back(*value);
  }
  const std::vector<std::string_view> operators = ast::chain_operators(chain);
  for (size_t i = 0; i < operators.size(); ++i) {
    const std::string_view op = operators[i];
    const bool swap = op == "<" || op == "<=";
    auto difference =
        swap ? add(chain, values[i + 1], values[i], -1) : add(chain, values[i], values[i + 1], -1);
    if (!difference) return std::nullopt;
    if (op == "<" || op == ">") difference->constant -= 1;
    const auto kind = op == "=="   ? Guard::Kind::Zero
                      : op == "!=" ? Guard::Kind::NonZero
                                   : Guard::Kind::NonNegative;
    guards.push_back({kind, *difference});
  }
  return guards;
}

}  // namespace solar::ir

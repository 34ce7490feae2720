// Terms in normal form, and which of them are alike.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "algebra/terms.h"
#include "einsum/linear.h"

namespace solar::algebra {
namespace {

constexpr double kNothing = 1e-12;  // of what was added up: rounding of 1 / n

/// Prints expressions with names for loops; summed loops are told apart by extent only, or, in the
/// second pass, by the order in which they appear.
class KeyText {
 public:
  KeyText(const Term& term, bool numbered) : term_(term), numbered_(numbered) {}

  std::string linear(const Linear& value) {
    std::vector<std::string> parts;
    for (const ir::Term& t : value.terms)
      parts.push_back(fmt::format("{}{}", t.coefficient, atom(t.atom)));
    if (!numbered_) std::sort(parts.begin(), parts.end());
    return fmt::format("{}+{}", fmt::join(parts, "+"), value.constant);
  }

  std::string guard(const Guard& guard) {
    return fmt::format("?{}{}", static_cast<int>(guard.kind), linear(guard.value));
  }

  std::string expr(const Expr& e) {
    std::string text = fmt::format("({},{}", static_cast<int>(e.op), static_cast<int>(e.type));
    if (e.op == ir::ScalarOp::Constant) text += fmt::format(",{},{}", e.constant, e.integer);
    if (e.op == ir::ScalarOp::Index) text += "," + linear(e.index);
    if (e.op == ir::ScalarOp::Load) {
      text += fmt::format(",v{}[", ir::index(e.tensor));
      for (const Linear& subscript : e.subscripts) text += linear(subscript) + ";";
      text += "]";
    }
    for (const ExprPtr& child : {e.a, e.b, e.c}) {
      if (child != nullptr) text += expr(*child);
    }
    return text + ")";
  }

 private:
  std::string atom(int32_t id) {
    if (id < term_.targets) return fmt::format("t{}", id);
    if (id < term_.nest.loop_count()) {
      const int64_t extent = term_.loops[static_cast<size_t>(id)].extent;
      if (!numbered_) return fmt::format("r:{}", extent);
      const auto [at, fresh] = numbers_.emplace(id, numbers_.size());
      return fmt::format("r{}:{}", at->second, extent);
    }
    const ir::Atom& atom = term_.nest.atom(id);
    std::string text = fmt::format("<{},{}", static_cast<int>(atom.kind), atom.divisor);
    for (const Linear& operand : atom.operands) text += "," + linear(operand);
    for (const Guard& condition : atom.conditions) text += guard(condition);
    return text + ">";
  }

  const Term& term_;
  bool numbered_;
  std::map<int32_t, size_t> numbers_ = {};
};

/// False: no point is left.
bool drop_guards(Term& term) {
  std::vector<Guard> kept;
  for (const Guard& guard : term.guards) {
    const einsum::Range range = term.nest.range(guard.value);
    switch (guard.kind) {
      case Guard::Kind::NonNegative:
        if (range.high < 0) return false;
        if (range.low >= 0) continue;
        break;
      case Guard::Kind::Zero:
        if (range.low > 0 || range.high < 0) return false;
        if (range.low == 0 && range.high == 0) continue;
        break;
      case Guard::Kind::NonZero:
        if (range.low > 0 || range.high < 0) continue;
        break;
    }
    if (std::find(kept.begin(), kept.end(), guard) == kept.end()) kept.push_back(guard);
  }
  term.guards = std::move(kept);
  return true;
}

void sum_free_loops(Term& term) {
  LoopMask used = 0;
  for (const ExprPtr& factor : term.factors) used |= support(term.nest, *factor);
  for (const Guard& guard : term.guards) used |= term.nest.support(guard);
  for (int32_t i = term.targets; i < term.nest.loop_count(); ++i) {
    const LoopMask bit = einsum::loop_bit(i);
    if ((term.active & bit) == 0 || (used & bit) != 0) continue;
    term.coefficient *= static_cast<double>(term.loops[static_cast<size_t>(i)].extent);
    term.active &= ~bit;
  }
}

}  // namespace

std::string key_of(const Term& term) {
  KeyText rough(term, false);
  std::vector<std::pair<std::string, const Expr*>> factors;
  for (const ExprPtr& factor : term.factors)
    factors.emplace_back(rough.expr(*factor), factor.get());
  std::vector<std::pair<std::string, const Guard*>> guards;
  for (const Guard& guard : term.guards) guards.emplace_back(rough.guard(guard), &guard);
  const auto by_text = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(factors.begin(), factors.end(), by_text);
  std::stable_sort(guards.begin(), guards.end(), by_text);
  KeyText exact(term, true);
  std::string key;
  for (const auto& [text, factor] : factors) key += exact.expr(*factor);
  for (const auto& [text, guard] : guards) key += exact.guard(*guard);
  // Summed loops that appear in guards or factors have their numbers; the others are gone.
  return key;
}

void simplify(std::vector<Term>& terms, bool& cancelled) {
  std::vector<Term> kept;
  std::vector<double> sizes;
  std::map<std::string, size_t> places;
  for (Term& term : terms) {
    if (!drop_guards(term)) continue;
    sum_free_loops(term);
    if (term.coefficient == 0) continue;
    const double size = std::abs(term.coefficient);
    const auto [at, fresh] = places.emplace(key_of(term), kept.size());
    if (fresh) {
      kept.push_back(std::move(term));
      sizes.push_back(size);
    } else {
      kept[at->second].coefficient += term.coefficient;
      sizes[at->second] += size;
    }
  }
  terms.clear();
  for (size_t i = 0; i < kept.size(); ++i) {
    if (std::abs(kept[i].coefficient) <= kNothing * sizes[i]) {
      cancelled = true;
      continue;
    }
    terms.push_back(std::move(kept[i]));
  }
}

}  // namespace solar::algebra

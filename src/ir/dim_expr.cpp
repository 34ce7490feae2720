#include "ir/dim_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/checked.h"

namespace solar::ir {
namespace {

// Coefficients that overflow cannot be told apart from others, which only loses an equality.
void accumulate(DimTerms& into, const Monomial& monomial, int64_t coefficient) {
  const auto at = into.try_emplace(monomial, 0).first;
  at->second = saturating_add(at->second, coefficient);
  if (at->second == 0) into.erase(at);
}

constexpr int64_t kMaxSize = 300'000;
constexpr std::string_view kTooLarge = "?";  // no name of the language

int64_t written_size(const DimExpr& expr) {
  return expr.polynomial == nullptr ? 0 : expr.polynomial->size;
}

}  // namespace

const DimTerms& DimExpr::terms() const {
  static const DimTerms zero;
  return polynomial == nullptr ? zero : polynomial->terms;
}

int64_t DimExpr::constant() const {
  const auto at = terms().find({});
  return at == terms().end() ? 0 : at->second;
}

DimExpr DimTable::intern(DimTerms terms) {
  if (terms.empty()) return {};
  int64_t size = 0;
  for (const auto& [monomial, coefficient] : terms) size += 1 + size_of(monomial);
  return {&*polynomials_.insert(DimPolynomial{std::move(terms), size, {}}).first};
}

int64_t DimTable::size_of(const Monomial& monomial) const {
  int64_t size = 0;
  for (const int32_t id : monomial) {
    const Atom& atom = atoms_[static_cast<size_t>(id)];
    size += 1 + written_size(atom.a) + written_size(atom.b);
  }
  return size;
}

DimExpr DimTable::too_large() { return variable(fmt::format("{}{}", kTooLarge, atoms_.size())); }

bool DimTable::is_too_large(const DimExpr& expr) const {
  const auto name = as_variable(expr);
  return name && name->starts_with(kTooLarge);
}

DimExpr DimTable::term(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return {};
  return intern({{monomial, coefficient}});
}

DimExpr DimTable::constant(int64_t value) {
  const auto [at, fresh] = constants_.try_emplace(value);
  if (fresh) at->second = term({}, value);
  return at->second;
}

DimExpr DimTable::atom_expr(Atom atom) {
  auto at = std::find(atoms_.begin(), atoms_.end(), atom);
  if (at == atoms_.end()) {
    atoms_.push_back(std::move(atom));
    at = atoms_.end() - 1;
  }
  return term({static_cast<int32_t>(at - atoms_.begin())}, 1);
}

DimExpr DimTable::variable(const std::string& name) {
  const auto [at, fresh] = variable_ids_.try_emplace(name, static_cast<int32_t>(atoms_.size()));
  if (fresh) atoms_.push_back({.variable = name});
  return term({at->second}, 1);
}

DimExpr DimTable::add(const DimExpr& a, const DimExpr& b) {
  if (written_size(a) + written_size(b) > kMaxSize) return too_large();
  DimTerms sum = a.terms();
  for (const auto& [monomial, coefficient] : b.terms()) accumulate(sum, monomial, coefficient);
  return intern(std::move(sum));
}

DimExpr DimTable::subtract(const DimExpr& a, const DimExpr& b) {
  if (a == b) return {};
  if (written_size(a) + written_size(b) > kMaxSize) return too_large();
  DimTerms difference = a.terms();
  for (const auto& [monomial, coefficient] : b.terms()) {
    accumulate(difference, monomial, saturating_mul(coefficient, -1));
  }
  return intern(std::move(difference));
}

DimExpr DimTable::multiply(const DimExpr& a, const DimExpr& b) {
  if (a.is_constant() && a.constant() == 1) return b;
  if (b.is_constant() && b.constant() == 1) return a;
  const auto count = [](const DimExpr& expr) { return static_cast<int64_t>(expr.terms().size()); };
  if (written_size(a) * count(b) + written_size(b) * count(a) > kMaxSize) return too_large();
  DimTerms product;
  for (const auto& [ma, ca] : a.terms()) {
    for (const auto& [mb, cb] : b.terms()) {
      Monomial monomial;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), std::back_inserter(monomial));
      accumulate(product, monomial, saturating_mul(ca, cb));
    }
  }
  return intern(std::move(product));
}

DimExpr DimTable::apply(DimOp op, const DimExpr& a, const DimExpr& b) {
  const bool divides = op == DimOp::FloorDiv || op == DimOp::Mod;
  if (a.is_constant() && b.is_constant() && !(divides && b.constant() <= 0)) {
    const int64_t x = a.constant();
    const int64_t y = b.constant();
    switch (op) {
      case DimOp::FloorDiv:
        return constant(floor_div(x, y));
      case DimOp::Mod:
        return constant(floor_mod(x, y));
      case DimOp::Min:
        return constant(std::min(x, y));
      case DimOp::Max:
        return constant(std::max(x, y));
    }
  }
  if (a == b && (op == DimOp::Min || op == DimOp::Max)) return a;
  if (op == DimOp::FloorDiv && b.is_constant() && b.constant() == 1) return a;
  if (divides) {
    // Exact division of every term, by a constant or by one monomial.
    if (b.terms().size() == 1) {
      const auto& [divisor, by] = *b.terms().begin();
      DimTerms quotient;
      bool exact = by > 0;
      for (const auto& [monomial, coefficient] : a.terms()) {
        Monomial rest;
        exact = exact && coefficient % by == 0 &&
                std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end());
        if (!exact) break;
        std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                            std::back_inserter(rest));
        accumulate(quotient, rest, coefficient / by);
      }
      if (exact) return op == DimOp::FloorDiv ? intern(std::move(quotient)) : DimExpr{};
    }
  }
  if (written_size(a) + written_size(b) > kMaxSize) return too_large();
  return atom_expr({.op = op, .a = a, .b = b});
}

std::optional<std::string> DimTable::as_variable(const DimExpr& expr) const {
  if (expr.terms().size() != 1) return std::nullopt;
  const auto& [monomial, coefficient] = *expr.terms().begin();
  if (coefficient != 1 || monomial.size() != 1) return std::nullopt;
  const Atom& atom = atoms_[static_cast<size_t>(monomial[0])];
  if (atom.variable.empty()) return std::nullopt;
  return atom.variable;
}

std::vector<std::string> DimTable::variables(const DimExpr& expr) const {
  std::set<std::string> names;
  std::vector<const DimExpr*> pending = {&expr};
  while (!pending.empty()) {
    const DimExpr* next = pending.back();
    pending.pop_back();
    for (const auto& [monomial, coefficient] : next->terms()) {
      for (int32_t id : monomial) {
        const Atom& atom = atoms_[static_cast<size_t>(id)];
        if (!atom.variable.empty()) {
          names.insert(atom.variable);
        } else {
          pending.push_back(&atom.a);
          pending.push_back(&atom.b);
        }
      }
    }
  }
  return {names.begin(), names.end()};
}

bool DimTable::contains(const DimExpr& expr, const std::string& variable) const {
  const std::vector<std::string> names = variables(expr);
  return std::find(names.begin(), names.end(), variable) != names.end();
}

DimExpr DimTable::substitute(const DimExpr& expr, const std::string& variable,
                             const DimExpr& value) {
  if (!contains(expr, variable)) return expr;
  DimExpr result;
  for (const auto& [monomial, coefficient] : expr.terms()) {
    DimExpr product = constant(coefficient);
    for (int32_t id : monomial) {
      const Atom atom = atoms_[static_cast<size_t>(id)];  // a copy: the table may grow below
      DimExpr factor;
      if (atom.variable == variable) {
        factor = value;
      } else if (!atom.variable.empty()) {
        factor = term({id}, 1);
      } else {
        factor = apply(atom.op, substitute(atom.a, variable, value),
                       substitute(atom.b, variable, value));
      }
      product = multiply(product, factor);
    }
    result = add(result, product);
  }
  return result;
}

std::string DimTable::atom_text(int32_t id) const {
  const Atom& atom = atoms_[static_cast<size_t>(id)];
  if (!atom.variable.empty()) return atom.variable;
  switch (atom.op) {
    case DimOp::FloorDiv:
      return fmt::format("{} // {}", text(atom.a, true), text(atom.b, true));
    case DimOp::Mod:
      return fmt::format("{} % {}", text(atom.a, true), text(atom.b, true));
    case DimOp::Min:
      return fmt::format("min({}, {})", text(atom.a), text(atom.b));
    case DimOp::Max:
      return fmt::format("max({}, {})", text(atom.a), text(atom.b));
  }
  return "";
}

std::string DimTable::text(const DimExpr& expr, bool tight) const {
  if (expr.polynomial == nullptr) return "0";
  if (!tight && !expr.polynomial->text.empty()) return expr.polynomial->text;
  bool one_factor = false;
  std::string text = plain_text(expr, one_factor);
  if (tight) return one_factor ? text : "(" + text + ")";
  return expr.polynomial->text = std::move(text);
}

std::string DimTable::plain_text(const DimExpr& expr, bool& one_factor) const {
  std::string out;
  size_t factors = 0;
  // Higher powers first, the constant last.
  std::vector<std::pair<Monomial, int64_t>> ordered(expr.terms().begin(), expr.terms().end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    if ((a.second < 0) != (b.second < 0)) return b.second < 0;
    return a.first.size() > b.first.size();
  });
  for (const auto& [monomial, coefficient] : ordered) {
    const auto bits = static_cast<uint64_t>(coefficient);  // the smallest has no positive
    const uint64_t magnitude = coefficient < 0 ? 0 - bits : bits;
    out += out.empty() ? (coefficient < 0 ? "-" : "") : (coefficient < 0 ? " - " : " + ");
    std::string product = magnitude != 1 || monomial.empty() ? fmt::format("{}", magnitude) : "";
    factors = std::max(factors, monomial.size() + (product.empty() ? 0 : 1));
    for (int32_t id : monomial) {
      const Atom& atom = atoms_[static_cast<size_t>(id)];
      std::string factor = atom_text(id);
      const bool compound =
          atom.variable.empty() && (atom.op == DimOp::FloorDiv || atom.op == DimOp::Mod);
      if (compound && (monomial.size() > 1 || coefficient != 1)) factor = "(" + factor + ")";
      if (compound) ++factors;
      product += (product.empty() ? "" : "*") + factor;
    }
    out += product;
  }
  one_factor = expr.terms().size() == 1 && factors <= 1 && !out.starts_with("-");
  return out;
}

}  // namespace solar::ir

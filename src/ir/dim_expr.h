#pragma once
// Extents as symbolic expressions of the free dims: polynomials with integer coefficients over
// variables and opaque atoms (// % min max of such expressions, products too large to expand). Two
// extents are equal for every binding if their polynomials are equal (the converse does not hold
// for the opaque atoms).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace solar::ir {

/// A product of atoms (sorted ids, repeated for powers); empty for the constant term.
using Monomial = std::vector<int32_t>;
/// No zero coefficient.
using DimTerms = std::map<Monomial, int64_t>;

struct DimPolynomial {
  DimTerms terms = {};
  int64_t size = 0;               // of the text, in names, numbers and operators
  mutable std::string text = {};  // once it was asked for

  bool operator<(const DimPolynomial& other) const { return terms < other.terms; }
};

/// A polynomial of a table, which holds each one once: cheap to copy and to compare.
struct DimExpr {
  const DimPolynomial* polynomial = nullptr;  // null: 0
  friend bool operator==(const DimExpr&, const DimExpr&) = default;

  const DimTerms& terms() const;
  bool is_constant() const {
    return polynomial == nullptr ||
           (polynomial->terms.size() == 1 && polynomial->terms.begin()->first.empty());
  }
  int64_t constant() const;
};

enum class DimOp : uint8_t { FloorDiv, Mod, Min, Max, Mul };

/// What DimExprs refer to. Grows only; expressions of different tables do not mix. An expression
/// whose text would be too large is a variable of its own, equal to nothing else.
class DimTable {
 public:
  DimTable() = default;
  explicit DimTable(int64_t max_size) : max_size_(max_size) {}
  DimTable(DimTable&&) = default;
  DimTable& operator=(DimTable&&) = default;

  DimExpr variable(const std::string& name);
  DimExpr constant(int64_t value);
  DimExpr term(const Monomial& monomial, int64_t coefficient);
  DimExpr add(const DimExpr& a, const DimExpr& b);
  DimExpr subtract(const DimExpr& a, const DimExpr& b);
  /// A product that would be too large if it were expanded is an atom.
  DimExpr multiply(const DimExpr& a, const DimExpr& b);
  DimExpr apply(DimOp op, const DimExpr& a, const DimExpr& b);

  /// Whether it is the variable that stands for a too large expression.
  bool is_too_large(const DimExpr& expr) const;

  /// The variable's name if the expression is one variable alone.
  std::optional<std::string> as_variable(const DimExpr& expr) const;
  bool contains(const DimExpr& expr, const std::string& variable) const;
  std::vector<std::string> variables(const DimExpr& expr) const;
  DimExpr substitute(const DimExpr& expr, const std::string& variable, const DimExpr& value);

  /// As ALIR text, for instance `4*H` or `(T + 2) // 3`. `tight`: parenthesised if it is not one
  /// factor.
  std::string text(const DimExpr& expr, bool tight = false) const;

 private:
  struct Atom {
    std::string variable = {};  // or an operation:
    DimOp op = DimOp::FloorDiv;
    DimExpr a = {};
    DimExpr b = {};
    friend bool operator==(const Atom&, const Atom&) = default;
  };
  DimExpr atom_expr(Atom atom);
  DimExpr too_large();
  int64_t size_of(const Monomial& monomial) const;
  DimExpr intern(DimTerms terms);
  std::string atom_text(int32_t id) const;
  /// `one_factor`: whether it needs no parentheses beside other factors.
  std::string plain_text(const DimExpr& expr, bool& one_factor) const;

  int64_t max_size_ = 10'000;
  std::vector<Atom> atoms_;
  std::set<DimPolynomial> polynomials_;
  std::map<std::string, int32_t> variable_ids_;
  std::unordered_map<int64_t, DimExpr> constants_;
};

}  // namespace solar::ir

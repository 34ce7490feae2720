#include "validate/same_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "ir/lexer.h"
#include "ir/printer.h"
#include "ir/verify/range.h"

namespace solar::validate {
namespace {

/// The program's text with every free dim's value replaced by 0 and the places of source lines
/// kept.
std::string masked_text(ir::ast::File file) {
  if (!file.program) return {};
  for (ir::ast::Statement& statement : file.program->block.statements) {
    auto* dims = std::get_if<ir::ast::Dims>(&statement.body);
    if (dims == nullptr) continue;
    for (ir::ast::Let& dim : dims->dims) {
      if (dim.value->kind == ir::ast::ExprKind::Integer) {
        dim.value = std::make_shared<const ir::ast::Expr>();  // the integer 0
      }
    }
  }
  return ir::print(file);
}

double float_value(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string around(const std::string& text, const ir::Token& token) {
  const auto begin = text.rfind('\n', static_cast<size_t>(token.begin));
  const auto start = begin == std::string::npos ? 0 : begin + 1;
  const auto end = text.find('\n', static_cast<size_t>(token.begin));
  std::string line = text.substr(start, end == std::string::npos ? end : end - start);
  line.erase(0, line.find_first_not_of(' '));
  return line.substr(0, 100);
}

struct Truth {
  bool sometimes = false;
  bool not_always = false;
  friend bool operator==(const Truth&, const Truth&) = default;
};

Truth truth_of(ir::Guard::Kind kind, const ir::Interval& range) {
  switch (kind) {
    case ir::Guard::Kind::NonNegative:
      return {range.high >= 0, range.low < 0};
    case ir::Guard::Kind::Zero:
      return {range.low <= 0 && range.high >= 0, range.low != 0 || range.high != 0};
    case ir::Guard::Kind::NonZero:
      return {range.low != 0 || range.high != 0, range.low <= 0 && range.high >= 0};
  }
  return {};
}

/// What each condition of a kernel can be, in order: guards, index selects, comparisons of index
/// values; and whether min, max and // clamp or round anywhere.
std::vector<Truth> conditions_of(const ir::Kernel& kernel) {
  const std::vector<ir::Guard> none;
  const ir::RangeProver prover(kernel.loops, kernel.atoms, none);
  std::vector<Truth> truths;
  const auto add = [&](const ir::Guard& guard) {
    truths.push_back(truth_of(guard.kind, prover.range(guard.value)));
  };
  for (const ir::Guard& guard : kernel.guards) add(guard);
  for (const ir::Atom& atom : kernel.atoms) {
    for (const ir::Guard& guard : atom.conditions) add(guard);
    if (atom.kind != ir::Atom::Kind::Min && atom.kind != ir::Atom::Kind::Max) continue;
    for (size_t i = 1; i < atom.operands.size(); ++i) {  // which operand wins, and whether both do
      const ir::Linear difference = ir::combine(atom.operands[0], 1, atom.operands[i], -1);
      truths.push_back(truth_of(ir::Guard::Kind::NonNegative, prover.range(difference)));
    }
  }
  for (const ir::ScalarNode& node : kernel.nodes) {
    if (node.op < ir::ScalarOp::Less || node.op > ir::ScalarOp::NotEqual || node.a < 0 ||
        node.b < 0)
      continue;
    const ir::ScalarNode& a = kernel.nodes[static_cast<size_t>(node.a)];
    const ir::ScalarNode& b = kernel.nodes[static_cast<size_t>(node.b)];
    if (a.op != ir::ScalarOp::Index || b.op != ir::ScalarOp::Constant) continue;
    ir::Linear value = kernel.linears[static_cast<size_t>(a.reference)];
    value.constant -= b.integer;
    const bool order = node.op != ir::ScalarOp::Equal && node.op != ir::ScalarOp::NotEqual;
    truths.push_back(truth_of(order ? ir::Guard::Kind::NonNegative : ir::Guard::Kind::Zero,
                              prover.range(value)));
  }
  return truths;
}

/// Reduced over one point, or over several: a sum of one term hides a wrong reduction.
std::vector<bool> single_loops(const ir::Kernel& kernel) {
  std::vector<bool> single;
  for (const ir::Loop& loop : kernel.loops) single.push_back(loop.extent == 1);
  return single;
}

}  // namespace

Sameness compare_programs(const ir::ast::File& full, const ir::ast::File& small) {
  Sameness result;
  const std::string a = masked_text(full);
  const std::string b = masked_text(small);
  const ir::Tokens ta = ir::lex(a);
  const ir::Tokens tb = ir::lex(b);
  const size_t common = std::min(ta.tokens.size(), tb.tokens.size());
  for (size_t i = 0; i < common; ++i) {
    const ir::Token& x = ta.tokens[i];
    const ir::Token& y = tb.tokens[i];
    if (x.kind == y.kind && x.text == y.text) continue;
    if (x.kind == ir::TokenKind::Float && y.kind == ir::TokenKind::Float) {
      const double u = float_value(x.text);
      const double v = float_value(y.text);
      if (std::isfinite(u) && std::isfinite(v) && u != 0 &&
          v != 0) {  // a literal's sign is its own token
        result.literals.push_back({u, v});
        continue;
      }
    }
    result.difference = fmt::format("`{}` at full size is `{}` at small size, in `{}`", x.text,
                                    y.text, around(a, x));
    return result;
  }
  if (ta.tokens.size() != tb.tokens.size()) {
    result.difference = "one trace has more operators than the other";
  }
  return result;
}

std::optional<std::string> uncovered(const ir::Program& full, const ir::Program& small) {
  if (full.statements.size() != small.statements.size()) return "the numbers of statements differ";
  for (size_t i = 0; i < full.statements.size(); ++i) {
    const auto* a = std::get_if<ir::Kernel>(&full.statements[i].body);
    const auto* b = std::get_if<ir::Kernel>(&small.statements[i].body);
    if ((a == nullptr) != (b == nullptr)) return "the kinds of statements differ";
    if (a == nullptr) continue;
    const std::string& name = full.tensor(a->output).name;
    if (conditions_of(*a) != conditions_of(*b)) {
      return fmt::format(
          "a guard of `{}` is always (or never) true at one size and not at the other", name);
    }
    if (single_loops(*a) != single_loops(*b)) {
      return fmt::format("a loop of `{}` has one step at one size and several at the other", name);
    }
  }
  return std::nullopt;
}

}  // namespace solar::validate

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
std::vector<Truth> conditions_of(const ir::Program& program, const ir::Kernel& kernel) {
  const std::vector<ir::Guard> none;
  const ir::RangeProver prover(kernel.loops, kernel.atoms, none, program.steps);
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

using Statements = std::vector<ir::Statement>;

std::optional<std::string> uncovered_in(const ir::Program& full, const Statements& full_body,
                                        const ir::Program& small, const Statements& small_body);

std::optional<std::string> uncovered_kernel(const ir::Program& full, const ir::Kernel& a,
                                            const std::string& name, const ir::Program& small,
                                            const ir::Kernel& b) {
  if (conditions_of(full, a) != conditions_of(small, b)) {
    return fmt::format("a guard of `{}` is always (or never) true at one size and not at the other",
                       name);
  }
  if (single_loops(a) != single_loops(b)) {
    return fmt::format("a loop of `{}` has one step at one size and several at the other", name);
  }
  return std::nullopt;
}

/// Bodies of loops and branches, in the order of core.h.
std::vector<const Statements*> bodies_of(const ir::Statement& statement) {
  if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) return {&repeat->body};
  if (const auto* loop = std::get_if<ir::While>(&statement.body)) return {&loop->body};
  if (const auto* branches = std::get_if<ir::If>(&statement.body)) {
    return {&branches->taken.body, &branches->otherwise.body};
  }
  return {};
}

std::optional<std::string> uncovered_statement(const ir::Program& full, const ir::Statement& a,
                                               const ir::Program& small, const ir::Statement& b) {
  if (a.body.index() != b.body.index()) return "the kinds of statements differ";
  if (const auto* kernel = std::get_if<ir::Kernel>(&a.body)) {
    return uncovered_kernel(full, *kernel, full.tensor(kernel->output).name, small,
                            std::get<ir::Kernel>(b.body));
  }
  if (const auto* scatter = std::get_if<ir::Scatter>(&a.body)) {
    return uncovered_kernel(full, scatter->nest, full.tensor(scatter->nest.output).name, small,
                            std::get<ir::Scatter>(b.body).nest);
  }
  const auto inner_a = bodies_of(a);
  const auto inner_b = bodies_of(b);
  for (size_t i = 0; i < inner_a.size(); ++i) {
    if (auto found = uncovered_in(full, *inner_a[i], small, *inner_b[i])) return found;
  }
  return std::nullopt;
}

std::optional<std::string> uncovered_in(const ir::Program& full, const Statements& full_body,
                                        const ir::Program& small, const Statements& small_body) {
  if (full_body.size() != small_body.size()) return "the numbers of statements differ";
  for (size_t i = 0; i < full_body.size(); ++i) {
    if (auto found = uncovered_statement(full, full_body[i], small, small_body[i])) return found;
  }
  return std::nullopt;
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
  for (size_t i = 0; i < full.steps.size() && i < small.steps.size(); ++i) {
    // Fewer than 3 steps do not show what a step hands on to the next but one.
    if (small.steps[i].extent < std::min<int64_t>(full.steps[i].extent, 3)) {
      return fmt::format("the repeat over `{}` has fewer than 3 steps at the small size",
                         full.steps[i].name);
    }
  }
  return uncovered_in(full, full.statements, small, small.statements);
}

}  // namespace solar::validate

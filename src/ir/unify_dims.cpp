#include "ir/unify_dims.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "ir/dim_expr.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verify/elaborate.h"

namespace solar::ir {
namespace {

/// Solves the equations for free dims.
class Solver {
 public:
  Solver(Elaboration& elaboration, Pinned pinned) : table_(elaboration.table), pinned_(pinned) {
    for (const Dim& dim : elaboration.program->dims) {
      if (!dim.expression.empty()) continue;
      order_[dim.name] = order_.size();
    }
    for (const DimEquation& equation : elaboration.equations)
      pending_.push_back({equation.a, equation.b});
  }

  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<std::pair<DimExpr, DimExpr>> rest;
      for (auto& [a, b] : pending_) {
        a = apply(a);
        b = apply(b);
        if (a == b) continue;
        if (pinned_ == Pinned::Free && (is_count(a) || is_count(b))) {
          rest.emplace_back(a, b);
        } else if (solve(a, b) || solve(b, a) || isolate(a, b)) {
          changed = true;
        } else {
          rest.emplace_back(a, b);
        }
      }
      pending_ = std::move(rest);
    }
  }

  /// The value of an original free dim in the remaining ones.
  DimExpr value(const std::string& name) { return apply(table_.variable(name)); }
  DimTable& table() { return table_; }

 private:
  DimExpr apply(DimExpr expr) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::string& name : table_.variables(expr)) {
        const auto at = solved_.find(name);
        if (at == solved_.end()) continue;
        expr = table_.substitute(expr, name, at->second);
        changed = true;
      }
    }
    return expr;
  }

  /// Makes `a`, a single variable, stand for `b`.
  bool solve(const DimExpr& a, const DimExpr& b) {
    const auto name = table_.as_variable(a);
    if (!name || !order_.contains(*name) || table_.contains(b, *name)) return false;
    const auto other = table_.as_variable(b);
    if (other && order_.contains(*other) && order_[*other] > order_[*name])
      return false;  // the older name stays
    solved_[*name] = b;
    return true;
  }

  /// Solves a == b for the youngest free dim that stands alone, with coefficient 1 or -1, and
  /// nowhere else.
  bool isolate(const DimExpr& a, const DimExpr& b) {
    const DimExpr difference = table_.subtract(a, b);
    std::optional<std::string> best;
    DimExpr value;
    for (const auto& [monomial, coefficient] : difference.terms()) {
      if (coefficient != 1 && coefficient != -1) continue;
      const DimExpr alone = table_.term(monomial, 1);
      const auto name = table_.as_variable(alone);
      if (!name || !order_.contains(*name) || (best && order_[*best] > order_[*name])) continue;
      DimExpr rest = table_.subtract(difference, table_.term(monomial, coefficient));
      if (table_.contains(rest, *name)) continue;
      if (coefficient == 1) rest = table_.subtract(DimExpr{}, rest);
      best = name;
      value = std::move(rest);
    }
    if (!best) return false;
    solved_[*best] = value;
    return true;
  }

  /// A literal that may be the number of copies that a loop was written out to; 1 is a broadcast.
  static bool is_count(const DimExpr& expr) { return expr.is_constant() && expr.constant() > 1; }

  DimTable& table_;
  Pinned pinned_;
  std::map<std::string, size_t> order_;
  std::map<std::string, DimExpr> solved_;
  std::vector<std::pair<DimExpr, DimExpr>> pending_;
};

/// A dim expression by its text; what stands there is parsed once the program is printed.
ast::ExprPtr parse_like(const std::string& text) {
  ast::Expr expr;
  expr.kind = ast::ExprKind::Name;
  expr.text = text;
  return std::make_shared<const ast::Expr>(std::move(expr));
}

/// Replaces dim names in a program's body and signature.
class Renamer {
 public:
  explicit Renamer(std::map<std::string, ast::ExprPtr> replacements)
      : replacements_(std::move(replacements)) {}
  std::set<std::string> used;

  ast::ExprPtr rename(const ast::ExprPtr& expr) {
    if (!expr) return expr;
    if (expr->kind == ast::ExprKind::Name) {
      const auto at = replacements_.find(expr->text);
      if (at == replacements_.end()) return expr;
      if (at->second->kind == ast::ExprKind::Name) used.insert(at->second->text);
      return at->second;
    }
    if (expr->operands.empty()) return expr;
    ast::Expr copy = *expr;
    for (ast::ExprPtr& operand : copy.operands) operand = rename(operand);
    return std::make_shared<const ast::Expr>(std::move(copy));
  }

  void rename(ast::Type& type) {
    for (ast::ExprPtr& extent : type.extents) extent = rename(extent);
  }

  void rename(std::vector<ast::Axis>& axes) {
    for (ast::Axis& axis : axes) {
      axis.extent = rename(axis.extent);
      rename(axis.group);
    }
  }

  void rename(ast::Kernel& kernel) {
    for (ast::Declaration& output : kernel.outputs) rename(output.type);
    for (ast::Loop& loop : kernel.loops) {
      loop.extent = rename(loop.extent);
      loop.begin = rename(loop.begin);
      loop.end = rename(loop.end);
    }
    for (ast::Target& target : kernel.targets) {
      for (ast::ExprPtr& subscript : target.subscripts) subscript = rename(subscript);
    }
    for (ast::Let& let : kernel.lets) let.value = rename(let.value);
    for (ast::ExprPtr& guard : kernel.guards) guard = rename(guard);
    for (ast::ExprPtr& value : kernel.values) value = rename(value);
    kernel.init = rename(kernel.init);
    kernel.otherwise = rename(kernel.otherwise);
  }

  void rename(ast::Block& block) {
    for (ast::Statement& statement : block.statements) {
      if (auto* require = std::get_if<ast::Require>(&statement.body)) {
        require->condition = rename(require->condition);
      } else if (auto* op = std::get_if<ast::Op>(&statement.body)) {
        op->nominal = rename(op->nominal);
        rename(op->block);
      } else if (auto* kernel = std::get_if<ast::Kernel>(&statement.body)) {
        rename(*kernel);
      } else if (auto* view = std::get_if<ast::View>(&statement.body)) {
        rename(view->left);
        rename(view->right);
      } else if (auto* slice = std::get_if<ast::Slice>(&statement.body)) {
        for (ast::SliceItem& item : slice->items) {
          item.start = rename(item.start);
          item.stop = rename(item.stop);
          item.step = rename(item.step);
        }
      } else if (auto* call = std::get_if<ast::Call>(&statement.body)) {
        for (ast::Attribute& attribute : call->attributes)
          attribute.value = rename(attribute.value);
      } else if (auto* repeat = std::get_if<ast::Repeat>(&statement.body)) {
        repeat->extent = rename(repeat->extent);
        rename(repeat->block);
      } else if (auto* loop = std::get_if<ast::While>(&statement.body)) {
        loop->limit = rename(loop->limit);
        rename(loop->block);
      } else if (auto* branches = std::get_if<ast::If>(&statement.body)) {
        rename(branches->taken);
        rename(branches->otherwise);
      } else if (auto* opaque = std::get_if<ast::Opaque>(&statement.body)) {
        for (ast::Declaration& output : opaque->outputs) rename(output.type);
        for (ast::ExprPtr* cost :
             {&opaque->macs, &opaque->nominal, &opaque->reads, &opaque->writes}) {
          *cost = rename(*cost);
        }
      }
    }
  }

 private:
  std::map<std::string, ast::ExprPtr> replacements_;
};

/// Names that a dim must not take: of ports, and of all that the body defines.
class NameCollector {
 public:
  std::set<std::string> names;

  void add(const ast::Block& block) {
    for (const ast::Statement& statement : block.statements) {
      std::visit([&](const auto& body) { add(body); }, statement.body);
    }
  }

 private:
  void add(const std::vector<ast::Name>& all) {
    for (const ast::Name& name : all) names.insert(name.text);
  }
  void add(const std::vector<ast::Declaration>& all) {
    for (const ast::Declaration& d : all) names.insert(d.name.text);
  }
  void add(const std::vector<ast::Initial>& all) {
    for (const ast::Initial& initial : all) names.insert(initial.name.text);
  }
  void add(const ast::Op& op) { add(op.block); }
  void add(const ast::Kernel& kernel) {
    add(kernel.outputs);
    for (const ast::Loop& loop : kernel.loops) names.insert(loop.name.text);
    for (const ast::Let& let : kernel.lets) names.insert(let.name.text);
  }
  void add(const ast::View& view) { names.insert(view.output.text); }
  void add(const ast::Slice& slice) { names.insert(slice.output.text); }
  void add(const ast::Call& call) { add(call.results); }
  void add(const ast::Opaque& opaque) { add(opaque.outputs); }
  void add(const ast::Repeat& repeat) {
    add(repeat.results);
    add(repeat.stacked);
    add(repeat.carried);
    names.insert(repeat.step.text);
    add(repeat.block);
  }
  void add(const ast::While& loop) {
    add(loop.results);
    add(loop.carried);
    add(loop.block);
  }
  void add(const ast::If& branches) {
    add(branches.results);
    add(branches.taken);
    add(branches.otherwise);
  }
  // These define nothing.
  void add(const ast::Dims&) {}
  void add(const ast::Require&) {}
  void add(const ast::Update&) {}
  void add(const ast::Next&) {}
  void add(const ast::Test&) {}
};

std::set<std::string> names_in(const ast::Program& program) {
  NameCollector collector;
  for (const ast::Port& port : program.ports) collector.names.insert(port.declaration.name.text);
  collector.add(program.block);
  return std::move(collector.names);
}

/// Short names for the dims of the first input's axes: B C H W and the like, by rank.
std::map<std::string, std::string> friendly_names(const ast::Program& program,
                                                  const Program& core) {
  static const std::map<size_t, std::vector<std::string>> by_rank = {
      {1, {"N"}},
      {2, {"B", "N"}},
      {3, {"B", "S", "D"}},
      {4, {"B", "C", "H", "W"}},
      {5, {"B", "C", "T", "H", "W"}}};
  std::set<std::string> taken = names_in(program);
  for (const Dim& dim : core.dims) taken.insert(dim.name);
  std::map<std::string, std::string> names;
  for (const ast::Port& port : program.ports) {
    if (port.role != Role::Input) continue;
    const auto& extents = port.declaration.type.extents;
    const auto letters = by_rank.find(extents.size());
    if (letters == by_rank.end()) break;
    for (size_t i = 0; i < extents.size(); ++i) {
      if (extents[i]->kind != ast::ExprKind::Name) continue;
      const std::string& letter = letters->second[i];
      if (!taken.contains(letter)) names.try_emplace(extents[i]->text, letter);
    }
    break;
  }
  return names;
}

}  // namespace

Result<ast::File> unify_dims(const ast::File& file, Pinned pinned) {
  SOLAR_TRY(Elaboration elaboration, elaborate(file, {}));
  const Program& core = *elaboration.program;
  ast::File result = file;
  ast::Program& program = *result.program;
  Solver solver(elaboration, pinned);
  solver.run();
  DimTable& table = solver.table();
  const std::map<std::string, std::string> friendly = friendly_names(program, core);
  std::map<std::string, ast::ExprPtr> replacements;
  std::map<std::string, std::string> derived_names;  // expression -> the first dim with it
  std::vector<ast::Let> free;
  struct Derived {
    std::string name;
    std::string text;
    std::vector<std::string> variables;
  };
  std::vector<Derived> derived;
  const auto renamed = [&](DimExpr expr) {
    for (const std::string& name : table.variables(expr)) {
      const auto at = friendly.find(name);
      if (at != friendly.end()) expr = table.substitute(expr, name, table.variable(at->second));
    }
    return expr;
  };
  for (const Dim& dim : core.dims) {
    if (!dim.expression.empty()) continue;
    const DimExpr value = renamed(solver.value(dim.name));
    const std::string text = table.text(value);
    const auto own = friendly.find(dim.name);
    const std::string own_name = own != friendly.end() ? own->second : dim.name;
    if (value.is_constant()) {
      ast::Expr literal;
      literal.integer = value.constant();
      replacements[dim.name] = std::make_shared<const ast::Expr>(std::move(literal));
      continue;
    }
    if (table.as_variable(value)) {
      replacements[dim.name] = parse_like(text);
      if (text == own_name) {
        ast::Expr literal;
        literal.integer = dim.value;
        free.push_back({{own_name}, std::make_shared<const ast::Expr>(std::move(literal))});
      }
      continue;
    }
    const auto [at, fresh] = derived_names.try_emplace(text, own_name);
    replacements[dim.name] = parse_like(at->second);
    if (fresh) derived.push_back({own_name, text, table.variables(value)});
  }
  Renamer renamer(replacements);
  for (ast::Port& port : program.ports) renamer.rename(port.declaration.type);
  renamer.rename(program.block);
  for (const ast::Statement& statement : program.block.statements) {
    const auto* old = std::get_if<ast::Dims>(&statement.body);
    if (old == nullptr) continue;
    for (const ast::Let& dim : old->dims) {  // dims that were derived as written use others
      if (!replacements.contains(dim.name.text)) renamer.rename(dim.value);
    }
  }
  // Only what is still used, directly or in a used derived dim, is declared.
  ast::Dims dims;
  std::set<std::string> needed = renamer.used;
  for (const Derived& d : derived) {
    if (needed.contains(d.name)) needed.insert(d.variables.begin(), d.variables.end());
  }
  for (const ast::Let& let : free) {
    if (needed.contains(let.name.text)) dims.dims.push_back(let);
  }
  for (const Derived& d : derived) {
    if (needed.contains(d.name)) dims.dims.push_back({{d.name}, parse_like(d.text)});
  }
  std::vector<ast::Statement> statements;
  if (!dims.dims.empty()) {
    ast::Statement statement;
    statement.body = std::move(dims);
    statements.push_back(std::move(statement));
  }
  for (ast::Statement& statement : program.block.statements) {
    if (const auto* old = std::get_if<ast::Dims>(&statement.body)) {
      ast::Dims kept;  // dims that were derived as written
      for (const ast::Let& dim : old->dims) {
        if (!replacements.contains(dim.name.text))
          kept.dims.push_back({dim.name, renamer.rename(dim.value)});
      }
      if (kept.dims.empty()) continue;
      statement.body = std::move(kept);
    }
    statements.push_back(std::move(statement));
  }
  program.block.statements = std::move(statements);
  return parse_text(
      file.program->name.span.source ? file.program->name.span.source->name : "<unified>",
      print(result));
}

}  // namespace solar::ir

#include "ir/reroll/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace solar::ir {
namespace {

/// Joins of steps' values, as joins of the stacked ones.
class Joins {
 public:
  explicit Joins(const std::vector<RepeatPlan>& plans) {
    for (const RepeatPlan& plan : plans) {
      for (const StackedSteps& stacked : plan.stacked) {
        for (size_t step = 0; step < stacked.elements.size(); ++step)
          places_[stacked.elements[step]] = {&stacked, step};
      }
    }
  }

  void rewrite(ast::Block& block, Records& names) {
    std::vector<ast::Statement> statements;
    for (ast::Statement& statement : block.statements) {
      if (auto* op = std::get_if<ast::Op>(&statement.body)) rewrite(op->block, names);
      if (auto* call = std::get_if<ast::Call>(&statement.body)) join(*call, statements, names);
      statements.push_back(std::move(statement));
    }
    block.statements = std::move(statements);
  }

 private:
  struct Place {
    const StackedSteps* stacked = nullptr;
    size_t step = 0;
  };

  const Place* place_of(const ast::Argument& argument) const {
    if (argument.expr->kind != ast::ExprKind::Name) return nullptr;
    const auto at = places_.find(argument.expr->text);
    return at == places_.end() ? nullptr : &at->second;
  }

  /// The steps that the arguments are, if they follow each other.
  std::optional<Place> consecutive(const std::vector<ast::Argument>& arguments) const {
    if (arguments.size() < 2) return std::nullopt;
    const Place* first = place_of(arguments.front());
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Place* here = place_of(arguments[i]);
      if (here == nullptr || here->stacked != first->stacked || here->step != first->step + i)
        return std::nullopt;
    }
    return *first;
  }

  void join(ast::Call& call, std::vector<ast::Statement>& before, Records& names) const {
    const bool stacks = call.function.text == "stack";
    if ((!stacks && call.function.text != "concat") || call.attributes.size() != 1) return;
    const ast::Expr& axis = *call.attributes.front().value;
    const auto first = consecutive(call.arguments);
    if (!first || axis.kind != ast::ExprKind::Integer) return;
    const StackedSteps& stacked = *first->stacked;
    std::string name = stacked.name;
    const auto add = [&](auto body) {
      ast::Statement statement;
      statement.body = std::move(body);
      before.push_back(std::move(statement));
    };
    if (call.arguments.size() < stacked.elements.size()) {
      ast::Slice part;
      part.input.text = name;
      name = part.output.text = names.fresh(stacked.name + "_part");
      const auto stop = first->step + call.arguments.size();
      part.items.push_back({.start = dim_text(fmt::format("{}", first->step)),
                            .stop = dim_text(fmt::format("{}", stop))});
      part.items.resize(stacked.rank + 1);
      add(std::move(part));
    }
    if (!stacks || axis.integer != 0) {
      ast::View view = moved(stacked.rank, static_cast<size_t>(axis.integer), stacks);
      view.input.text = name;
      name = view.output.text = names.fresh(stacked.name + "_view");
      add(std::move(view));
    }
    call.function.text = "concat";
    call.arguments = {{dim_text(name)}};
  }

  /// Moves the steps from the front to `place`, where they are an axis, or merge with the axis.
  static ast::View moved(size_t rank, size_t place, bool stacks) {
    const auto axis = [](std::string name) {
      ast::Axis axis;
      axis.name = std::move(name);
      return axis;
    };
    ast::View view;
    view.left.push_back(axis("t"));
    for (size_t i = 0; i <= rank; ++i) {
      const std::string name = fmt::format("a{}", i);
      if (i < rank) view.left.push_back(axis(name));
      if (i == place && stacks) view.right.push_back(axis("t"));
      if (i == rank) break;
      if (i == place && !stacks) {
        ast::Axis group;
        group.kind = ast::Axis::Kind::Group;
        group.group = {axis("t"), axis(name)};
        view.right.push_back(std::move(group));
      } else {
        view.right.push_back(axis(name));
      }
    }
    return view;
  }

  std::unordered_map<std::string, Place> places_;
};

/// The tensors that statements use from outside of themselves.
class Uses : public StatementVisitor {
 public:
  std::unordered_set<std::string> names = {};
  void use(std::string& name) override { names.insert(name); }
};

ast::Statement element(const StackedSteps& stacked, size_t step) {
  ast::Slice slice;
  slice.output.text = stacked.elements[step];
  slice.input.text = stacked.name;
  slice.items.resize(stacked.rank + 1);
  slice.items[0].kind = ast::SliceItem::Kind::Index;
  slice.items[0].start = dim_text(fmt::format("{}", step));
  ast::Statement statement;
  statement.body = std::move(slice);
  return statement;
}

}  // namespace

void insert_repeats(ast::Program& program, Records& records, const std::vector<RepeatPlan>& plans) {
  Joins joins(plans);
  std::vector<ast::Statement> statements;
  size_t at = 0;
  for (size_t i = 0; i <= plans.size(); ++i) {
    const size_t next = i < plans.size() ? plans[i].begin : program.block.statements.size();
    for (; at < next; ++at) statements.push_back(std::move(program.block.statements[at]));
    if (i == plans.size()) break;
    ast::Statement statement;
    statement.body = plans[i].repeat;
    statements.push_back(std::move(statement));
    at = plans[i].end;
  }
  ast::Block whole;
  whole.statements = std::move(statements);
  joins.rewrite(whole, records);
  Uses uses;
  Walk walk(records.dims(), uses);
  for (ast::Statement& statement : whole.statements) walk.run(statement);
  for (const ast::Name& output : program.outputs) uses.names.insert(output.text);
  std::unordered_set<std::string> replaced;
  std::unordered_map<std::string, const RepeatPlan*> by_step;
  for (const RepeatPlan& plan : plans) {
    replaced.insert(plan.slices.begin(), plan.slices.end());
    by_step[plan.repeat.step.text] = &plan;
  }
  program.block.statements.clear();
  for (ast::Statement& statement : whole.statements) {
    if (const auto* slice = std::get_if<ast::Slice>(&statement.body)) {
      if (replaced.contains(slice->output.text) && !uses.names.contains(slice->output.text))
        continue;
    }
    const auto* repeat = std::get_if<ast::Repeat>(&statement.body);
    const auto plan = repeat == nullptr ? by_step.end() : by_step.find(repeat->step.text);
    program.block.statements.push_back(std::move(statement));
    if (plan == by_step.end()) continue;
    const std::vector<ast::Name>& results = plan->second->repeat.results;
    for (const StackedSteps& stacked : plan->second->stacked) {
      for (size_t step = 0; step < stacked.elements.size(); ++step) {
        const std::string& name = stacked.elements[step];
        const bool is_result = std::any_of(results.begin(), results.end(),
                                           [&](const ast::Name& one) { return one.text == name; });
        if (!is_result && uses.names.contains(name))
          program.block.statements.push_back(element(stacked, step));
      }
    }
  }
}

void insert_functions(ast::File& file, std::vector<PlannedFunction> functions) {
  std::map<size_t, std::pair<const PlannedFunction*, size_t>> calls;  // by place
  for (PlannedFunction& function : functions) {
    function.plan.function.name.text = function.plan.name;
    for (size_t i = 0; i < function.copies.begins.size(); ++i)
      calls[function.copies.begins[i]] = {&function, i};
  }
  std::vector<ast::Statement> statements;
  std::vector<ast::Statement>& old = file.program->block.statements;
  for (size_t at = 0; at < old.size();) {
    const auto call = calls.find(at);
    if (call == calls.end()) {
      statements.push_back(std::move(old[at++]));
      continue;
    }
    const auto& [function, copy] = call->second;
    ast::Call one = function->plan.calls[copy];
    one.function.text = function->plan.name;
    ast::Statement statement;
    statement.body = std::move(one);
    statements.push_back(std::move(statement));
    at += function->copies.period;
  }
  old = std::move(statements);
  for (PlannedFunction& function : functions)
    file.functions.push_back(std::move(function.plan.function));
}

}  // namespace solar::ir

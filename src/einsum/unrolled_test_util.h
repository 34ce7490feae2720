#pragma once
// A program with its loops unrolled: every statement as often as it runs, every value it defines
// anew each time. Written without anything of the lifter.

#include <map>
#include <vector>

#include "exec/executor.h"
#include "ir/core.h"

namespace solar::einsum {

/// One run of one statement; or, with statement null, a stack of values along a new leading axis;
/// or, after a `while` or `if`, the conditions that it tested for its results.
struct Instance {
  const ir::Statement* statement = nullptr;
  std::vector<int64_t> steps = {};             // per Program::steps
  std::map<ir::TensorId, size_t> values = {};  // what names mean here, its outputs included
  std::vector<size_t> parts = {};              // of a stack, by leading index
  size_t stacked = 0;                          // the stack
  std::vector<size_t> conditions = {};
  std::vector<size_t> results = {};
  std::vector<std::vector<size_t>> sources = {};  // per result: what it may come from
};

class Unrolled {
 public:
  Unrolled(const ir::Program& program, std::vector<exec::ControlPath> paths)
      : program_(program), paths_(std::move(paths)) {
    number(program.statements);
    std::map<ir::TensorId, size_t> names;
    for (const ir::TensorId port : program.ports) names[port] = define(port);
    run(program.statements, names, std::vector<int64_t>(program.steps.size(), 0));
    final_ = std::move(names);
  }

  const std::vector<Instance>& instances() const { return instances_; }
  /// The tensor behind each value; ports come first.
  const std::vector<ir::TensorId>& values() const { return values_; }
  size_t final_value(ir::TensorId id) const { return final_.at(id); }
  /// Outer statements before their bodies, in order.
  const std::vector<const ir::Statement*>& statements() const { return statements_; }
  size_t number_of(const ir::Statement* statement) const { return numbers_.at(statement); }

 private:
  using Names = std::map<ir::TensorId, size_t>;
  using Steps = std::vector<int64_t>;

  void number(const std::vector<ir::Statement>& statements) {
    for (const ir::Statement& statement : statements) {
      numbers_[&statement] = statements_.size();
      statements_.push_back(&statement);
      if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) number(repeat->body);
      if (const auto* loop = std::get_if<ir::While>(&statement.body)) number(loop->body);
      if (const auto* branch = std::get_if<ir::If>(&statement.body)) {
        number(branch->taken.body);
        number(branch->otherwise.body);
      }
    }
  }

  size_t define(ir::TensorId id) {
    values_.push_back(id);
    return values_.size() - 1;
  }

  void run(const std::vector<ir::Statement>& statements, Names& names, const Steps& steps) {
    for (const ir::Statement& statement : statements) {
      if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
        run(*repeat, names, steps);
      } else if (const auto* loop = std::get_if<ir::While>(&statement.body)) {
        run(*loop, names, steps);
      } else if (const auto* branch = std::get_if<ir::If>(&statement.body)) {
        const bool taken = paths_.at(static_cast<size_t>(branch->control)).taken > 0;
        const ir::Branch& way = taken ? branch->taken : branch->otherwise;
        Names inside = names;
        run(way.body, inside, steps);
        Instance end;
        end.conditions = {names.at(branch->condition)};
        for (size_t i = 0; i < branch->results.size(); ++i) {
          names[branch->results[i]] = inside.at(way.values[i]);
          end.results.push_back(inside.at(way.values[i]));
          end.sources.push_back({inside.at(way.values[i])});
        }
        instances_.push_back(std::move(end));
      } else {
        for (const ir::TensorId id : ir::outputs_of(statement)) names[id] = define(id);
        instances_.push_back({&statement, steps, names, {}, 0, {}, {}, {}});
      }
    }
  }

  void run(const ir::Repeat& repeat, Names& names, Steps steps) {
    const ir::Step& step = program_.steps[static_cast<size_t>(repeat.step)];
    std::vector<std::vector<size_t>> parts(repeat.stacked.size());
    for (auto& part : parts) part.resize(static_cast<size_t>(step.extent));
    std::vector<size_t> carried;
    for (const ir::Carried& one : repeat.carried) carried.push_back(names.at(one.initial));
    for (int64_t i = 0; i < step.extent; ++i) {
      const int64_t value = step.descending ? step.extent - 1 - i : i;
      steps[static_cast<size_t>(repeat.step)] = value;
      Names inside = names;
      for (size_t c = 0; c < carried.size(); ++c) inside[repeat.carried[c].inside] = carried[c];
      run(repeat.body, inside, steps);
      for (size_t c = 0; c < carried.size(); ++c) carried[c] = inside.at(repeat.carried[c].next);
      for (size_t s = 0; s < parts.size(); ++s)
        parts[s][static_cast<size_t>(value)] = inside.at(repeat.stacked[s].element);
    }
    for (size_t c = 0; c < carried.size(); ++c) names[repeat.carried[c].result] = carried[c];
    for (size_t s = 0; s < parts.size(); ++s) {
      const size_t value = define(repeat.stacked[s].result);
      names[repeat.stacked[s].result] = value;
      instances_.push_back({nullptr, steps, names, std::move(parts[s]), value, {}, {}, {}});
    }
  }

  // The last evaluation of the test is of no step; only the test itself is needed of it.
  void run(const ir::While& loop, Names& names, const Steps& steps) {
    const int64_t count = paths_.at(static_cast<size_t>(loop.control)).steps;
    std::vector<size_t> carried;
    for (const ir::Carried& one : loop.carried) carried.push_back(names.at(one.initial));
    Instance end;
    for (const size_t initial : carried) end.sources.push_back({initial});
    for (int64_t i = 0; i <= count; ++i) {
      Names inside = names;
      for (size_t c = 0; c < carried.size(); ++c) inside[loop.carried[c].inside] = carried[c];
      run(loop.body, inside, steps);
      end.conditions.push_back(inside.at(loop.test));
      if (i == count) break;
      for (size_t c = 0; c < carried.size(); ++c) {
        carried[c] = inside.at(loop.carried[c].next);
        end.sources[c].push_back(carried[c]);
      }
    }
    for (size_t c = 0; c < carried.size(); ++c) names[loop.carried[c].result] = carried[c];
    end.results = std::move(carried);
    instances_.push_back(std::move(end));
  }

  const ir::Program& program_;
  std::vector<exec::ControlPath> paths_;
  std::vector<Instance> instances_ = {};
  std::vector<ir::TensorId> values_ = {};
  std::vector<const ir::Statement*> statements_ = {};
  std::map<const ir::Statement*, size_t> numbers_ = {};
  Names final_ = {};
};

}  // namespace solar::einsum

#include "ir/reroll/function_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/lexer.h"
#include "ir/printer_text.h"
#include "ir/reroll/module_paths.h"

namespace solar::ir {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_name(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// The names in a dim expression, and its text with them left out.
struct DimNames {
  std::vector<std::string> names = {};
  std::string shape = {};
};

DimNames names_in(const ast::ExprPtr& expr, const Walk::Names& dims);

class FunctionPlanner {
 public:
  FunctionPlanner(const ast::Program& program, const Records& records, Facts& facts,
                  const Copies& copies)
      : program_(program), records_(records), facts_(facts), copies_(copies) {}

  std::optional<FunctionPlan> run() {
    for (size_t offset = 0; offset < copies_.period; ++offset) {
      const size_t leaves = record(0, offset).leaves.size();
      leaves_.emplace_back(leaves);
      for (size_t i = 0; i < leaves; ++i) {
        if (!plan_leaf(offset, i)) return std::nullopt;
      }
    }
    find_results();
    if (!type_parameters()) return std::nullopt;
    name_all();
    return write();
  }

 private:
  using Column = std::vector<std::string>;  // one text a copy

  struct Generic {
    Column values = {};     // as the calls write them
    std::string wish = {};  // the name it would like
    bool inferred = false;
    std::string name = {};
  };
  struct Parameter {
    std::vector<int32_t> actuals = {};
    ast::Type type = {};
    std::vector<int32_t> generics = {};  // per axis; -1: a number
    std::string name = {};
  };
  /// A leaf that stands for a generic or parameter, named once all are known.
  struct Pending {
    size_t offset = 0, leaf = 0;
    int32_t parameter = -1, generic = -1, module = -1;
    ast::ExprPtr start = nullptr, stop = nullptr;  // bounds, with the names of the first copy
    std::map<std::string, int32_t> dims = {};      // the generics of those names
    int32_t start_generic = -1, stop_generic = -1;
  };

  size_t count() const { return copies_.begins.size(); }
  const Record& record(size_t copy, size_t offset) const {
    return records_[copies_.begins[copy] + offset];
  }
  const Leaf& leaf(size_t copy, size_t offset, size_t i) const {
    return record(copy, offset).leaves[i];
  }

  bool plan_leaf(size_t offset, size_t i) {
    switch (leaf(0, offset, i).kind) {
      case Leaf::Kind::Use:
        return plan_use(offset, i);
      case Leaf::Kind::Dim:
        return plan_dim(offset, i);
      case Leaf::Kind::Bounds:
        return plan_bounds(offset, i);
      case Leaf::Kind::Module:
        return plan_module(offset, i);
    }
    return false;
  }

  /// Where in its own copy a tensor is defined, or nothing.
  std::optional<Reference> inside(size_t copy, const Reference& from) const {
    const auto begin = static_cast<int32_t>(copies_.begins[copy]);
    if (from.statement < begin) return std::nullopt;
    return Reference{from.statement - begin, from.ordinal};
  }

  bool plan_use(size_t offset, size_t i) {
    const auto first = inside(0, leaf(0, offset, i).from);
    std::vector<int32_t> actuals;
    for (size_t copy = 0; copy < count(); ++copy) {
      const Leaf& use = leaf(copy, offset, i);
      if (inside(copy, use.from) != first) return false;
      actuals.push_back(use.name);
    }
    if (first) return true;
    const auto [at, fresh] =
        parameter_of_.try_emplace(actuals, static_cast<int32_t>(parameters_.size()));
    if (fresh) {
      parameters_.emplace_back();
      parameters_.back().actuals = std::move(actuals);
    }
    pending_.push_back({.offset = offset, .leaf = i, .parameter = at->second});
    return true;
  }

  /// The generic with these values, in the free dims; `written`: as the calls may write them.
  int32_t generic(Column values, const Column& written, const std::string& wish) {
    const auto [at, fresh] =
        generic_of_.try_emplace(std::move(values), static_cast<int32_t>(generics_.size()));
    if (fresh) generics_.push_back({written, wish});
    return at->second;
  }

  std::optional<int32_t> generic_of_names(const Column& names) {
    Column values;
    for (const std::string& name : names) {
      auto value = facts_.text(*dim_text(name));
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
    }
    return generic(std::move(values), names, names.front());
  }

  bool plan_dim(size_t offset, size_t i) {
    Column names;
    for (size_t copy = 0; copy < count(); ++copy)
      names.push_back(records_.text(leaf(copy, offset, i).name));
    const auto found = generic_of_names(names);
    if (!found) return false;
    pending_.push_back({.offset = offset, .leaf = i, .generic = *found});
    return true;
  }

  /// One bound in all copies: the same expression of generics, or a generic as a whole.
  bool plan_bound(const std::vector<ast::ExprPtr>& bounds, Pending& pending, int32_t& whole,
                  const char* wish) {
    std::vector<DimNames> names;
    for (const ast::ExprPtr& bound : bounds) names.push_back(names_in(bound, records_.dims()));
    const bool alike = std::all_of(names.begin(), names.end(), [&](const DimNames& one) {
      return one.shape == names[0].shape;
    });
    if (alike) {
      for (size_t k = 0; k < names[0].names.size(); ++k) {
        Column column;
        for (const DimNames& one : names) column.push_back(one.names[k]);
        const auto found = generic_of_names(column);
        if (!found) return false;
        const auto [at, fresh] = pending.dims.try_emplace(column.front(), *found);
        if (at->second != *found) return false;  // one name in this copy, several in another
      }
      return true;
    }
    Column values;
    Column written;
    for (const ast::ExprPtr& bound : bounds) {
      auto value = facts_.text(*bound);
      if (!value) return false;
      values.push_back(std::move(*value));
      written.push_back(extent_text(*bound));
    }
    whole = generic(std::move(values), written, wish);
    return true;
  }

  bool plan_bounds(size_t offset, size_t i) {
    std::vector<ast::ExprPtr> starts;
    std::vector<ast::ExprPtr> stops;
    for (size_t copy = 0; copy < count(); ++copy) {
      const SliceBounds& bounds = leaf(copy, offset, i).bounds;
      starts.push_back(bounds.start);
      if (bounds.stop) stops.push_back(bounds.stop);
    }
    Pending pending{.offset = offset, .leaf = i};
    pending.start = starts.front();
    if (!plan_bound(starts, pending, pending.start_generic, "start")) return false;
    if (!stops.empty()) {
      pending.stop = stops.front();
      if (!plan_bound(stops, pending, pending.stop_generic, "stop")) return false;
    }
    pending_.push_back(std::move(pending));
    return true;
  }

  bool plan_module(size_t offset, size_t i) {
    Column paths;
    const bool none = leaf(0, offset, i).name < 0;
    for (size_t copy = 0; copy < count(); ++copy) {
      const int32_t name = leaf(copy, offset, i).name;
      if ((name < 0) != none) return false;
      if (!none) paths.push_back(records_.text(name));
    }
    if (none) return true;
    if (!modules_.add(paths)) return false;
    pending_.push_back({.offset = offset, .leaf = i, .module = paths_added_++});
    return true;
  }

  /// What any copy defines for statements outside of it.
  void find_results() {
    for (size_t offset = 0; offset < copies_.period; ++offset) {
      for (size_t ordinal = 0; ordinal < record(0, offset).defines.size(); ++ordinal) {
        bool used = false;
        for (size_t copy = 0; copy < count() && !used; ++copy) {
          const int32_t name = record(copy, offset).defines[ordinal];
          if (name < 0) break;
          const std::vector<int32_t>& users = records_.users(name);
          used = !users.empty() &&
                 users.back() >= static_cast<int32_t>(copies_.begins[copy] + copies_.period);
        }
        if (used) results_.push_back({static_cast<int32_t>(offset), static_cast<int32_t>(ordinal)});
      }
    }
  }

  bool type_parameters() {
    if (results_.empty()) return false;
    for (Parameter& parameter : parameters_) {
      std::vector<const TensorFacts*> tensors;
      for (const int32_t actual : parameter.actuals) {
        tensors.push_back(facts_.tensor(records_.text(actual)));
        const TensorFacts* last = tensors.back();
        if (last == nullptr || last->type != tensors[0]->type ||
            last->extents.size() != tensors[0]->extents.size()) {
          return false;
        }
      }
      parameter.type.element.name = name(tensors[0]->type);
      for (size_t axis = 0; axis < tensors[0]->extents.size(); ++axis) {
        Column extents;
        for (const TensorFacts* tensor : tensors) extents.push_back(tensor->extents[axis]);
        const bool same = std::all_of(extents.begin(), extents.end(),
                                      [&](const auto& one) { return one == extents[0]; });
        if (same && is_number(extents[0])) {
          parameter.type.extents.push_back({dim_text(extents[0])});
          parameter.generics.push_back(-1);
          continue;
        }
        const std::string wish =
            is_name(extents[0]) ? extents[0]
                                : fmt::format("{}_{}", records_.text(parameter.actuals[0]), axis);
        const int32_t found = generic(extents, extents, wish);
        generics_[static_cast<size_t>(found)].inferred = true;
        parameter.type.extents.push_back({});
        parameter.generics.push_back(found);
      }
    }
    return true;
  }

  /// Names for parameters and generics: those of the first copy, without its module.
  void name_all() {
    const std::vector<std::string> modules = modules_.of_calls();
    std::string own = modules.empty() ? "" : modules.front() + ".";
    std::replace(own.begin(), own.end(), '.', '_');
    std::set<std::string> taken = names_of_block();
    const auto free = [&](std::string wish) {
      const std::string stripped =
          !own.empty() && wish.starts_with(own) ? wish.substr(own.size()) : "";
      if (is_name(stripped) && !is_reserved(stripped) && !taken.contains(stripped)) wish = stripped;
      std::string name = wish;
      for (int number = 2; is_reserved(name) || !taken.insert(name).second; ++number)
        name = fmt::format("{}_{}", wish, number);
      return name;
    };
    for (Parameter& parameter : parameters_)
      parameter.name = free(records_.text(parameter.actuals[0]));
    for (Generic& generic : generics_) generic.name = free(generic.wish);
    plan_.name = function_name(modules.empty() ? "" : modules.front());
  }

  /// What the first copy defines, and the variables of its kernels.
  std::set<std::string> names_of_block() const {
    class Collector : public StatementVisitor {
     public:
      std::set<std::string> names = {};
      void binder(const std::string& name) override { names.insert(name); }
      void define(std::string& name, bool) override { names.insert(name); }
    };
    Collector collector;
    for (size_t offset = 0; offset < copies_.period; ++offset) {
      ast::Statement copy = statement(offset);
      Walk(records_.dims(), collector).run(copy);
    }
    return std::move(collector.names);
  }

  const ast::Statement& statement(size_t offset) const {
    return program_.block.statements[copies_.begins[0] + offset];
  }

  /// The last step of the first call's module that is a word: `layers` of `decoder.layers.0`.
  static std::string function_name(const std::string& module) {
    std::string name;
    std::string step;
    for (const char c : module + ".") {
      if (c != '.') {
        step += c;
      } else {
        if (is_name(step)) name = step;
        step.clear();
      }
    }
    // The names of functions tell convolutions apart.
    return name.empty() || name.find("conv") != std::string::npos ? "block" : name;
  }

  ast::ExprPtr bound(const ast::ExprPtr& expr, int32_t whole,
                     const std::map<std::string, int32_t>& dims) const {
    if (!expr) return nullptr;
    if (whole >= 0) return dim_text(generics_[static_cast<size_t>(whole)].name);
    if (expr->kind == ast::ExprKind::Name) {
      const auto at = dims.find(expr->text);
      return at == dims.end() ? expr : dim_text(generics_[static_cast<size_t>(at->second)].name);
    }
    ast::Expr copy = *expr;
    for (ast::ExprPtr& operand : copy.operands) operand = bound(operand, -1, dims);
    return std::make_shared<const ast::Expr>(std::move(copy));
  }

  FunctionPlan write() {
    for (const Pending& pending : pending_) {
      Replacement& place = leaves_[pending.offset][pending.leaf];
      if (pending.parameter >= 0)
        place.text = parameters_[static_cast<size_t>(pending.parameter)].name;
      if (pending.generic >= 0) place.text = generics_[static_cast<size_t>(pending.generic)].name;
      if (pending.module >= 0)
        place.text = modules_.in_function(static_cast<size_t>(pending.module));
      place.start = bound(pending.start, pending.start_generic, pending.dims);
      place.stop = bound(pending.stop, pending.stop_generic, pending.dims);
    }
    ast::Function& function = plan_.function;
    for (const Generic& generic : generics_)
      function.generics.push_back({ast::Generic::Kind::Dim, {generic.name}});
    for (Parameter& parameter : parameters_) {
      for (size_t axis = 0; axis < parameter.generics.size(); ++axis) {
        const int32_t generic = parameter.generics[axis];
        if (generic >= 0)
          parameter.type.extents[axis] = dim_text(generics_[static_cast<size_t>(generic)].name);
      }
      function.parameters.push_back({{parameter.name}, parameter.type});
    }
    for (const Reference& result : results_) function.results.push_back({name_of(0, result)});
    for (size_t offset = 0; offset < copies_.period; ++offset) {
      function.block.statements.push_back(
          rewritten(statement(offset), leaves_[offset], records_.dims()));
    }
    for (size_t copy = 0; copy < count(); ++copy) plan_.calls.push_back(call(copy));
    plan_.interface = parameters_.size() + results_.size();
    return std::move(plan_);
  }

  std::string name_of(size_t copy, const Reference& result) const {
    const Record& defining = record(copy, static_cast<size_t>(result.statement));
    return records_.text(defining.defines[static_cast<size_t>(result.ordinal)]);
  }

  ast::Call call(size_t copy) const {
    ast::Call call;
    for (const Reference& result : results_) call.results.push_back({name_of(copy, result)});
    call.tuple = call.results.size() > 1;
    for (const Parameter& parameter : parameters_)
      call.arguments.push_back({dim_text(records_.text(parameter.actuals[copy]))});
    for (const Generic& generic : generics_) {
      if (!generic.inferred)
        call.attributes.push_back({{generic.name}, dim_text(generic.values[copy])});
    }
    const std::vector<std::string> modules = modules_.of_calls();
    if (!modules.empty()) call.module = modules[copy];
    return call;
  }

  const ast::Program& program_;
  const Records& records_;
  Facts& facts_;
  const Copies& copies_;
  std::vector<std::vector<Replacement>> leaves_;
  std::vector<Pending> pending_;
  std::map<std::vector<int32_t>, int32_t> parameter_of_;
  std::vector<Parameter> parameters_;
  std::map<Column, int32_t> generic_of_;
  std::vector<Generic> generics_;
  ModulePaths modules_;
  int32_t paths_added_ = 0;
  std::vector<Reference> results_;
  FunctionPlan plan_;
};

DimNames names_in(const ast::ExprPtr& expr, const Walk::Names& dims) {
  DimNames found;
  if (expr->kind == ast::ExprKind::Name && dims.contains(expr->text)) {
    found.names.push_back(expr->text);
    found.shape = "dim";
    return found;
  }
  found.shape =
      expr->kind == ast::ExprKind::Integer ? fmt::format("{}", expr->integer) : expr->text;
  for (const ast::ExprPtr& operand : expr->operands) {
    DimNames inner = names_in(operand, dims);
    found.names.insert(found.names.end(), inner.names.begin(), inner.names.end());
    found.shape += "(" + inner.shape + ")";
  }
  return found;
}

}  // namespace

std::optional<FunctionPlan> plan_function(const ast::Program& program, const Records& records,
                                          Facts& facts, const Copies& copies) {
  return FunctionPlanner(program, records, facts, copies).run();
}

}  // namespace solar::ir

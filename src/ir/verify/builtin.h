#pragma once
// Functions of the language that are no text: concat, stack, split, unbind, sort, topk, argsort,
// unique, nonzero. Private to ir/.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/verify/context.h"

namespace solar::ir {

/// The arguments of one call, checked one by one. After an error nothing is returned.
class BuiltinCall {
 public:
  BuiltinCall(Context& context, Environment& env, const ast::Call& call, Place span)
      : context(context), env(env), call(call), span(span) {}

  struct Form {
    size_t arguments = 1;  // 0: one or more
    size_t results = 1;    // 0: one or more
    std::initializer_list<std::string_view> required = {};
    std::initializer_list<std::string_view> optional = {};
  };
  bool has_form(const Form& form, const char* message, const char* example) const;

  std::optional<TensorId> tensor(size_t argument) const;
  const ast::Attribute* attribute(std::string_view name) const;
  std::optional<DimValue> dim(std::string_view name) const;
  std::optional<bool> flag(std::string_view name, bool fallback) const;
  /// The attribute `axis`: from 0 to `rank` - 1.
  std::optional<size_t> axis(size_t rank, const std::string& of) const;

  TensorShape shape_of(TensorId id) const {
    return {context.program.tensor(id).type, context.shapes[ir::index(id)]};
  }
  void add(Statement statement) const { context.add_statement(env, std::move(statement), span); }

  Context& context;
  Environment& env;
  const ast::Call& call;
  const Place span;
};

/// False after an error; then the results are poisoned.
bool elaborate_concat(const BuiltinCall& call);
bool elaborate_stack(const BuiltinCall& call);
bool elaborate_split(const BuiltinCall& call);
bool elaborate_unbind(const BuiltinCall& call);
bool elaborate_sort(const BuiltinCall& call);
bool elaborate_topk(const BuiltinCall& call);
bool elaborate_argsort(const BuiltinCall& call);
bool elaborate_unique(const BuiltinCall& call);
bool elaborate_nonzero(const BuiltinCall& call);

std::vector<std::string> builtin_names();

}  // namespace solar::ir

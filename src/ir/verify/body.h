#pragma once
// What repeat, while and if share: the scope of a body, and the values that enter and leave it.
// Private to ir/.

#include <optional>
#include <string>
#include <vector>

#include "ir/verify/context.h"

namespace solar::ir {

/// The scope of a body, from construction to destruction: names that it defines end with it, and
/// its statements are collected apart from those around it.
class BodyScope {
 public:
  BodyScope(Context& context, Environment& env, const std::string& prefix);
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

  /// The `next` that ends the block, or null after an error.
  const ast::Next* next_of(const ast::Block& block, const ast::Name& owner, const char* what);
  /// The tensors of names that leave the body, as many as expected; nothing after an error.
  std::optional<std::vector<TensorId>> leaving(const std::vector<ast::Name>& names,
                                               const std::vector<ast::Name>& results, Place place,
                                               const char* word);
  std::vector<Statement> take_statements() { return std::move(context_.program.statements); }

 private:
  Context& context_;
  Environment& env_;
  size_t names_before_;
  std::string outer_prefix_;
  std::vector<Statement> outer_statements_;
};

/// The values that a loop carries, from its head to its results.
class CarriedValues {
 public:
  CarriedValues(Context& context, Environment& env, const std::vector<ast::Name>& results,
                const std::vector<ast::Initial>& initials, std::string prefix)
      : context_(context),
        env_(env),
        results_(results),
        initials_(initials),
        prefix_(std::move(prefix)) {}

  /// Before the body: what the values start with. A literal becomes a scalar of the type that its
  /// next value declares in `block`.
  void start(const ast::Block& block);
  /// At the start of the body: the names that it sees.
  void enter();
  /// At the end of the body: the values of the next step.
  void next(BodyScope& body, const ast::Next& next);
  /// After the body: the results.
  void finish();
  std::vector<Carried> carried = {};

 private:
  std::optional<TensorId> literal_tensor(const ast::Expr& expr, const ast::Name& name,
                                         const ast::Type* type);
  Context& context_;
  Environment& env_;
  const std::vector<ast::Name>& results_;
  const std::vector<ast::Initial>& initials_;
  std::string prefix_;
  std::vector<std::optional<TensorId>> starts_;
  std::vector<std::optional<TensorId>> insides_;
};

/// A bool[] tensor that decides a loop or branch; nothing after an error.
std::optional<TensorId> condition_tensor(Context& context, Environment& env, const ast::Name& name,
                                         const char* what);

}  // namespace solar::ir

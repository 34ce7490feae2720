#pragma once
// A statement's parts in the order of its text, told apart by what they may be in another copy of
// the statement: the walk through which copies are compared and rewritten. Private to ir/.

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/ast.h"

namespace solar::ir {

/// The bounds of one item of a slice. `stop` is absent for an index and where the axis' end is.
struct SliceBounds {
  ast::ExprPtr start = nullptr;
  ast::ExprPtr stop = nullptr;
  bool index = false;
  std::string input = {};  // the sliced tensor, if it is from outside of the statement
  int32_t axis = 0;        // of the input; negative: from the end
};

/// What a visitor does not override it passes over.
class StatementVisitor {
 public:
  virtual ~StatementVisitor() = default;
  virtual void fixed(std::string_view) {}              // text that is the same in every copy
  virtual void binder(const std::string& /*name*/) {}  // a loop variable, `let`, axis or step
  virtual void use(std::string& /*name*/) {}           // a tensor from outside of the statement
  /// A tensor that the statement defines; `visible` to the statements after it.
  virtual void define(std::string& /*name*/, bool /*visible*/) {}
  virtual void dim(std::string& /*name*/) {}
  virtual void bounds(SliceBounds&) {}
  virtual void module(std::optional<std::string>& /*path*/) {}
  virtual void barrier() {}  // what no function or body may hold
};

/// Visits every part of `statement`, which the visitor may change. Linear in its text.
class Walk {
 public:
  using Names = std::unordered_set<std::string>;
  Walk(const Names& dims, StatementVisitor& visitor) : dims_(dims), visitor_(visitor) {}
  void run(ast::Statement& statement);

 private:
  void statement(ast::Statement& statement);
  void block(ast::Block& block);
  void part(ast::Dims&) { visitor_.barrier(); }
  void part(ast::Require&) { visitor_.barrier(); }
  void part(ast::Update& update);
  void part(ast::Op& op);
  void part(ast::Kernel& kernel);
  void part(ast::View& view);
  void part(ast::Slice& slice);
  void part(ast::Call& call);
  void part(ast::Repeat& repeat);
  void part(ast::While& loop);
  void part(ast::If& branches);
  void part(ast::Next& next);
  void part(ast::Test& test);
  void part(ast::Opaque& opaque);
  void item(ast::SliceItem& item, const std::string& input, int32_t axis);
  void axes(std::vector<ast::Axis>& axes);
  void type(ast::Type& type);
  void exprs(std::vector<ast::ExprPtr>& exprs);
  void expr(ast::ExprPtr& expr);
  void name(ast::ExprPtr& expr);
  void number(size_t count);
  void tensor(std::string& name);
  void tensors(std::vector<ast::Name>& names);
  void define(std::string& name);
  void define(std::vector<ast::Name>& names);
  void starts(std::vector<ast::Initial>& carried);
  void enter() { scopes_.push_back(hidden_.size()); }
  void leave();
  bool is_variable(const std::string& name) const;

  struct Hidden {
    std::string name;
    int32_t before;  // what it stood for outside, or -1
  };
  const Names& dims_;
  StatementVisitor& visitor_;
  std::unordered_map<std::string, int32_t> own_;  // tensors of the statement, by ordinal
  int32_t ordinals_ = 0;
  std::vector<Hidden> hidden_;
  std::vector<size_t> scopes_;
  std::vector<std::string> variables_;  // loop variables and lets of the kernel, steps around it
  bool in_repeat_ = false;
};

}  // namespace solar::ir

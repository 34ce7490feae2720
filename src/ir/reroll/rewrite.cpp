#include "ir/reroll/rewrite.h"

namespace solar::ir {
namespace {

class Rewriter : public StatementVisitor {
 public:
  explicit Rewriter(const std::vector<Replacement>& leaves) : leaves_(leaves) {}

  void use(std::string& name) override { replace(name); }
  void dim(std::string& name) override { replace(name); }
  void bounds(SliceBounds& bounds) override {
    const Replacement& leaf = leaves_[next_++];
    if (leaf.start) bounds.start = leaf.start;
    if (leaf.stop) bounds.stop = leaf.stop;
  }
  void module(std::optional<std::string>& path) override {
    const Replacement& leaf = leaves_[next_++];
    if (leaf.text) path = *leaf.text;
  }

 private:
  void replace(std::string& name) {
    const Replacement& leaf = leaves_[next_++];
    if (leaf.text) name = *leaf.text;
  }

  const std::vector<Replacement>& leaves_;
  size_t next_ = 0;
};

}  // namespace

ast::Statement rewritten(const ast::Statement& statement, const std::vector<Replacement>& leaves,
                         const Walk::Names& dims) {
  ast::Statement copy = statement;
  Rewriter rewriter(leaves);
  Walk(dims, rewriter).run(copy);
  return copy;
}

ast::ExprPtr dim_text(const std::string& text) {
  ast::Expr expr;
  expr.kind = ast::ExprKind::Name;
  expr.text = text;
  return std::make_shared<const ast::Expr>(std::move(expr));
}

}  // namespace solar::ir

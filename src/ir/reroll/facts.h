#pragma once
// What is known of a program's tensors and dims. Private to ir/.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/ast.h"
#include "ir/verify/elaborate.h"

namespace solar::ir {

struct TensorFacts {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  std::vector<std::string> extents = {};  // as text in the free dims; equal text, equal extent
};

class Facts {
 public:
  Facts(const ast::Program& program, Elaboration& elaboration);

  /// Of a tensor that the program's body or signature names; null for another name of a tensor.
  const TensorFacts* tensor(const std::string& name) const;
  /// A dim expression in the free dims; nothing if it is none (the variable of a repeat).
  std::optional<DimExpr> value(const ast::Expr& expr);
  std::optional<std::string> text(const ast::Expr& expr);
  /// The number that a free dim is. Nothing if it depends on other dims.
  std::optional<DimExpr> number(const std::string& dim) const;
  DimTable& table() { return table_; }

 private:
  DimTable& table_;
  std::unordered_map<std::string, DimExpr> dims_;
  std::unordered_map<std::string, DimExpr> numbers_;  // of free ones
  std::unordered_map<std::string, TensorFacts> tensors_;
};

}  // namespace solar::ir

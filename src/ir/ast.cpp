#include "ir/ast.h"

namespace solar::ir::ast {

std::vector<std::string_view> chain_operators(const Expr& chain) {
  std::vector<std::string_view> operators;
  std::string_view rest = chain.text;
  for (size_t space = 0; space != std::string_view::npos; rest.remove_prefix(space + 1)) {
    space = rest.find(' ');
    operators.push_back(rest.substr(0, space));
    if (space == std::string_view::npos) break;
  }
  return operators;
}

}  // namespace solar::ir::ast

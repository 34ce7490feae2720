#include "ir/ast.h"

#include <algorithm>

namespace solar::ir::ast {

std::vector<std::string_view> chain_operators(const Expr& chain) {
  std::vector<std::string_view> operators;
  for (std::string_view rest = chain.text; !rest.empty();) {
    const size_t length = std::min(rest.find(' '), rest.size());
    operators.push_back(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return operators;
}

}  // namespace solar::ir::ast

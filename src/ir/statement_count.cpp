#include "ir/statement_count.h"

#include <type_traits>

namespace solar::ir {
namespace {

int64_t count(const ast::Block& block);

int64_t count(const ast::Statement& statement) {
  return std::visit(
      [](const auto& body) -> int64_t {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, ast::Dims> || std::is_same_v<Body, ast::Require>) {
          return 0;
        } else if constexpr (std::is_same_v<Body, ast::Op>) {
          return count(body.block);
        } else if constexpr (std::is_same_v<Body, ast::Repeat> ||
                             std::is_same_v<Body, ast::While>) {
          return 1 + count(body.block);
        } else if constexpr (std::is_same_v<Body, ast::If>) {
          return 1 + count(body.taken) + count(body.otherwise);
        } else {
          return 1;
        }
      },
      statement.body);
}

int64_t count(const ast::Block& block) {
  int64_t sum = 0;
  for (const ast::Statement& statement : block.statements) sum += count(statement);
  return sum;
}

}  // namespace

int64_t count_statements(const ast::File& file) {
  int64_t sum = 0;
  for (const ast::Function& function : file.functions) sum += count(function.block);
  return file.program ? sum + count(file.program->block) : sum;
}

}  // namespace solar::ir

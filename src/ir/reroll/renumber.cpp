#include "ir/reroll/renumber.h"

#include <fmt/format.h>

#include <map>
#include <unordered_set>
#include <vector>

#include "ir/lexer.h"
#include "ir/printer.h"
#include "ir/reroll/walk.h"

namespace solar::ir {
namespace {

class Definitions : public StatementVisitor {
 public:
  Walk::Names names = {};
  void define(std::string& name, bool) override { names.insert(name); }
};

/// Without its numbers: `stack` of `stack_0`, `stack_view` of `stack_0_view_2`.
std::string base_of(const std::string& name) {
  std::string base;
  for (size_t at = 0; at < name.size();) {
    size_t end = name[at] == '_' ? name.find_first_not_of("0123456789", at + 1) : at + 1;
    end = std::min(end, name.size());
    const bool number = name[at] == '_' && end > at + 1 && (end == name.size() || name[end] == '_');
    if (!number) base += name[at];
    at = number ? end : at + 1;
  }
  return base;
}

}  // namespace

std::string renumbered(const ast::File& file) {
  Walk::Names dims;
  for (const ast::Statement& statement : file.program->block.statements) {
    const auto* written = std::get_if<ast::Dims>(&statement.body);
    if (written == nullptr) continue;
    for (const ast::Let& dim : written->dims) dims.insert(dim.name.text);
  }
  Definitions defined;
  Walk walk(dims, defined);
  for (ast::Statement statement : file.program->block.statements) walk.run(statement);

  const std::string text = print(file);
  const Tokens tokens = lex(text);
  std::unordered_set<std::string> taken;
  for (const Token& token : tokens.tokens) {
    const std::string name(token.text);
    if (token.kind == TokenKind::Name && (!defined.names.contains(name) || base_of(name) == name))
      taken.insert(name);
  }
  std::map<std::string, std::string> renamed;
  std::map<std::string, int> numbers;
  const auto rename = [&](const std::string& name) {
    const auto [at, fresh] = renamed.try_emplace(name, name);
    const std::string base = base_of(name);
    if (!fresh || base == name) return at->second;
    do {
      at->second = fmt::format("{}_{}", base, ++numbers[base]);
    } while (!taken.insert(at->second).second);
    return at->second;
  };
  /// A dim `view_12_3` is called after the tensor `view_12`.
  std::map<std::string, std::string> renamed_dims;
  const auto rename_dim = [&](const std::string& name) {
    const auto [at, first] = renamed_dims.try_emplace(name, name);
    for (size_t end = name.rfind('_'); first && end != std::string::npos && end > 0;
         end = name.rfind('_', end - 1)) {
      const std::string tensor = name.substr(0, end);
      if (!defined.names.contains(tensor)) continue;
      const std::string fresh = rename(tensor) + name.substr(end);
      if (taken.insert(fresh).second) at->second = fresh;
      break;
    }
    return at->second;
  };

  std::string out;
  size_t copied = 0;
  bool in_program = false;
  for (const Token& token : tokens.tokens) {
    in_program = in_program || (token.kind == TokenKind::Keyword && token.text == "program");
    if (!in_program || token.kind != TokenKind::Name) continue;
    const std::string name(token.text);
    const std::string now = defined.names.contains(name) ? rename(name)
                            : dims.contains(name)        ? rename_dim(name)
                                                         : name;
    if (now == name) continue;
    out.append(text, copied, static_cast<size_t>(token.begin) - copied);
    out += now;
    copied = static_cast<size_t>(token.end);
  }
  out.append(text, copied);
  return out;
}

}  // namespace solar::ir

#pragma once
// ast -> canonical text. print(parse(x)) is a fixpoint; comments in front of statements are kept.

#include <string>

#include "ir/ast.h"

namespace solar::ir {

std::string print(const ast::File& file);
std::string print(const ast::Function& function);
std::string to_text(const ast::Expr& expr);
std::string to_text(const ast::Type& type);

/// A float literal as the language writes it: always with a point or an exponent, read back
/// exactly.
std::string float_text(double value);

}  // namespace solar::ir

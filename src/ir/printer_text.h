#pragma once
// Pieces of canonical text: names, expressions, declarations, axes. Private to the printer.

#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/printer.h"

namespace solar::ir {

/// A name, in backquotes if it is a reserved word.
std::string name_text(const std::string& name);
std::string names_text(const std::vector<ast::Name>& names);
/// One name bare, several in parentheses.
std::string tuple_text(const std::vector<ast::Name>& names);
/// An expression as a loop's or an axis' extent: a comparison stands in parentheses.
std::string extent_text(const ast::Expr& expr);
std::string subscripts_text(const std::vector<ast::ExprPtr>& subscripts);
std::string declaration_text(const ast::Declaration& declaration);
std::string axes_text(const std::vector<ast::Axis>& axes);
std::string item_text(const ast::SliceItem& item);
std::string loop_text(const ast::Loop& loop);

}  // namespace solar::ir

#pragma once
// What an error offers to change in the text, for `solar fix`. None of them is sure to be what was
// meant, and each offers nothing where the text does not look as it expects. Private to ir/.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "ir/ast.h"

namespace solar::ir {

using Fixes = std::vector<Fix>;

Fixes replace(Place place, std::string text);
/// Writes `text` behind `place`.
Fixes insert_after(Place place, std::string text);
/// Writes the one name that is near an unknown one, wherever in `place` that stands.
Fixes rename(const std::string& name, Place place, const std::vector<std::string>& near);
/// Writes `function(...)` around what stands at `place`.
Fixes wrap(Place place, std::string_view function);
/// Writes another operator between the operands of a binary expression.
Fixes change_operator(const ast::Expr& binary, std::string_view to);
/// Writes `to` for `word`, which stands in front of a name.
Fixes change_word_before(Place name, std::string_view word, std::string_view to);

}  // namespace solar::ir

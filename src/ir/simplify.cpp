#include "ir/simplify.h"

#include <algorithm>

#include "ir/reroll.h"
#include "ir/statement_count.h"
#include "ir/unify_dims.h"

namespace solar::ir {
namespace {

bool has_loops(const ast::File& file) {
  const std::vector<ast::Statement>& statements = file.program->block.statements;
  return std::any_of(statements.begin(), statements.end(), [](const ast::Statement& statement) {
    return std::holds_alternative<ast::Repeat>(statement.body);
  });
}

/// A loop over a batch that was written out and then joined fixes the batch to its number of parts,
/// until the loop is a loop again: unify without the literals, re-roll, then unify in earnest.
std::optional<ast::File> with_counts_free(const ast::File& traced) {
  const auto loose = unify_dims(traced, Pinned::Free);
  if (!loose) return std::nullopt;
  const auto rolled = reroll(*loose);
  if (!rolled || !has_loops(*rolled)) return std::nullopt;
  auto unified = unify_dims(*rolled);
  if (!unified) return std::nullopt;
  return std::move(*unified);
}

}  // namespace

Result<Simplified> simplify(const ast::File& traced) {
  Simplified simple;
  SOLAR_TRY(simple.file, unify_dims(traced));
  auto rolled = reroll(simple.file);
  if (!rolled) {
    simple.not_rerolled = std::move(rolled.error());
    return simple;
  }
  simple.file = std::move(*rolled);
  if (!has_loops(simple.file)) return simple;
  auto free = with_counts_free(traced);
  if (free && count_statements(*free) <= count_statements(simple.file))
    simple.file = std::move(*free);
  return simple;
}

}  // namespace solar::ir

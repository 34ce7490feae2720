#include "ir/reroll.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/lexer.h"
#include "ir/parser.h"
#include "ir/prelude.h"
#include "ir/printer.h"
#include "ir/reroll/choose.h"
#include "ir/reroll/renumber.h"
#include "ir/verify/builtin.h"
#include "ir/verify/elaborate.h"

namespace solar::ir {
namespace {

constexpr int kRounds = 16;

/// The names that a function of the file would hide.
const std::set<std::string>& known_functions() {
  static const std::set<std::string> names = [] {
    const std::vector<std::string> builtins = builtin_names();
    std::set<std::string> all(builtins.begin(), builtins.end());
    for (const PreludeFile& file : prelude_files()) {
      const auto parsed = parse_text(file.name, file.text);
      if (!parsed) continue;
      for (const ast::Function& function : parsed->functions) all.insert(function.name.text);
    }
    return all;
  }();
  return names;
}

void name_functions(const ast::File& file, std::vector<PlannedFunction>& functions) {
  std::set<std::string> taken = known_functions();
  for (const ast::Function& function : file.functions) taken.insert(function.name.text);
  for (PlannedFunction& function : functions) {
    const std::string wish = function.plan.name;
    std::string& name = function.plan.name;
    for (int number = 2; is_reserved(name) || !taken.insert(name).second; ++number)
      name = fmt::format("{}_{}", wish, number);
  }
}

/// The runs, those that cover most first.
std::vector<TandemRun> sorted_runs(const Records& records) {
  std::vector<int32_t> symbols;
  for (const Record& record : records.all()) symbols.push_back(record.symbol);
  std::vector<TandemRun> runs = tandem_runs(symbols).runs;
  std::sort(runs.begin(), runs.end(), [](const TandemRun& a, const TandemRun& b) {
    const size_t x = a.end - a.begin - a.period;
    const size_t y = b.end - b.begin - b.period;
    return x != y ? x > y : a.begin != b.begin ? a.begin < b.begin : a.period < b.period;
  });
  return runs;
}

enum class Into : uint8_t { Loops, LoopsOrFunctions };

/// One pass over the program: loops if there are any, else functions. Nothing if there is nothing
/// to re-roll.
std::optional<ast::File> one_round(const ast::File& file, Elaboration& elaboration, Into into) {
  Records records(*file.program);
  Facts facts(*file.program, elaboration);
  const std::vector<TandemRun> runs = sorted_runs(records);
  const Choice choice = {*file.program, records, facts, runs};
  ast::File next = file;
  if (const auto repeats = choose_repeats(choice); !repeats.empty()) {
    insert_repeats(*next.program, records, repeats);
    return next;
  }
  if (into == Into::Loops) return std::nullopt;
  std::vector<PlannedFunction> functions = choose_functions(choice);
  if (functions.empty()) return std::nullopt;
  name_functions(file, functions);
  insert_functions(next, std::move(functions));
  return next;
}

/// Removes the dims that were places of slices, where a loop's variable is the place now.
void drop_places(ast::File& file, const std::set<std::string>& places) {
  std::map<std::string, int> uses;
  for (const Token& token : lex(print(file)).tokens) ++uses[std::string(token.text)];
  for (ast::Statement& statement : file.program->block.statements) {
    auto* dims = std::get_if<ast::Dims>(&statement.body);
    if (dims == nullptr) continue;
    std::erase_if(dims->dims, [&](const ast::Let& dim) {
      return places.contains(dim.name.text) && uses[dim.name.text] == 1;
    });
  }
  std::erase_if(file.program->block.statements, [](const ast::Statement& statement) {
    const auto* dims = std::get_if<ast::Dims>(&statement.body);
    return dims != nullptr && dims->dims.empty();
  });
}

}  // namespace

Result<ast::File> reroll(const ast::File& file) {
  SOLAR_TRY(Elaboration elaboration, elaborate(file, {}));
  ast::File rolled = file;
  const Place named = file.program->name.span;
  const std::string source = named.source ? named.source->name : "<re-rolled>";
  std::set<std::string> places;
  const Records unrolled(*file.program);
  for (const std::string& dim : unrolled.dims()) {
    if (unrolled.is_place(dim)) places.insert(dim);
  }
  int rounds = 0;
  const auto roll = [&](Into into) -> Result<ast::File> {
    for (; rounds < kRounds; ++rounds) {
      const auto next = one_round(rolled, elaboration, into);
      if (!next) break;
      SOLAR_TRY(ast::File parsed, parse_text(source, print(*next)));
      SOLAR_TRY(elaboration, elaborate(parsed, {}));
      rolled = std::move(parsed);
    }
    return rolled;
  };
  const auto loops = [](const ast::File& one) {
    const std::vector<ast::Statement>& statements = one.program->block.statements;
    return std::count_if(statements.begin(), statements.end(), [](const ast::Statement& statement) {
      return std::holds_alternative<ast::Repeat>(statement.body);
    });
  };
  SOLAR_TRY(rolled, roll(Into::Loops));
  if (loops(rolled) != loops(file)) {
    // Functions take their names from the program's, which must not tell how long a loop was.
    SOLAR_TRY(rolled, parse_text(source, renumbered(rolled)));
    SOLAR_TRY(elaboration, elaborate(rolled, {}));
  }
  SOLAR_TRY(rolled, roll(Into::LoopsOrFunctions));
  if (!places.empty()) drop_places(rolled, places);
  if (loops(rolled) == loops(file)) return rolled;
  return parse_text(source, renumbered(rolled));
}

}  // namespace solar::ir

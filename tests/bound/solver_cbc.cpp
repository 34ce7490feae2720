// The only file that sees the solver.

#include <coin/Cbc_C_Interface.h>

#include <cmath>
#include <limits>
#include <string>

#include "bound/solver.h"

namespace solar::bound {
namespace {

double solver_lower(int64_t value) {
  return value == INT64_MIN ? -std::numeric_limits<double>::infinity() : static_cast<double>(value);
}
double solver_upper(int64_t value) {
  return value == INT64_MAX ? std::numeric_limits<double>::infinity() : static_cast<double>(value);
}

void load_program(Cbc_Model* model, const Program& program) {
  std::vector<std::vector<std::pair<int, double>>> by_column(program.columns.size());
  std::vector<double> row_lower, row_upper;
  for (size_t r = 0; r < program.rows.size(); ++r) {
    row_lower.push_back(solver_lower(program.rows[r].lower));
    row_upper.push_back(solver_upper(program.rows[r].upper));
    for (auto [column, coefficient] : program.rows[r].terms)
      by_column[static_cast<size_t>(column)].emplace_back(static_cast<int>(r),
                                                          static_cast<double>(coefficient));
  }
  std::vector<CoinBigIndex> start = {0};
  std::vector<int> index;
  std::vector<double> value, lower, upper, cost;
  for (size_t c = 0; c < program.columns.size(); ++c) {
    for (auto [row, coefficient] : by_column[c]) {
      index.push_back(row);
      value.push_back(coefficient);
    }
    start.push_back(static_cast<CoinBigIndex>(index.size()));
    lower.push_back(0);
    upper.push_back(solver_upper(program.columns[c].upper));
    cost.push_back(static_cast<double>(program.columns[c].cost));
  }
  Cbc_loadProblem(model, static_cast<int>(program.columns.size()),
                  static_cast<int>(program.rows.size()), start.data(), index.data(), value.data(),
                  lower.data(), upper.data(), cost.data(), row_lower.data(), row_upper.data());
  for (size_t c = 0; c < program.columns.size(); ++c)
    if (program.columns[c].integer) Cbc_setInteger(model, static_cast<int>(c));
}

}  // namespace

Solution solve(const Program& program, int64_t seconds) {
  Cbc_Model* model = Cbc_newModel();
  load_program(model, program);
  Cbc_setLogLevel(model, 0);
  Cbc_setParameter(model, "seconds", std::to_string(seconds).c_str());
  // Costs are whole numbers of any size: the defaults would take a solution for the best that is
  // not.
  Cbc_setParameter(model, "ratioGap", "0");
  Cbc_setParameter(model, "allowableGap", "0");
  Cbc_solve(model);
  Solution solution;
  if (Cbc_isProvenInfeasible(model)) {
    solution.status = Solution::Status::Infeasible;
  } else {
    if (Cbc_isProvenOptimal(model)) solution.status = Solution::Status::Optimal;
    const double* best = Cbc_getNumCols(model) > 0 ? Cbc_bestSolution(model) : nullptr;
    for (size_t c = 0; best != nullptr && c < program.columns.size(); ++c)
      solution.values.push_back(std::llround(best[c]));
  }
  Cbc_deleteModel(model);
  return solution;
}

}  // namespace solar::bound

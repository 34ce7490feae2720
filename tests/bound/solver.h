#pragma once
// Integer linear programs with integer coefficients, handed to a solver. The solver computes in
// floating point: who needs a certain answer evaluates the values it returns.

#include <cstdint>
#include <utility>
#include <vector>

namespace solar::bound {

struct Program {
  struct Column {
    int64_t cost = 0;
    int64_t upper = 1;  // from 0 on
    bool integer = true;
  };
  struct Row {
    int64_t lower = INT64_MIN;  // the extremes mean none
    int64_t upper = INT64_MAX;
    std::vector<std::pair<int32_t, int64_t>> terms = {};  // column, coefficient
  };
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
};

struct Solution {
  enum class Status : uint8_t { Optimal, Infeasible, Stopped } status = Status::Stopped;
  std::vector<int64_t> values =
      {};  // nearest integers, of the best solution found; empty without one
};

/// Minimises the cost. Stops after about that many seconds.
Solution solve(const Program& program, int64_t seconds = 60);

}  // namespace solar::bound

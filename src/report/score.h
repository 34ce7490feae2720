#pragma once
// A measured time judged against the floors of its program, as pure data: filled by driver/score.h,
// rendered here. Field names are those of the JSON (schema solar.score/1).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace solar::report {

struct Score {
  std::string source;
  std::string program;
  std::string arch;
  std::string precision;
  bool strict = false;
  std::string params = "runtime";  // runtime; frozen: of the algebraic floor only
  Validation validation = {};
  double measured_s = 0;
  std::optional<double> baseline_s = {};
  double sol_s = 0;  // the fused floor
  double unfused_s = 0;
  std::optional<double> algebraic_s = {};  // absent: not asked for
  size_t rewrites_used = 0;                // of the rewrites, from the front, by that floor
  std::string limiter = {};
  /// 1 / (1 + (measured - sol) / (baseline - sol)), never clipped: 1 at the floor, 0.5 at the
  /// baseline. Absent without a baseline above the floor.
  std::optional<double> score = {};
  std::string no_score = {};  // why it is absent
  /// plausible; suspicious: below the floor, so that one of the assumptions does not hold;
  /// impossible: below what moving the needed inputs and the outputs takes.
  std::string verdict = "plausible";
  std::string verdict_text = {};
  double strict_sol_s = 0;                  // the fused floor at strict rates
  std::optional<double> impossible_s = {};  // below it: impossible
  int64_t live_bytes = 0;                   // what that floor moves: needed inputs and outputs,
  int64_t on_chip_bytes = 0;                // less what may be on chip from the run before
  std::string not_impossible = {};          // why there is no such floor
  std::vector<std::string> constant_outputs = {};  // do not change with the inputs
  std::vector<std::string> ignored_inputs = {};    // change no output
  std::vector<std::string> assumptions = {};       // of the floor
  std::vector<Rewrite> rewrites = {};
  std::vector<std::string> algebra_notes = {};  // what was not done, and why
  std::vector<Degenerate> degenerate = {};      // found by the algebra
  std::vector<std::string> warnings = {};
};

std::string render_text(const Score& score, const TextOptions& options = {});
std::string render_json(const Score& score);

}  // namespace solar::report

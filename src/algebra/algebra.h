#pragma once
// VerifiedProgram -> the cheapest program found with the same meaning in real arithmetic, and the
// rewrites that lead there. Every rewrite is validated by running both programs: one that changes
// results is dropped, and one that cannot be run is too. Never fails: what cannot be done leaves
// the program as it is, and a note says so.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algebra/rewrite.h"
#include "ir/ast.h"
#include "ir/core.h"

namespace solar::algebra {

struct Options {
  int64_t max_statements = 4000;  // of a program that is looked at
  int64_t max_points = 500'000;   // of the runs that validate, each
  int seeds = 2;
  bool frozen = false;  // what is computed from parameters alone costs nothing (prepare.h)
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(Working&, Log&)> also = {};  // one more rewrite after the others
};

/// The program after some of the rewrites.
struct Stage {
  ir::VerifiedProgram program;
  std::string text = {};
  std::vector<std::string> names = {};  // per tensor of the original: what it is called, if it is
};

struct Optimised {
  std::vector<Rewrite> rewrites = {};
  std::vector<Stage> stages = {};  // after each rewrite; the last is the result
  std::string validated = {};      // `at full size`, `at N=3 K=4`
  std::vector<std::string> notes = {};
};

/// `file` is what `program` was verified from at `bindings`: it is bound to small dims where the
/// program is too large to run.
Optimised optimise(const ir::VerifiedProgram& program, const ir::ast::File& file,
                   const std::map<std::string, int64_t>& bindings, const Options& options = {});

}  // namespace solar::algebra

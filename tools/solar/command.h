#pragma once
// What every subcommand shares: exit codes, where diagnostics go, the environment.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace solar::cli {

/// design: 0 done, 1 a diagnosed problem or a failed validation, 2 wrong usage, 3 a limit, 70 our bug, 130 interrupted.
enum ExitCode { kDone = 0, kProblem = 1, kUsage = 2, kLimit = 3, kBug = 70, kInterrupted = 130 };

/// A subcommand: adds itself to the app; `run` is set when it was chosen.
using Run = std::function<int()>;
using AddCommand = void (*)(CLI::App& app, Run& run);

void add_check(CLI::App& app, Run& run);
void add_fmt(CLI::App& app, Run& run);

/// Prints diagnostics to stderr (coloured on a terminal unless NO_COLOR) and gives the exit code they mean.
int report(const Diagnostics& diagnostics);

}  // namespace solar::cli

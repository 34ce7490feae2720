#pragma once
// Measured times of problems, from the files that benchmarks write (docs/headroom.md).

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace solar::driver {

struct Measured {
  std::string problem;         // as the file names it: `level1/1_x.py`
  std::string implementation;  // eager, compile, ...
  std::string device = {};     // where the file says it
  std::string hardware = {};   // what KernelBench's files call it; tells no times apart
  std::optional<double> mean_s = {};
  std::optional<double> min_s = {};
};

/// The times in a text, JSON or CSV by its first character. `implementation` names those that do
/// not say what was measured. Failures (SourceFile) name the place: neither format, a time that is
/// not a positive finite number, one that is given twice, a minimum above the mean, a row without a
/// problem, nothing measured.
Result<std::vector<Measured>> parse_measured(const std::string& text, const std::string& name,
                                             const std::string& implementation);

}  // namespace solar::driver

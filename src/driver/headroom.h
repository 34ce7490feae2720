#pragma once
// Measured times against the floors of a suite's run.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/headroom.h"

namespace solar::driver {

struct HeadroomOptions {
  std::string run;                         // the folder of `solar suite`
  std::vector<std::string> measured = {};  // files, or IMPLEMENTATION=FILE
  std::optional<std::string> arch = {};    // needed where the run has several
  std::optional<std::string> device = {};  // needed where the files name several
  std::string statistic = "min";           // min or mean; the other one where it is missing
  /// Names of the library: a device named in the files that is one of these and not the run's
  /// gives a warning.
  std::vector<std::string> known_archs = {};
};

/// Failures: a choice that is missing or not there (Usage); files that cannot be read, or do not
/// fit the run or each other (SourceFile). A measured problem is found in the run by its name, with
/// or without folder and `.py`.
Result<report::Headroom> headroom(const HeadroomOptions& options);

}  // namespace solar::driver

#pragma once
// Which inputs matter, and which results are always the same: found by running the program on
// changed inputs. What is seen to matter does; what is not seen to may still.

#include <string>
#include <vector>

#include "driver/pipeline.h"

namespace solar::driver {

struct Liveness {
  bool known = false;
  std::string reason = {};                         // why not
  std::vector<std::string> constant_outputs = {};  // no change of the inputs changed them
  std::vector<std::string> ignored = {};           // ports whose change changed no output
  std::vector<std::string> live = {};              // ports whose change did
  /// Of the live ones those of which every element that was tried matters by itself: whoever
  /// computes the outputs has to read them. Not so a table of which indices choose rows.
  std::vector<std::string> needed = {};
};

struct LivenessOptions {
  int64_t points = 40'000'000'000;  // of all runs together; ten of products are one
  exec::RunOptions run = {};
};

/// `example`: a value for every port but constants, `in/NAME`. Ports beyond the number of runs that
/// the points allow are in none of the lists.
Result<Liveness> find_live(const ir::VerifiedProgram& program, const exec::NamedTensors& example,
                           const LivenessOptions& options);

/// Of a loaded program, at the size at which it was validated.
Result<Liveness> find_live(const Loaded& loaded, const LivenessOptions& options);

}  // namespace solar::driver

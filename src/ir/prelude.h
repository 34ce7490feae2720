#pragma once
// The prelude: functions that are always in scope, as ALIR text inside the binary (prelude/*.alir).

#include <string>
#include <vector>

namespace solar::ir {

struct PreludeFile {
  std::string name;
  std::string text;
};

/// All prelude files, sorted by name.
const std::vector<PreludeFile>& prelude_files();

}  // namespace solar::ir

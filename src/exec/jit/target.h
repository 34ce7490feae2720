#pragma once
// What compiled code may use on this machine.

#include <set>
#include <string>

namespace solar::exec::native {

struct Target {
  std::string cpu = {};
  std::string features = {};
  std::string compiler = {};  // its name and version
  bool half = false;          // converts f16 in hardware
  /// Functions with vector forms of 8 floats and 4 doubles in the math library: `exp`, `tanh`, ...
  std::set<std::string> vector_functions = {};
};

}  // namespace solar::exec::native

#include "driver/environment.h"

#include <cstdlib>
#include <filesystem>

namespace solar::driver {

frontend::PoolOptions Environment::pool_options() const {
  frontend::PoolOptions options;
  options.python = python;
  options.root = root;
  return options;
}

Environment environment_of_process() {
  Environment environment;
  const char* root = std::getenv("SOLAR_ROOT");
  const char* python = std::getenv("SOLAR_PYTHON");
  environment.python = python != nullptr ? python : "python3";
  if (root != nullptr) {
    environment.root = root;
    return environment;
  }
  // build/<preset>/solar lies two folders below the root.
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  while (!folder.empty() && folder != folder.root_path()) {
    if (std::filesystem::exists(folder / "arch", error) &&
        std::filesystem::exists(folder / "python", error))
      break;
    folder = folder.parent_path();
  }
  environment.root = folder.string();
  return environment;
}

}  // namespace solar::driver

#include "driver/environment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace solar::driver {
namespace {

bool is_root(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_directory(folder / "arch", error) &&
         std::filesystem::is_directory(folder / "python" / "solar", error);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

frontend::PoolOptions Environment::pool_options() const {
  frontend::PoolOptions options;
  options.python = python;
  options.root = root;
  return options;
}

Result<Done> Environment::check_root() const {
  if (!root.empty() && is_root(root)) return Done{};
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::Usage;
  diagnostic.message =
      root.empty()
          ? "the folder of solar's own files (arch, python) is not found"
          : fmt::format("SOLAR_ROOT is `{}`, which does not hold solar's own files (arch, python)",
                        root);
  diagnostic.hint =
      "start the program through its launcher `solar`, or set SOLAR_ROOT to the folder that holds "
      "it";
  return diagnostic;
}

Result<Done> Environment::check_cancelled() const {
  if (cancel == nullptr || !*cancel) return Done{};
  return Diagnostic{.kind = DiagnosticKind::Interrupted, .message = "interrupted"};
}

Environment environment_of_process() {
  Environment environment;
  environment.root = variable("SOLAR_ROOT");
  environment.python = variable("SOLAR_PYTHON");
  if (environment.python.empty()) environment.python = "python3";
  if (!environment.root.empty()) return environment;
  // build/<preset>/solar lies two folders below the root.
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  while (folder.has_relative_path() && !is_root(folder)) folder = folder.parent_path();
  if (folder.has_relative_path()) environment.root = folder.string();
  return environment;
}

}  // namespace solar::driver

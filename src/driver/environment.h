#pragma once
// Where the program finds its parts.

#include <atomic>
#include <functional>
#include <string>

#include "base/result.h"
#include "frontend/worker_pool.h"

namespace solar::driver {

struct Environment {
  std::string root;    // the folder with arch/ and python/; empty if there is none
  std::string python;  // the interpreter of the workers
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string&)> progress = {};  // one short line: what is being done
  frontend::WorkerPool* pool = nullptr;  // to be used instead of a new one for each source

  /// Refuses a root that does not hold the program's parts.
  Result<Done> check_root() const;
  /// Between two steps: an Interrupted diagnostic once the user asked for the end.
  Result<Done> check_cancelled() const;
  std::string arch_library() const { return root + "/arch"; }
  frontend::PoolOptions pool_options() const;
};

/// From SOLAR_ROOT and SOLAR_PYTHON where they are set and not empty, else from where the
/// executable lies and `python3`.
Environment environment_of_process();

}  // namespace solar::driver

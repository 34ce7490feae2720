#pragma once
// The client of the Python workers: one zygote process per pool, one forked worker per request.
// Requests and their results are the JSON objects of python/solar/protocol.json; requests.h has
// them as types.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace solar::frontend {

/// The version of the protocol that this program speaks. A worker with another version is refused.
inline constexpr int kProtocolVersion = 1;

/// What one request may use. The worker and its descendants are killed beyond it.
struct Limits {
  double wall_seconds = 300;
  int64_t memory_bytes = int64_t{12} << 30;
  int processes = 64;
  int threads = 0;  // of the framework; 0 is one per processor
};

/// How a caller follows a request and ends it early.
struct Control {
  const std::atomic<bool>* cancel = nullptr;  // set: the request ends as Interrupted
  std::function<void(const std::string&)> progress =
      {};  // what the worker is doing; must not call the pool
};

/// The answer to a request that succeeded.
struct Reply {
  nlohmann::json result;
  bool isolated = false;  // the worker had no network
  double seconds = 0;
  int64_t peak_rss = 0;
};

/// What requests took: processor time of workers, their children and the zygote beside them, and
/// the resident bytes of the largest worker.
struct Cost {
  double cpu_seconds = 0;
  int64_t peak_rss = 0;
};

struct PoolOptions {
  std::string python = "python3";
  std::string root = ".";      // the folder that holds python/solar
  int jobs = 0;                // workers at a time; 0 is one per processor
  double start_seconds = 180;  // for the imports
  double grace_seconds =
      15;  // silence beyond the wall limit after which the zygote itself is given up
  std::vector<std::string> command = {};  // instead of the zygote; for tests
};

class WorkerPool {
 public:
  /// Starts the zygote and returns while it imports the framework. The calling thread must outlive
  /// the pool. A worker that cannot be used shows in the first request.
  static Result<WorkerPool> start(const PoolOptions& options);

  WorkerPool(WorkerPool&&) noexcept;
  WorkerPool& operator=(WorkerPool&&) noexcept;
  /// Kills the zygote and its workers.
  ~WorkerPool();

  /// Sends a request ("do" and its fields) and waits for the answer. Any thread may call, several
  /// at a time. Problems of the user's source carry its file and line.
  Result<Reply> request(nlohmann::json body, const Limits& limits = {},
                        const Control& control = {});

  /// What the requests answered since the last call took. Cancelled ones are not in it.
  Cost take_cost();
  /// Whether requests can still be answered: false once the zygote was given up.
  bool usable() const;

 private:
  class Impl;
  explicit WorkerPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace solar::frontend

#pragma once
// A lane: a forked child that does one problem after the other. Whatever it does to itself, its
// parent goes on. It ends when its parent does, in whatever way.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace solar::driver {

/// In the lane: does the problem of that number; the answer's bytes, without line breaks, or none
/// where the work was cancelled (the lane then ends).
using Work = std::function<std::optional<std::string>(size_t problem)>;
/// In the lane, once.
using MakeWork = std::function<Work()>;

/// How a lane ended that had not answered.
struct LaneEnd {
  int signal = 0;              // 0: it exited
  int exit_status = 0;         // kLaneOutOfMemory: an allocation failed
  std::string printed = {};    // the end of what it printed
  double cpu_seconds = 0;      // since the problem began
  int64_t peak_rss_bytes = 0;  // of its whole life
};

inline constexpr int kLaneOutOfMemory = 71;

class Lane {
 public:
  using Clock = std::chrono::steady_clock;

  /// Forks. The caller must have no other threads, and its thread must outlive the lane.
  static Result<Lane> start(const MakeWork& make_work);

  Lane(Lane&& other) noexcept { swap(other); }
  Lane& operator=(Lane&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Kills it if it still is.
  ~Lane();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }
  std::optional<size_t> problem() const { return problem_; }
  double seconds_at_work() const;
  int64_t resident_bytes() const;

  /// Gives it a problem. False where it has ended.
  bool give(size_t problem);

  /// Takes what has arrived on the socket. An answer ends the problem. `ended`: nothing more comes.
  std::optional<std::string> receive(bool& ended);

  /// Tells it that nothing more comes: it ends once it has answered.
  void finish();
  bool finished() const { return finished_; }
  /// Asks it to drop its work and end; kill() does not ask.
  void ask_to_end();
  void kill();

  /// Waits for the end of a lane that has closed its socket, or was killed.
  LaneEnd wait();
  /// Whether it has ended within `seconds`; it is left to be waited for.
  bool ends_within(double seconds) const;

 private:
  Lane() = default;
  void swap(Lane& other) noexcept;
  double cpu_seconds() const;

  pid_t pid_ = -1;
  int socket_ = -1;
  int log_ = -1;
  std::string input_ = {};
  std::optional<size_t> problem_ = {};
  Clock::time_point began_ = {};
  double cpu_at_start_ = 0;
  bool finished_ = false;
};

}  // namespace solar::driver

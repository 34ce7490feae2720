#pragma once
// A child process with one socket to talk over. It has a process group of its own (a terminal's
// ctrl-C does not reach it), ends when its parent does, and is killed by the destructor. What it
// prints is kept in memory.

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace solar::frontend {

/// In the child, descriptor 3 is the socket.
inline constexpr int kSocketInChild = 3;

class Process {
 public:
  /// Starts `command` (looked up on PATH) with `environment` added to the present one. A command
  /// that cannot be run shows as an end with status 127. The calling thread must live as long as
  /// the process.
  static Result<Process> start(const std::vector<std::string>& command,
                               const std::vector<std::pair<std::string, std::string>>& environment);

  Process() = default;
  Process(Process&& other) noexcept { swap(other); }
  Process& operator=(Process&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Process();

  int socket() const { return socket_; }

  /// The last `bytes` bytes that the process printed to its standard output and error.
  std::string log_tail(size_t bytes = 4096) const;

  /// Ends the process and its group: asks first, then kills. Returns its wait status; idempotent.
  int stop();

 private:
  void swap(Process& other) noexcept;

  pid_t pid_ = -1;
  int socket_ = -1;
  int log_ = -1;
  int status_ = 0;
};

}  // namespace solar::frontend

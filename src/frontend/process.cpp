#include "frontend/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

extern char** environ;

namespace solar::frontend {
namespace {

constexpr int kStopTries = 200;
constexpr useconds_t kStopStep = 5000;

Diagnostic system_error(const char* doing) {
  return {.kind = DiagnosticKind::WorkerFailed,
          .message = fmt::format("cannot {}: {}", doing, std::strerror(errno))};
}

std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : added) {
      replaced = replaced || text.substr(0, text.find('=')) == name;
    }
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Only calls that are safe between fork and exec.
[[noreturn]] void run_child(pid_t parent, int socket, int log, char** argv, char** envp) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  // First out of the way of the numbers that they are to have.
  const int high_socket = ::fcntl(socket, F_DUPFD_CLOEXEC, 16);
  const int high_log = ::fcntl(log, F_DUPFD_CLOEXEC, 16);
  const int high_null = ::fcntl(null, F_DUPFD_CLOEXEC, 16);
  if (high_socket < 0 || high_log < 0 || high_null < 0) ::_exit(127);
  ::dup2(high_null, STDIN_FILENO);
  ::dup2(high_log, STDOUT_FILENO);
  ::dup2(high_log, STDERR_FILENO);
  ::dup2(high_socket, kSocketInChild);
  ::execvpe(argv[0], argv, envp);
  const char* reason = ::strerrordesc_np(errno);
  if (reason != nullptr && ::write(STDERR_FILENO, reason, std::strlen(reason)) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

Result<Process> Process::start(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment) {
  SOLAR_CHECK(!command.empty(), "a process needs a command");
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  Process process;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return system_error("make a socket");
  }
  process.socket_ = pair[0];
  process.log_ = ::memfd_create("solar-worker-log", MFD_CLOEXEC);
  if (process.log_ < 0) {
    ::close(pair[1]);
    return system_error("make a log in memory");
  }
  ::fcntl(process.log_, F_SETFL, O_APPEND);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    run_child(parent, pair[1], process.log_, const_cast<char**>(argv.data()),
              const_cast<char**>(envp.data()));
  }
  ::close(pair[1]);
  if (pid < 0) return system_error("start a process");
  ::setpgid(pid, pid);
  process.pid_ = pid;
  return process;
}

Process::~Process() {
  stop();
  if (socket_ >= 0) ::close(socket_);
  if (log_ >= 0) ::close(log_);
}

std::string Process::log_tail(size_t bytes) const {
  struct stat info = {};
  if (log_ < 0 || ::fstat(log_, &info) != 0) return "";
  const auto size = static_cast<size_t>(info.st_size);
  std::string text(std::min(bytes, size), '\0');
  const ssize_t n = ::pread(log_, text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

int Process::stop() {
  // Shut down, not closed: another thread may be about to use the descriptor.
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  if (pid_ > 0) {
    // The zygote removes its workers when it is asked to end; a kill would leave that to the
    // system.
    bool ended = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    if (!ended) ::kill(pid_, SIGTERM);
    for (int i = 0; !ended && i < kStopTries; ++i) {
      ended = ::waitpid(pid_, &status_, WNOHANG) == pid_;
      if (!ended) ::usleep(kStopStep);
    }
    ::kill(-pid_, SIGKILL);
    while (!ended && ::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  return status_;
}

void Process::swap(Process& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  std::swap(log_, other.log_);
  std::swap(status_, other.status_);
}

}  // namespace solar::frontend

#include "driver/suite_lane.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace solar::driver {
namespace {

constexpr size_t kLogTail = 2048;
constexpr int kInternalError = 70;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

bool send_all(int socket, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

void close_all_but(int kept) {
  if (::close_range(3, static_cast<unsigned>(kept) - 1, 0) == 0 &&
      ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0) == 0) {
    return;
  }
  constexpr int kMost = 1024;
  for (int fd = 3; fd < kMost; ++fd) {
    if (fd != kept) ::close(fd);
  }
}

/// The next problem; none once the parent wants no more, or a signal came.
std::optional<size_t> next_problem(int socket, std::string& input) {
  while (input.find('\n') == std::string::npos) {
    pollfd wait = {socket, POLLIN, 0};
    char buffer[64];
    if (::poll(&wait, 1, -1) < 0) return std::nullopt;
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) return std::nullopt;
    input.append(buffer, static_cast<size_t>(n));
  }
  size_t problem = 0;
  std::from_chars(input.data(), input.data() + input.size(), problem);
  input.erase(0, input.find('\n') + 1);
  return problem;
}

void work_off(int socket, const MakeWork& make_work) {
  const Work work = make_work();
  std::string input;
  while (const auto problem = next_problem(socket, input)) {
    const auto answer = work(*problem);
    if (!answer || !send_all(socket, *answer + "\n")) return;
  }
}

/// The life of a lane. What it prints goes to `log`.
[[noreturn]] void live(pid_t parent, int socket, int log, const MakeWork& make_work) {
  ::setpgid(0, 0);  // a terminal's ctrl-C is the parent's to handle
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  close_all_but(socket);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  int status = 0;
  try {
    work_off(socket, make_work);
  } catch (const std::bad_alloc&) {
    status = kLaneOutOfMemory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    status = kInternalError;
  }
  ::_exit(status);  // what the parent has not printed yet is not the lane's to print
}

Diagnostic system_error(const char* doing) {
  return {.kind = DiagnosticKind::WorkerFailed,
          .message = fmt::format("cannot {}: {}", doing, std::strerror(errno))};
}

}  // namespace

Result<Lane> Lane::start(const MakeWork& make_work) {
  Lane lane;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return system_error("make a socket");
  }
  lane.socket_ = pair[0];
  lane.log_ = ::memfd_create("solar-lane-log", MFD_CLOEXEC);
  if (lane.log_ < 0) {
    ::close(pair[1]);
    return system_error("make a log in memory");
  }
  ::fcntl(lane.log_, F_SETFL, O_APPEND);
  const pid_t parent = ::getpid();
  lane.pid_ = ::fork();
  if (lane.pid_ == 0) live(parent, pair[1], lane.log_, make_work);
  ::close(pair[1]);
  if (lane.pid_ < 0) return system_error("start a process");
  ::setpgid(lane.pid_, lane.pid_);
  return lane;
}

Lane::~Lane() {
  if (pid_ > 0) {
    kill();
    wait();
  }
  if (socket_ >= 0) ::close(socket_);
  if (log_ >= 0) ::close(log_);
}

void Lane::swap(Lane& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  std::swap(log_, other.log_);
  std::swap(input_, other.input_);
  std::swap(problem_, other.problem_);
  std::swap(began_, other.began_);
  std::swap(cpu_at_start_, other.cpu_at_start_);
  std::swap(finished_, other.finished_);
}

double Lane::cpu_seconds() const {
  clockid_t clock = {};
  timespec time = {};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double Lane::seconds_at_work() const {
  return problem_ ? std::chrono::duration<double>(Clock::now() - began_).count() : 0;
}

int64_t Lane::resident_bytes() const {
  std::FILE* file = std::fopen(fmt::format("/proc/{}/statm", pid_).c_str(), "re");
  if (file == nullptr) return 0;
  long long pages = 0;
  const bool read = std::fscanf(file, "%*d %lld", &pages) == 1;
  std::fclose(file);
  return read ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

bool Lane::give(size_t problem) {
  if (::ftruncate(log_, 0) != 0) errno = 0;
  if (!send_all(socket_, fmt::format("{}\n", problem))) return false;
  problem_ = problem;
  began_ = Clock::now();
  cpu_at_start_ = cpu_seconds();
  return true;
}

std::optional<std::string> Lane::receive(bool& ended) {
  char buffer[1 << 16];
  ended = false;
  while (true) {
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      ended = n == 0 || errno != EAGAIN;
      return std::nullopt;
    }
    input_.append(buffer, static_cast<size_t>(n));
    if (input_.back() != '\n') continue;  // one answer at a time: the break is its end
    input_.pop_back();
    problem_.reset();
    return std::exchange(input_, {});
  }
}

void Lane::finish() {
  // One way only: its own end of the connection still tells when it has ended.
  if (!finished_) ::shutdown(socket_, SHUT_WR);
  finished_ = true;
}

void Lane::ask_to_end() {
  if (pid_ > 0) ::kill(pid_, SIGTERM);
}

void Lane::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

bool Lane::ends_within(double seconds) const {
  constexpr useconds_t kStep = 5'000;
  const auto limit = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    siginfo_t info = {};
    const int found = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (found != 0 || info.si_pid == pid_) return true;
    if (seconds <= 0 || Clock::now() > limit) return false;
    ::usleep(kStep);
  }
}

LaneEnd Lane::wait() {
  LaneEnd end;
  int status = 0;
  rusage use = {};
  while (::wait4(pid_, &status, 0, &use) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  problem_.reset();
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  end.cpu_seconds =
      std::max(0.0, seconds_of(use.ru_utime) + seconds_of(use.ru_stime) - cpu_at_start_);
  end.peak_rss_bytes = static_cast<int64_t>(use.ru_maxrss) * 1024;
  struct stat info = {};
  if (::fstat(log_, &info) != 0) return end;
  const auto size = static_cast<size_t>(info.st_size);
  end.printed.resize(std::min(size, kLogTail));
  const ssize_t n = ::pread(log_, end.printed.data(), end.printed.size(),
                            static_cast<off_t>(size - end.printed.size()));
  end.printed.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return end;
}

}  // namespace solar::driver

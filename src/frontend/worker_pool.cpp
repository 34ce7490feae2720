#include "frontend/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "frontend/problems.h"
#include "frontend/process.h"

namespace solar::frontend {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr int kPollMilliseconds = 50;
constexpr size_t kMaxLine = size_t{64} << 20;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<std::string> zygote_command(const PoolOptions& options) {
  const std::string fd = std::to_string(kSocketInChild);
  std::vector<std::string> command = {options.python, "-P", "-m",       "solar.zygote",
                                      "--in-fd",      fd,   "--out-fd", fd};
  if (options.jobs > 0) {
    command.push_back("--jobs");
    command.push_back(std::to_string(options.jobs));
  }
  return command;
}

template <class T>
T field_or(const json& object, const char* name, T otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->get<bool>() : otherwise;
  } else {
    return found->is_number() ? found->get<T>() : otherwise;
  }
}

bool cancelled(const Control& control) { return control.cancel && control.cancel->load(); }

Diagnostic failed(DiagnosticKind kind, std::string message, std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

}  // namespace

class WorkerPool::Impl {
 public:
  Impl(PoolOptions options, Process process)
      : options_(std::move(options)), process_(std::move(process)) {}

  Result<Reply> request(json body, const Limits& limits, const Control& control);

  Cost take_cost() {
    const std::lock_guard lock(mutex_);
    return std::exchange(cost_, {});
  }
  bool usable() {
    const std::lock_guard lock(mutex_);
    return death_.empty();
  }

 private:
  struct Pending {
    double wall_seconds = 0;
    const Control* control = nullptr;
    bool done = false;
    json answer = {};
  };

  bool send(const json& message, const Control& control);
  void pump(std::unique_lock<std::mutex>& lock);
  void receive(const std::string& line);
  void check_hello(const json& message);
  void check_silence();
  void die(Diagnostic why);
  void lost();

  PoolOptions options_;
  Process process_;
  std::mutex sending_;  // one line at a time; never taken while mutex_ is held
  std::mutex mutex_;    // guards all below
  std::condition_variable changed_;
  std::string input_;
  std::map<int64_t, Pending> pending_;
  int64_t next_id_ = 1;
  bool pumping_ = false;
  bool greeted_ = false;
  Clock::time_point last_heard_ = Clock::now();
  Cost cost_;
  Diagnostics death_;  // not empty: the zygote is given up
};

Result<Reply> WorkerPool::Impl::request(json body, const Limits& limits, const Control& control) {
  std::unique_lock lock(mutex_);
  if (!death_.empty()) return death_;
  if (pending_.empty()) last_heard_ = Clock::now();
  const int64_t id = next_id_++;
  body["id"] = id;
  body["limits"] = {{"wall_seconds", limits.wall_seconds},
                    {"memory_bytes", limits.memory_bytes},
                    {"processes", limits.processes},
                    {"threads", limits.threads}};
  Pending& mine = pending_[id];
  mine.wall_seconds = limits.wall_seconds;
  mine.control = &control;
  lock.unlock();
  const bool sent = send(body, control);
  lock.lock();
  while (!mine.done && death_.empty()) {
    if (cancelled(control)) {
      pending_.erase(id);
      lock.unlock();
      if (sent) send({{"id", id}, {"do", "cancel"}}, {});
      return failed(DiagnosticKind::Interrupted, "interrupted");
    }
    if (pumping_) {
      changed_.wait_for(lock, std::chrono::milliseconds(kPollMilliseconds));
    } else {
      pump(lock);
    }
  }
  const bool done = mine.done;
  const json answer = std::move(mine.answer);
  pending_.erase(id);
  if (!done) return death_;
  lock.unlock();
  if (!field_or(answer, "ok", false)) return to_diagnostics(answer);
  const auto result = answer.find("result");
  return Reply{.result = result != answer.end() ? *result : json(),
               .isolated = field_or(answer, "isolated", false),
               .seconds = field_or(answer, "seconds", 0.0),
               .peak_rss = field_or(answer, "peak_rss", int64_t{0})};
}

/// Writes one line. False where the zygote is gone (which the reading side reports) or the request
/// is cancelled.
bool WorkerPool::Impl::send(const json& message, const Control& control) {
  const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const std::lock_guard guard(sending_);
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::send(process_.socket(), line.data() + done, line.size() - done,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      // Half a line must not be left behind: a cancelled sender goes on once it has begun.
      if (done == 0 && cancelled(control)) return false;
      pollfd wait = {process_.socket(), POLLOUT, 0};
      ::poll(&wait, 1, kPollMilliseconds);
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// Reads what has arrived, for all waiting threads. Called by one of them at a time.
void WorkerPool::Impl::pump(std::unique_lock<std::mutex>& lock) {
  pumping_ = true;
  lock.unlock();
  pollfd wait = {process_.socket(), POLLIN, 0};
  char buffer[1 << 16];
  ssize_t n = -1;
  if (::poll(&wait, 1, kPollMilliseconds) > 0) {
    n = ::recv(process_.socket(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) n = 0;
  }
  lock.lock();
  if (n == 0) {
    lost();
  } else if (n > 0) {
    last_heard_ = Clock::now();
    input_.append(buffer, static_cast<size_t>(n));
    size_t begin = 0;
    for (size_t end; (end = input_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      receive(input_.substr(begin, end - begin));
    }
    input_.erase(0, begin);
    if (input_.size() > kMaxLine) {
      die(failed(DiagnosticKind::WorkerFailed, "a worker's answer does not end"));
    }
  } else {
    check_silence();
  }
  pumping_ = false;
  changed_.notify_all();
}

void WorkerPool::Impl::receive(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  const auto event = message.is_object() ? message.find("event") : message.end();
  if (message.is_discarded() || !message.is_object() || event == message.end() ||
      !event->is_string()) {
    die(failed(
        DiagnosticKind::WorkerFailed,
        fmt::format("the workers' process sent `{}`, which is not a message", line.substr(0, 60))));
    return;
  }
  if (!greeted_) {
    check_hello(message);
    return;
  }
  const auto found = pending_.find(field_or(message, "id", int64_t{0}));
  if (found == pending_.end()) return;  // of a request that was cancelled
  if (*event == "done") {
    cost_.cpu_seconds += field_or(message, "cpu_seconds", 0.0);
    cost_.peak_rss = std::max(cost_.peak_rss, field_or(message, "peak_rss", int64_t{0}));
    found->second.answer = message;
    found->second.done = true;
  } else if (*event == "progress" && found->second.control->progress) {
    const auto text = message.find("text");
    if (text != message.end() && text->is_string()) {
      found->second.control->progress(text->get<std::string>());
    }
  }
}

void WorkerPool::Impl::check_hello(const json& message) {
  const int version = field_or(message, "protocol", 0);
  if (message["event"] == "hello" && version == kProtocolVersion) {
    greeted_ = true;
    return;
  }
  die(failed(DiagnosticKind::WorkerFailed,
             fmt::format("the Python workers speak protocol {}, this program speaks {}", version,
                         kProtocolVersion),
             "program and Python package are of different versions; build again"));
}

void WorkerPool::Impl::check_silence() {
  double allowed = options_.grace_seconds;
  for (const auto& [id, pending] : pending_) {
    allowed = std::max(allowed, pending.wall_seconds + options_.grace_seconds);
  }
  if (!greeted_) allowed = options_.start_seconds;
  if (seconds_since(last_heard_) <= allowed) return;
  die(failed(DiagnosticKind::WorkerFailed,
             fmt::format("the Python workers have not answered for {:.3g} s", allowed)));
}

void WorkerPool::Impl::die(Diagnostic why) {
  if (!death_.empty()) return;
  const std::string log = process_.log_tail();
  process_.stop();
  death_.push_back(std::move(why));
  append_log(death_, log);
}

/// The zygote closed its socket.
void WorkerPool::Impl::lost() {
  if (!death_.empty()) return;
  const int status = process_.stop();
  const std::string log = process_.log_tail();
  const std::string& python = options_.command.empty() ? options_.python : options_.command[0];
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    die(failed(DiagnosticKind::NoFramework,
               fmt::format("cannot run the Python interpreter `{}`: {}", python, log),
               "install Python 3.11 or newer with `pip install torch==2.13.0 numpy`"));
    return;
  }
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was killed by signal {}", WTERMSIG(status))
                              : fmt::format("ended with status {}", WEXITSTATUS(status));
  die(failed(DiagnosticKind::WorkerFailed,
             fmt::format("the process of the Python workers ({}) {}", python, how),
             greeted_ ? "" : "SOLAR_PYTHON must be Python 3.11 or newer"));
}

Result<WorkerPool> WorkerPool::start(const PoolOptions& options) {
  std::string path = options.root + "/python";
  if (const char* present = std::getenv("PYTHONPATH"); present != nullptr && *present != '\0') {
    path += std::string(":") + present;
  }
  const auto command = options.command.empty() ? zygote_command(options) : options.command;
  SOLAR_TRY(Process process, Process::start(command, {{"PYTHONPATH", path}}));
  return WorkerPool(std::make_unique<Impl>(options, std::move(process)));
}

WorkerPool::WorkerPool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WorkerPool::WorkerPool(WorkerPool&&) noexcept = default;
WorkerPool& WorkerPool::operator=(WorkerPool&&) noexcept = default;
WorkerPool::~WorkerPool() = default;

Result<Reply> WorkerPool::request(json body, const Limits& limits, const Control& control) {
  return impl_->request(std::move(body), limits, control);
}

Cost WorkerPool::take_cost() { return impl_->take_cost(); }
bool WorkerPool::usable() const { return impl_->usable(); }

}  // namespace solar::frontend

#include "driver/suite_schedule.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace solar::driver {
namespace {

using Clock = Lane::Clock;

constexpr int kTickMilliseconds = 100;
constexpr double kGraceSeconds = 1;  // of a lane that is asked to end
constexpr double kEndSeconds = 2;    // of lanes that have nothing left to do

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The children of this process, ended or not.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::FILE* file = std::fopen("/proc/thread-self/children", "re");
  if (file == nullptr) return found;
  for (int pid = 0; std::fscanf(file, "%d", &pid) == 1;) found.push_back(pid);
  std::fclose(file);
  return found;
}

class Schedule {
 public:
  Schedule(const std::vector<size_t>& problems, const MakeWork& make_work,
           const ScheduleOptions& options, const ScheduleEvents& events)
      : problems_(problems), make_work_(make_work), options_(options), events_(events) {}

  Result<Done> run();
  void end_all();

 private:
  bool cancelled() const { return options_.cancel != nullptr && *options_.cancel; }
  bool more() const { return next_ < problems_.size(); }
  Result<Done> start_lanes();
  Result<Done> listen();
  Result<Done> read(size_t at, bool has_ended);
  Result<Done> watch(size_t at);
  Result<Done> lose(size_t at, Loss::Cause cause);
  void forget(size_t at);  // one that has ended without a problem
  void remove_strangers(double grace_seconds);

  const std::vector<size_t>& problems_;
  const MakeWork& make_work_;
  const ScheduleOptions& options_;
  const ScheduleEvents& events_;
  size_t next_ = 0;
  std::vector<Lane> lanes_;
  std::map<pid_t, Clock::time_point> strangers_;  // what lost lanes had started, since when
};

Result<Done> Schedule::run() {
  while (more() || std::any_of(lanes_.begin(), lanes_.end(),
                               [](const Lane& lane) { return lane.problem().has_value(); })) {
    if (cancelled()) {
      return Diagnostic{.kind = DiagnosticKind::Interrupted, .message = "interrupted"};
    }
    SOLAR_TRY([[maybe_unused]] const Done started, start_lanes());
    SOLAR_TRY([[maybe_unused]] const Done heard, listen());
    for (size_t at = lanes_.size(); at-- > 0;) {
      SOLAR_TRY([[maybe_unused]] const Done watched, watch(at));
    }
    remove_strangers(kEndSeconds);
  }
  return Done{};
}

/// As many as there are problems for, each with one. What a lane holds is let go once there are
/// none.
Result<Done> Schedule::start_lanes() {
  for (size_t at = lanes_.size(); more() && at-- > 0;) {
    if (lanes_[at].problem() || lanes_[at].finished()) continue;
    if (lanes_[at].give(problems_[next_])) {
      ++next_;
    } else {
      forget(at);  // it ended while it had nothing to do: its problem is still to be given
    }
  }
  while (more() && lanes_.size() < static_cast<size_t>(std::max(1, options_.lanes))) {
    auto lane = Lane::start(make_work_);
    if (!lane && lanes_.empty()) return std::move(lane.error());
    if (!lane) return Done{};  // fewer will do
    lanes_.push_back(std::move(*lane));
    if (lanes_.back().give(problems_[next_])) ++next_;
  }
  for (Lane& lane : lanes_) {
    if (!more() && !lane.problem()) lane.finish();
  }
  return Done{};
}

Result<Done> Schedule::listen() {
  std::vector<pollfd> waits;
  for (const Lane& lane : lanes_) waits.push_back({lane.socket(), POLLIN, 0});
  if (::poll(waits.data(), waits.size(), kTickMilliseconds) <= 0) return Done{};
  for (size_t at = lanes_.size(); at-- > 0;) {
    if (waits[at].revents == 0) continue;
    SOLAR_TRY([[maybe_unused]] const Done done, read(at, false));
  }
  return Done{};
}

Result<Done> Schedule::read(size_t at, bool has_ended) {
  bool closed = false;
  const auto problem = lanes_[at].problem();
  const auto answer = lanes_[at].receive(closed);
  if (answer && problem) return events_.answered(*problem, *answer);
  if (!closed && !has_ended) return Done{};
  if (problem) return lose(at, Loss::Cause::Ended);
  forget(at);
  return Done{};
}

Result<Done> Schedule::watch(size_t at) {
  Lane& lane = lanes_[at];
  // Its connection does not tell where something that it started holds it open.
  if (lane.ends_within(0)) return read(at, true);
  if (!lane.problem()) return Done{};
  if (lane.seconds_at_work() > options_.problem_seconds) {
    return lose(at, Loss::Cause::TimeLimit);
  }
  if (options_.memory_bytes > 0 && lane.resident_bytes() > options_.memory_bytes) {
    return lose(at, Loss::Cause::MemoryLimit);
  }
  return Done{};
}

/// A lane that has ended, or is to end, with its problem.
Result<Done> Schedule::lose(size_t at, Loss::Cause cause) {
  Lane lane = std::move(lanes_[at]);
  lanes_.erase(lanes_.begin() + static_cast<std::ptrdiff_t>(at));
  const size_t problem = *lane.problem();
  Loss loss{.cause = cause};
  loss.wall_seconds = lane.seconds_at_work();
  // One that is beyond its time is asked, so that it can remove its files; memory cannot wait.
  if (cause == Loss::Cause::TimeLimit) lane.ask_to_end();
  if (cause == Loss::Cause::MemoryLimit || !lane.ends_within(kGraceSeconds)) lane.kill();
  loss.end = lane.wait();
  return events_.lost(problem, loss);
}

void Schedule::forget(size_t at) {
  if (!lanes_[at].ends_within(kGraceSeconds)) lanes_[at].kill();
  lanes_[at].wait();
  lanes_.erase(lanes_.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The workers of a lost lane end by themselves; those that do not are killed.
void Schedule::remove_strangers(double grace_seconds) {
  std::map<pid_t, Clock::time_point> left;
  for (const pid_t pid : children()) {
    const bool is_lane = std::any_of(lanes_.begin(), lanes_.end(),
                                     [&](const Lane& lane) { return lane.pid() == pid; });
    if (is_lane || ::waitpid(pid, nullptr, WNOHANG) != 0) continue;
    const auto known = strangers_.find(pid);
    const auto since = known == strangers_.end() ? Clock::now() : known->second;
    left[pid] = since;
    if (seconds_since(since) >= grace_seconds) ::kill(pid, SIGKILL);
  }
  strangers_ = std::move(left);
}

void Schedule::end_all() {
  for (Lane& lane : lanes_) {
    lane.finish();
    if (lane.problem()) lane.ask_to_end();
  }
  const auto start = Clock::now();
  for (Lane& lane : lanes_) {
    if (!lane.ends_within(kEndSeconds - seconds_since(start))) lane.kill();
    lane.wait();
  }
  lanes_.clear();
  constexpr useconds_t kStep = 5'000;
  for (remove_strangers(kGraceSeconds / 2); !strangers_.empty();
       remove_strangers(kGraceSeconds / 2)) {
    ::usleep(kStep);
  }
}

}  // namespace

Result<Done> run_lanes(const std::vector<size_t>& problems, const MakeWork& make_work,
                       const ScheduleOptions& options, const ScheduleEvents& events) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Schedule schedule(problems, make_work, options, events);
  auto done = schedule.run();
  schedule.end_all();
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  return done;
}

}  // namespace solar::driver

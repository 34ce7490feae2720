#include "driver/suite_schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <new>
#include <set>

#include "frontend/temporary_folder.h"

namespace solar::driver {
namespace {

/// Processes that have not ended under this one.
std::vector<int> left_over() {
  std::vector<int> found;
  std::ifstream file("/proc/thread-self/children");
  for (int pid = 0; file >> pid;) found.push_back(pid);
  return found;
}

struct Seen {
  std::map<size_t, std::string> answers = {};
  std::map<size_t, Loss> losses = {};
};

/// Runs problems 0 .. count-1 with `work` in each lane.
Result<Seen> run(size_t count, const Work& work, ScheduleOptions options = {}) {
  Seen seen;
  std::vector<size_t> problems;
  for (size_t i = 0; i < count; ++i) problems.push_back(i);
  const auto done = run_lanes(problems, [&] { return work; }, options,
                              {[&](size_t problem, const std::string& answer) -> Result<Done> {
                                 EXPECT_TRUE(seen.answers.emplace(problem, answer).second)
                                     << problem;
                                 return Done{};
                               },
                               [&](size_t problem, const Loss& loss) -> Result<Done> {
                                 EXPECT_TRUE(seen.losses.emplace(problem, loss).second) << problem;
                                 return Done{};
                               }});
  EXPECT_TRUE(left_over().empty());
  if (!done) return done.error();
  EXPECT_EQ(seen.answers.size() + seen.losses.size(), count);
  return seen;
}

std::string plain(size_t problem) { return fmt::format("answer {}", problem); }

TEST(RunLanes, EveryProblemIsAnsweredOnce) {
  for (const int lanes : {1, 3, 20}) {
    const auto seen = run(12, [](size_t p) { return plain(p); }, {.lanes = lanes});
    ASSERT_TRUE(seen);
    for (size_t p = 0; p < 12; ++p) EXPECT_EQ(seen->answers.at(p), plain(p));
  }
}

TEST(RunLanes, ALongAnswerComesWhole) {
  const std::string text(size_t{3} << 20, 'x');
  const auto seen = run(2, [&](size_t) { return text; });
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->answers.at(1), text);
}

TEST(RunLanes, ALaneThatEndsCostsOnlyItsProblem) {
  const auto seen = run(8,
                        [](size_t p) -> std::string {
                          if (p == 1) ::raise(SIGKILL);
                          if (p == 3) {
                            std::fprintf(stderr, "last words\n");
                            ::abort();
                          }
                          if (p == 5) ::_exit(9);
                          if (p == 6) throw std::bad_alloc();
                          return plain(p);
                        },
                        {.lanes = 2});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->answers.size(), 4u);
  EXPECT_EQ(seen->losses.at(1).end.signal, SIGKILL);
  EXPECT_EQ(seen->losses.at(3).end.signal, SIGABRT);
  EXPECT_EQ(seen->losses.at(3).end.printed, "last words\n");
  EXPECT_EQ(seen->losses.at(5).end.exit_status, 9);
  EXPECT_EQ(seen->losses.at(6).end.exit_status, kLaneOutOfMemory);
}

TEST(RunLanes, ALaneKeepsItsState) {
  size_t calls = 0;
  const auto seen = run(3, [&](size_t) { return std::to_string(++calls); });
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->answers.at(2), "3");
  EXPECT_EQ(calls, 0u);  // each lane has its own
}

TEST(RunLanes, AProblemBeyondItsTimeIsGivenUp) {
  const auto seen = run(3,
                        [](size_t p) {
                          if (p == 1) ::signal(SIGTERM, SIG_IGN);  // not even when asked
                          while (p < 2) ::pause();
                          return plain(p);
                        },
                        {.lanes = 3, .problem_seconds = 1});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->losses.at(0).cause, Loss::Cause::TimeLimit);
  EXPECT_EQ(seen->losses.at(0).end.signal, SIGTERM);
  EXPECT_EQ(seen->losses.at(1).end.signal, SIGKILL);
  EXPECT_EQ(seen->answers.at(2), plain(2));
}

TEST(RunLanes, AProblemBeyondItsMemoryIsGivenUp) {
  constexpr size_t kSize = size_t{256} << 20;
  const auto seen = run(2,
                        [](size_t p) {
                          if (p == 0) {
                            ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
                            ::pause();
                          }
                          return plain(p);
                        },
                        {.memory_bytes = kSize});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->losses.at(0).cause, Loss::Cause::MemoryLimit);
  EXPECT_EQ(seen->answers.at(1), plain(1));
}

TEST(RunLanes, ProcessesOfALostLaneAreEnded) {
  const auto folder = frontend::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string note = folder->file("pid");
  const auto seen = run(2, [&](size_t p) -> std::string {
    if (p == 1) return plain(p);
    const pid_t child = ::fork();
    if (child == 0) {
      while (true) ::pause();
    }
    std::ofstream(note) << child;
    ::_exit(1);
  });
  ASSERT_TRUE(seen);
  int child = 0;
  ASSERT_TRUE(std::ifstream(note) >> child);
  EXPECT_NE(::kill(child, 0), 0);
}

TEST(RunLanes, CancelledItEndsAndLosesNoAnswer) {
  std::atomic<bool> cancel = false;
  Seen seen;
  const auto done = run_lanes({0, 1, 2},
                              [] {
                                return [](size_t p) {
                                  while (p > 0) ::pause();
                                  return plain(p);
                                };
                              },
                              {.cancel = &cancel},
                              {[&](size_t problem, const std::string& answer) -> Result<Done> {
                                 seen.answers[problem] = answer;
                                 cancel = true;
                                 return Done{};
                               },
                               [](size_t, const Loss&) -> Result<Done> { return Done{}; }});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error()[0].kind, DiagnosticKind::Interrupted);
  EXPECT_EQ(seen.answers.size(), 1u);
  EXPECT_TRUE(left_over().empty());
}

TEST(RunLanes, AFailingEventEndsTheRun) {
  const auto done =
      run_lanes({0, 1, 2, 3}, [] { return [](size_t p) { return plain(p); }; }, {.lanes = 2},
                {[](size_t, const std::string&) -> Result<Done> {
                   return Diagnostic{.kind = DiagnosticKind::OutputFile, .message = "full"};
                 },
                 [](size_t, const Loss&) -> Result<Done> { return Done{}; }});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error()[0].message, "full");
  EXPECT_TRUE(left_over().empty());
}

}  // namespace
}  // namespace solar::driver

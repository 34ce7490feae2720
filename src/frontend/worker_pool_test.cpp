#include "frontend/worker_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "frontend/requests.h"
#include "frontend/temporary_folder.h"

namespace solar::frontend {
namespace {

constexpr const char* kHello = R"(echo '{"event":"hello","protocol":1}' >&3; )";

/// A pool whose zygote is a shell script; descriptor 3 is its socket.
WorkerPool fake(const std::string& script, double grace_seconds = 15) {
  PoolOptions options;
  options.command = {"/bin/sh", "-c", script};
  options.start_seconds = 20;
  options.grace_seconds = grace_seconds;
  auto pool = WorkerPool::start(options);
  EXPECT_TRUE(pool);
  return std::move(*pool);
}

Diagnostics failure_of(WorkerPool pool, double wall_seconds = 20) {
  auto reply = pool.request({{"do", "inspect"}}, {.wall_seconds = wall_seconds});
  EXPECT_FALSE(reply);
  return reply ? Diagnostics{} : reply.error();
}

TEST(WorkerPool, VersionIsTheProtocolFiles) {
  std::ifstream file(SOLAR_ROOT "/python/solar/protocol.json");
  EXPECT_EQ(nlohmann::json::parse(file).at("version").get<int>(), kProtocolVersion);
}

TEST(WorkerPool, AnswersComeBackInAnyOrder) {
  auto pool = fake(std::string(kHello) +
                   "read a <&3; read b <&3; "
                   R"(echo '{"id":2,"event":"done","ok":true,"result":"two"}' >&3; )"
                   R"(echo '{"id":1,"event":"done","ok":true,"result":"one"}' >&3; read c <&3)");
  auto first = std::async(std::launch::async, [&] { return pool.request({{"do", "x"}}); });
  auto second = std::async(std::launch::async, [&] { return pool.request({{"do", "x"}}); });
  const auto a = first.get();
  const auto b = second.get();
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  const std::set<std::string> results = {a->result, b->result};
  EXPECT_EQ(results, (std::set<std::string>{"one", "two"}));
}

TEST(WorkerPool, ALineInPiecesIsOneMessage) {
  auto pool = fake(std::string(kHello) +
                   R"(read a <&3; printf '{"id":1,"event":"do' >&3; sleep 0.2; )"
                   R"(printf 'ne","ok":true,"result":5,"isolated":true}\n' >&3; read b <&3)");
  const auto reply = pool.request({{"do", "x"}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->result, 5);
  EXPECT_TRUE(reply->isolated);
}

TEST(WorkerPool, GarbageIsRefused) {
  const auto errors = failure_of(fake("echo garbage >&3; read a <&3"));
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].kind, DiagnosticKind::WorkerFailed);
  EXPECT_NE(errors[0].message.find("garbage"), std::string::npos);
}

TEST(WorkerPool, AnotherProtocolIsRefused) {
  const auto errors = failure_of(fake(R"(echo '{"event":"hello","protocol":99}' >&3; read a <&3)"));
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].message, "the Python workers speak protocol 99, this program speaks 1");
}

TEST(WorkerPool, AnEndIsReportedWithWhatWasPrinted) {
  const auto errors =
      failure_of(fake(std::string(kHello) + "read a <&3; echo last words >&2; exit 3"));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].message.find("ended with status 3"), std::string::npos);
  EXPECT_EQ(errors[1].severity, Severity::Note);
  EXPECT_NE(errors[1].message.find("last words"), std::string::npos);
}

TEST(WorkerPool, AHalfLineThenAnEndIsAnEnd) {
  const auto errors = failure_of(fake(std::string(kHello) + R"(printf '{"id":1' >&3; exit 0)"));
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].kind, DiagnosticKind::WorkerFailed);
}

TEST(WorkerPool, ASilentZygoteIsGivenUp) {
  const auto errors = failure_of(fake(std::string(kHello) + "sleep 1000", 0.2), 0.1);
  ASSERT_FALSE(errors.empty());
  EXPECT_NE(errors[0].message.find("have not answered"), std::string::npos);
}

TEST(WorkerPool, AMissingInterpreterSaysWhatToInstall) {
  PoolOptions options;
  options.python = "no-such-python-here";
  auto pool = WorkerPool::start(options);
  ASSERT_TRUE(pool);
  const auto errors = failure_of(std::move(*pool));
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].kind, DiagnosticKind::NoFramework);
  EXPECT_NE(errors[0].hint.find("pip install torch==2.13.0"), std::string::npos);
}

TEST(WorkerPool, CancelEndsARequest) {
  auto pool = fake(std::string(kHello) + "sleep 1000");
  std::atomic<bool> cancel = false;
  auto waiting = std::async(std::launch::async,
                            [&] { return pool.request({{"do", "x"}}, {}, {.cancel = &cancel}); });
  cancel = true;
  const auto reply = waiting.get();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error()[0].kind, DiagnosticKind::Interrupted);
}

TEST(WorkerPool, ProblemsPointIntoTheUsersFile) {
  auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::ofstream(folder->file("m.py")) << "first\n  second line\n";
  auto pool = fake(
      std::string(kHello) +
      R"(read a <&3; echo '{"id":1,"event":"done","ok":false,)"
      R"("log":"printed","problems":[{"kind":"source-raised","message":"no","line":2,"file":")" +
      folder->file("m.py") + R"("}]}' >&3; read b <&3)");
  const auto reply = pool.request({{"do", "x"}});
  ASSERT_FALSE(reply);
  const Diagnostics& errors = reply.error();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].kind, DiagnosticKind::SourceRaised);
  ASSERT_TRUE(errors[0].span.source);
  EXPECT_EQ(errors[0].span.source->text.substr(static_cast<size_t>(errors[0].span.begin), 11),
            "second line");
  EXPECT_EQ(errors[1].severity, Severity::Note);
}

TEST(WorkerPool, AFailureWithoutProblemsIsStillADiagnostic) {
  auto pool =
      fake(std::string(kHello) +
           R"(read a <&3; echo '{"id":1,"event":"done","ok":false,"problems":7}' >&3; read b <&3)");
  const auto reply = pool.request({{"do", "x"}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().size(), 1u);
}

TEST(Requests, AnAnswerOfAnotherFormIsADiagnostic) {
  auto pool =
      fake(std::string(kHello) +
           R"(read a <&3; echo '{"id":1,"event":"done","ok":true,"result":[]}' >&3; read b <&3)");
  const auto facts = inspect(pool, "x.py");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error()[0].kind, DiagnosticKind::WorkerFailed);
}

TEST(Requests, InspectReadsConstants) {
  auto pool =
      fake(std::string(kHello) +
           R"(read a <&3; echo '{"id":1,"event":"done","ok":true,"result":{"path":"p","member":"",)"
           R"("defines":["Model"],"constants":[{"name":"N","value":4,"line":7,"kind":"module",)"
           R"("aliases":["M"]}]}}' >&3; read b <&3)");
  const auto facts = inspect(pool, "x.py");
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->constants.size(), 1u);
  EXPECT_EQ(facts->constants[0].value, 4);
  EXPECT_EQ(facts->constants[0].aliases, std::vector<std::string>{"M"});
}

}  // namespace
}  // namespace solar::frontend

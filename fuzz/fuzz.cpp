// Looks for texts that break a promise of the parser, the verifier or the executor: mutates texts
// and runs them; `guided`: keeps those that reach new code and mutates them further. The parent
// starts a child that does the work and starts another when it dies; what killed it is saved. See
// scripts/long/.
//
//   solar_fuzz guided|plain LIMIT SEED FOLDER [TEXT.alir..]     LIMIT: `3600s`, or a number of
//   texts

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "coverage.h"
#include "exec/attempt_test_util.h"
#include "ir/mutation_test_util.h"

namespace solar::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongest = 16 << 10;  // bytes of a text
constexpr unsigned kHangSeconds = 60;  // of one text, sanitizers included
constexpr auto kReport = std::chrono::seconds(60);

/// What the child tells its parent, in memory that both see.
struct Shared {
  size_t length = 0;
  char text[kLongest] = {};
  char wrong[kLongest] = {};
  int64_t runs = 0, ends[5] = {}, kept = 0, edges = 0;
};

struct Options {
  bool guided = false;
  std::chrono::seconds budget = std::chrono::hours(24 * 365);
  int64_t texts = INT64_MAX;
  uint64_t seed = 0;
  std::filesystem::path folder;
  std::vector<std::string> files;
};

void save(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

void print_counts(const Shared& shared, Clock::duration spent, int64_t findings) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(spent).count();
  std::cout << seconds << " s: " << shared.runs << " texts, " << shared.ends[0] << " not parsed, "
            << shared.ends[1] << " refused, " << shared.ends[2] << " too large, " << shared.ends[3]
            << " failed when run, " << shared.ends[4] << " ran; " << shared.kept << " kept, "
            << shared.edges << " edges, " << findings << " findings" << std::endl;
}

std::vector<ir::Text> starting_texts(const Options& options) {
  std::vector<ir::Text> texts = ir::corpus();
  for (const std::string& file : options.files) texts.push_back({file, ir::read_whole(file)});
  std::erase_if(texts, [](const ir::Text& text) { return text.text.size() >= kLongest; });
  return texts;
}

/// The child's work, until the time is over or it dies.
void work(const Options& options, int session, Clock::time_point end, Shared& shared) {
  std::mt19937_64 random(options.seed + static_cast<uint64_t>(session));
  std::vector<ir::Text> texts = starting_texts(options);
  for (const auto& entry : std::filesystem::directory_iterator(options.folder / "kept"))
    texts.push_back({entry.path().filename().string(), ir::read_whole(entry.path())});
  const uint64_t latest = options.guided ? 200 : texts.size();
  const size_t given = texts.size();
  const auto executor = exec::interpreter();
  ir::Mutator mutator(random);
  size_t next = 0;  // every text is first run as it is
  while (Clock::now() < end && shared.runs < options.texts) {
    const bool fresh = next < given;
    // The latest texts are the likeliest.
    const size_t at = fresh ? next++
                      : random() % 2 == 0
                          ? texts.size() - 1 - random() % std::min<size_t>(texts.size(), latest)
                          : random() % texts.size();
    std::string text = texts[at].text;
    for (uint64_t n = fresh ? 0 : 1 + random() % 3; n > 0; --n)
      text = mutator.mutate({"", text}, texts[random() % texts.size()]);
    if (text.size() >= kLongest) continue;
    shared.length = text.size();
    std::memcpy(shared.text, text.data(), text.size());
    counters().fill(0);
    ::alarm(kHangSeconds);
    const exec::Attempt attempt = exec::attempt(text, *executor, random);
    ::alarm(0);
    ++shared.runs;
    ++shared.ends[static_cast<size_t>(attempt.end)];
    if (!attempt.wrong.empty()) {
      std::strncpy(shared.wrong, attempt.wrong.c_str(), kLongest - 1);
      std::abort();
    }
    if (merge() && !fresh && options.guided) {
      texts.push_back({"", text});
      save(options.folder / "kept" / (std::to_string(shared.kept++) + ".alir"), text);
    }
    shared.edges = std::max(shared.edges, edges_seen());
  }
}

int run(const Options& options) {
  std::filesystem::create_directories(options.folder / "kept");
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  Shared& shared = *new (memory) Shared;
  const auto start = Clock::now();
  const auto end = start + options.budget;
  int64_t findings = 0;
  for (int session = 0; Clock::now() < end && shared.runs < options.texts; ++session) {
    shared.wrong[0] = 0;
    const pid_t child = ::fork();
    if (child < 0) return 2;
    if (child == 0) {
      work(options, session, end, shared);
      std::_Exit(0);
    }
    int status = 0;
    auto report = Clock::now() + kReport;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      ::usleep(100'000);
      if (Clock::now() < report) continue;
      print_counts(shared, Clock::now() - start, findings);
      report = Clock::now() + kReport;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const auto path = options.folder / ("finding-" + std::to_string(findings++) + ".alir");
    save(path, {shared.text, shared.length});
    const char* how = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "ends badly";
    std::cout << path.string() << " " << how << (shared.wrong[0] != 0 ? ": " : "") << shared.wrong
              << std::endl;
  }
  print_counts(shared, Clock::now() - start, findings);
  return findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace solar::fuzz

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() < 4 || (given[0] != "guided" && given[0] != "plain")) {
    std::cerr << "usage: solar_fuzz guided|plain LIMIT SEED FOLDER [TEXT.alir..]\n";
    return 2;
  }
  solar::fuzz::Options options;
  options.guided = given[0] == "guided";
  const int64_t limit = std::strtoll(given[1].c_str(), nullptr, 10);
  if (given[1].ends_with('s')) {
    options.budget = std::chrono::seconds(limit);
  } else {
    options.texts = limit;
  }
  options.seed = std::strtoull(given[2].c_str(), nullptr, 10);
  options.folder = given[3];
  options.files.assign(given.begin() + 4, given.end());
  return solar::fuzz::run(options);
}

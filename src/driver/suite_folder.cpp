#include "driver/suite_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/file.h"
#include "report/suite_json.h"

namespace solar::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "solar.suite/1";
constexpr const char* kLock = "lock";
constexpr int kLockTries = 20;  // the lanes of a run that was killed take a moment to let go
constexpr useconds_t kLockStep = 50'000;

Diagnostic usage(std::string message, std::string hint) {
  Diagnostic diagnostic{.kind = DiagnosticKind::Usage};
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

Diagnostic write_error(const std::string& path, int error) {
  return {.kind = DiagnosticKind::OutputFile,
          .message = fmt::format("cannot write `{}`: {}", path, std::strerror(error))};
}

/// Makes new entries of a folder survive a loss of power.
void sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

/// Whether there is anything but a lock, and what a killed run was about to rename, in the folder.
bool holds_something(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const fs::path name = at->path().filename();
    if (name != kLock && name.extension() != ".tmp") return true;
  }
  return false;
}

struct WholeLines {
  std::vector<report::SuiteResult> results = {};
  size_t bytes = 0;  // a torn last line is after them
};

Result<WholeLines> whole_lines(const std::string& text, const std::string& name) {
  WholeLines lines;
  std::set<std::string> seen;
  for (size_t number = 1; lines.bytes < text.size(); ++number) {
    const size_t end = text.find('\n', lines.bytes);
    const bool last = end == std::string::npos || end + 1 == text.size();
    auto result = end == std::string::npos
                      ? std::nullopt
                      : report::parse_line(text.substr(lines.bytes, end - lines.bytes));
    if (!result && last) break;  // torn
    if (!result || !seen.insert(result->problem).second) {
      return Diagnostic{
          .kind = DiagnosticKind::SourceFile,
          .message =
              fmt::format("line {} of `{}` is {}", number, name,
                          result ? "a second result of `" + result->problem + "`" : "not a result"),
          .hint = "delete the line; its problem is done again"};
    }
    lines.results.push_back(std::move(*result));
    lines.bytes = end + 1;
  }
  return lines;
}

/// The options that a run was started with.
Result<Json> options_of(const std::string& name) {
  SOLAR_TRY(const std::string text, read_file(name));
  const Json file = Json::parse(text, nullptr, false);
  const auto is_object = [&](const char* key) {
    return file.contains(key) && file[key].is_object();
  };
  if (!file.is_object() || file.value("schema", Json()) != kSchema || !is_object("options")) {
    return Diagnostic{
        .kind = DiagnosticKind::SourceFile,
        .message = fmt::format("`{}` does not hold the options of a run ({})", name, kSchema)};
  }
  return file["options"];
}

}  // namespace

Result<RunFolder> read_run(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path + "/suite.json", error)) {
    return Diagnostic{
        .kind = DiagnosticKind::SourceFile,
        .message =
            fs::exists(path, error)
                ? fmt::format("`{}` is not the folder of a run of `solar suite`", path)
                : fmt::format("`{}` is not the folder of a run: there is no such folder", path),
        .hint = "name the folder that `solar suite --out` was given (default: solar-suite)"};
  }
  RunFolder run;
  SOLAR_TRY(const Json options, options_of(path + "/suite.json"));
  try {
    run.archs = options.value("arch", run.archs);
    run.precision = options.value("precision", run.precision);
    run.strict = options.value("strict", false);
  } catch (const Json::exception& what) {
    return Diagnostic{.kind = DiagnosticKind::SourceFile,
                      .message = fmt::format("`{}/suite.json`: {}", path, what.what())};
  }
  const std::string name = path + "/results.jsonl";
  SOLAR_TRY(const std::string text, read_file(name));
  SOLAR_TRY(WholeLines lines, whole_lines(text, name));
  run.results = std::move(lines.results);
  return run;
}

Result<SuiteFolder> SuiteFolder::open(const std::string& path, const Json& options, bool resume) {
  SuiteFolder folder;
  folder.path_ = path;
  SOLAR_TRY([[maybe_unused]] const Done made, folder.make(resume));
  SOLAR_TRY([[maybe_unused]] const Done locked, folder.lock());
  SOLAR_TRY([[maybe_unused]] const Done fitting, folder.check_options(options));
  SOLAR_TRY([[maybe_unused]] const Done read, folder.read_results());
  sync_folder(path);
  return folder;
}

SuiteFolder::~SuiteFolder() {
  if (file_ >= 0) ::close(file_);
  if (lock_ >= 0) ::close(lock_);
}

void SuiteFolder::swap(SuiteFolder& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(results_, other.results_);
}

Result<Done> SuiteFolder::make(bool resume) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    return Diagnostic{
        .kind = DiagnosticKind::OutputFile,
        .message = fmt::format("cannot make the folder `{}`: {}", path_, error.message())};
  }
  if (!holds_something(path_)) return Done{};
  if (!fs::exists(path_ + "/suite.json", error)) {
    return usage(fmt::format("`{}` holds something else than a run of `solar suite`", path_),
                 "name another folder with --out");
  }
  if (!resume) {
    return usage(fmt::format("there is a run in `{}` already", path_),
                 "--resume goes on with it; --out RUN starts another one");
  }
  return Done{};
}

Result<Done> SuiteFolder::lock() {
  const std::string name = path_ + "/" + kLock;
  lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) return write_error(name, errno);
  for (int i = 0; ::flock(lock_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK) return write_error(name, errno);
    if (i == kLockTries) {
      char holder[32] = "";
      const bool known = ::pread(lock_, holder, sizeof holder - 1, 0) > 0;
      return usage(fmt::format("another `solar suite`{} is at work in `{}`",
                               known ? fmt::format(" (process {})", holder) : "", path_),
                   "wait for it, or name another folder with --out");
    }
    ::usleep(kLockStep);
  }
  const std::string holder = std::to_string(::getpid());
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, holder.data(), holder.size(), 0) < 0) {
    return write_error(name, errno);
  }
  return Done{};
}

Result<Done> SuiteFolder::check_options(const Json& options) {
  const std::string name = path_ + "/suite.json";
  std::error_code error;
  if (!fs::exists(name, error)) {
    const Json file = {{"schema", kSchema}, {"options", options}};
    return write_file(name, file.dump(1, ' ', true, Json::error_handler_t::replace) + "\n");
  }
  SOLAR_TRY(const Json before, options_of(name));
  std::vector<std::string> differing;
  // Runs from before there were algebraic floors may go on; so may those from before there were
  // frozen parameters, without them.
  for (const auto& [key, value] : options.items()) {
    if (key == "algebra" && !before.contains(key)) continue;
    const Json old = before.value(key, key == "params" ? Json("runtime") : Json());
    // Through text, as numbers come back from it.
    if (old == Json::parse(value.dump(-1, ' ', true, Json::error_handler_t::replace))) continue;
    differing.push_back(fmt::format("`{}` was {}, is {}", key, old.dump(),
                                    value.dump(-1, ' ', true, Json::error_handler_t::replace)));
  }
  if (differing.empty()) return Done{};
  return usage(fmt::format("the run in `{}` was started with other options: {}", path_,
                           fmt::join(differing, "; ")),
               "repeat its options with --resume, or name another folder with --out");
}

Result<Done> SuiteFolder::read_results() {
  const std::string name = path_ + "/results.jsonl";
  file_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) return write_error(name, errno);
  SOLAR_TRY(const std::string text, read_file(name));
  SOLAR_TRY(WholeLines lines, whole_lines(text, name));
  results_ = std::move(lines.results);
  size_ = static_cast<int64_t>(lines.bytes);
  if (lines.bytes < text.size() && ::ftruncate(file_, size_) != 0) return write_error(name, errno);
  return Done{};
}

Result<Done> SuiteFolder::add(const report::SuiteResult& result) {
  const std::string line = report::render_line(result);
  ssize_t n = ::write(file_, line.data(), line.size());
  if (n < 0 && errno == EINTR) n = ::write(file_, line.data(), line.size());
  const int error = n < 0 ? errno : ENOSPC;  // a short write means a full disk
  if (n != static_cast<ssize_t>(line.size()) || ::fsync(file_) != 0) {
    [[maybe_unused]] const int cut = ::ftruncate(file_, size_);
    return write_error(path_ + "/results.jsonl", error);
  }
  size_ += n;
  results_.push_back(result);
  return Done{};
}

std::string SuiteFolder::report_path(const std::string& problem) const {
  const fs::path path = fs::path(path_) / "reports" / (problem + ".json");
  std::error_code ignored;  // shows when the file is written
  fs::create_directories(path.parent_path(), ignored);
  return path.string();
}

}  // namespace solar::driver

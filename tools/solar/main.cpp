#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include "base/file.h"
#include "base/text.h"
#include "command.h"

namespace solar::cli {
namespace {

/// A closed standard descriptor would be taken by the next file that is opened, and then be written
/// to. Standard output is opened for reading, so that writing to it stays the error that it is.
void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int opened = ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != fd && opened >= 0) ::close(opened);
  }
}

/// Help and version go to standard output; everything else is a wrong usage.
int usage(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream errors;
  if (app.exit(error, out, errors) == 0) {
    const auto written = write_file("-", out.str());
    return written ? static_cast<int>(kDone) : report(written.error());
  }
  const CLI::App* inner = &app;
  while (!inner->get_subcommands().empty()) inner = inner->get_subcommands().front();
  std::string command = inner->get_name();
  for (const CLI::App* at = inner->get_parent(); at != nullptr; at = at->get_parent()) {
    command = at->get_name() + " " + command;
  }
  std::vector<std::string> names;
  for (const CLI::App* sub : inner->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  const std::vector<std::string> left = inner->remaining();
  if (!names.empty() && !left.empty() && !left.front().starts_with("-")) {
    const auto near = nearest_names(left.front(), names);
    return usage_error(fmt::format("`{}` has no command `{}`", command, left.front()),
                       near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean {}?", quoted_choices(near)));
  }
  return usage_error(error.what(), fmt::format("`{} --help` shows the options", command));
}

/// The chosen command. What it printed with fmt::print is on its way when this returns.
int run_command(const Run& run) {
  const int code = run ? run() : kUsage;
  return flush_out() || code != kDone ? code : kProblem;
}

/// The most that the process took at once.
double peak_gib() {
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) * 1024 / 0x1p30;
}

int internal_error(const char* what) {
  print_error(fmt::format(
      "solar: internal error: {}\nsolar: this is a bug in solar, not in your program\n", what));
  return kBug;
}

int run_program(int argc, char** argv) {
  CLI::App app{
      "How fast a program could possibly run on given hardware, what limits it, and what would "
      "help.",
      "solar"};
  app.set_version_flag("--version", "solar " SOLAR_VERSION);
  app.require_subcommand(1);
  app.footer("example: solar analyze examples/resnet18.py --arch h100-sxm");
  Run run;
  for (const AddCommand add : {add_analyze, add_compare, add_inverse, add_trace, add_check, add_run,
                               add_lift, add_fmt, add_fix, add_arch, add_explain, add_doctor,
                               add_suite, add_sweep, add_score, add_headroom, add_flops}) {
    add(app, run);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
  }
  return run_command(run);
}

}  // namespace
}  // namespace solar::cli

int main(int argc, char** argv) {
  using namespace solar::cli;
  open_standard_descriptors();
  // What fails to be written fails in flush_out, which can still say why.
  static std::array<char, size_t{1} << 20> buffer;
  std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error(
        fmt::format("error[memory-limit]: solar took {:.3g} GiB, and the system has no more\n"
                    "  = hint: it is the machine, the container or `ulimit -v` that limits this; "
                    "`--memory-limit` is for runs of the program only\n",
                    peak_gib()));
    return kLimit;
  } catch (const std::exception& error) {
    // fmt::print throws where standard output cannot be written.
    if (std::ferror(stdout) != 0) return flush_out() ? kBug : kProblem;
    return internal_error(error.what());
  }
}

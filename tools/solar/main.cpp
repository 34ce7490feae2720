#include <fmt/format.h>

#include <csignal>
#include <exception>

#include "command.h"

int main(int argc, char** argv) {
  using namespace solar::cli;
  CLI::App app{
      "How fast a program could possibly run on given hardware, what limits it, and what would "
      "help.",
      "solar"};
  app.set_version_flag("--version", "solar " SOLAR_VERSION);
  app.require_subcommand(1);
  app.footer("example: solar analyze examples/resnet18.py --arch h100-sxm");
  Run run;
  for (const AddCommand add : {add_analyze, add_compare, add_inverse, add_trace, add_check, add_run,
                               add_lift, add_fmt, add_arch, add_explain, add_doctor}) {
    add(app, run);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run ? run() : kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr,
               "solar: internal error: {}\nsolar: this is a bug in solar, not in your program\n",
               error.what());
    return kBug;
  }
}

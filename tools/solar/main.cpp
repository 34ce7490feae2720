#include <fmt/format.h>

#include <csignal>

#include "command.h"

int main(int argc, char** argv) {
  using namespace solar::cli;
  CLI::App app{"solar: how fast a program could possibly run on given hardware", "solar"};
  app.require_subcommand(1);
  Run run;
  for (const AddCommand add : {add_check, add_fmt}) add(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  return run ? run() : kUsage;
}

#include <fmt/format.h>

#include "arch/library.h"
#include "command.h"
#include "roofline/summary.h"

namespace solar::cli {
namespace {

int list() {
  const driver::Environment env = environment();
  if (const auto root = env.check_root(); !root) return report(root.error());
  const auto names = arch::list(env.arch_library());
  if (!names) return report(names.error());
  for (const std::string& name : *names) {
    const auto machine = arch::load(name, env.arch_library());
    if (!machine) return report(machine.error());
    fmt::print("{:<16} {}\n", name, machine->name);
  }
  return kDone;
}

int show(const std::string& name) {
  if (const auto root = environment().check_root(); !root) return report(root.error());
  const auto machine = arch::load(name, environment().arch_library());
  if (!machine) return report(machine.error());
  fmt::print("{}", roofline::summary(*machine));
  return kDone;
}

int check(const std::string& name) {
  if (const auto root = environment().check_root(); !root) return report(root.error());
  const Diagnostics problems = arch::check(name, environment().arch_library());
  if (problems.empty()) {
    fmt::print("{}: ok\n", name);
    return kDone;
  }
  return report(problems);
}

}  // namespace

void add_arch(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("arch", "the architectures: list, show, check");
  command->require_subcommand(1);
  command->footer("example: solar arch show h100-sxm");
  command->add_subcommand("list", "the library's names")->callback([&run] { run = list; });
  auto name = std::make_shared<std::string>();
  auto* show_command =
      command->add_subcommand("show", "rates, ridge points, memory of one architecture");
  show_command->add_option("ARCH", *name, "a name of the library, or a file")->required();
  show_command->callback([&run, name] { run = [name] { return show(*name); }; });
  auto* check_command = command->add_subcommand("check", "all problems of an architecture file");
  check_command->add_option("FILE", *name, "a file, or a name of the library")->required();
  check_command->callback([&run, name] { run = [name] { return check(*name); }; });
}

}  // namespace solar::cli

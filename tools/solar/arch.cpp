#include <fmt/format.h>

#include <algorithm>

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
    say(fmt::format("{:<16} {}\n", name, machine->name));
  }
  return kDone;
}

int show(const std::string& name) {
  if (const auto root = environment().check_root(); !root) return report(root.error());
  const auto machine = arch::load(name, environment().arch_library());
  if (!machine) return report(machine.error());
  say(roofline::summary(*machine));
  return kDone;
}

int check(const std::vector<std::string>& names) {
  const driver::Environment env = environment();
  if (const auto root = env.check_root(); !root) return report(root.error());
  int code = kDone;
  for (const std::string& name : names) {
    const Diagnostics problems = arch::check(name, env.arch_library());
    if (problems.empty()) say(fmt::format("{}: ok\n", name));
    code = std::max(code, problems.empty() ? static_cast<int>(kDone) : report(problems));
  }
  return code;
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
  auto* check_command = command->add_subcommand("check", "all problems of architecture files");
  auto names = std::make_shared<std::vector<std::string>>();
  check_command->add_option("FILE", *names, "files, or names of the library")->required();
  check_command->callback([&run, names] { run = [names] { return check(*names); }; });
}

}  // namespace solar::cli

#include <fmt/format.h>

#include "arch/library.h"
#include "command.h"
#include "frontend/requests.h"
#include "ir/prelude.h"
#include "ir/verify.h"

namespace solar::cli {
namespace {

bool line(bool good, const std::string& what, const std::string& detail) {
  say(fmt::format("{} {:<14} {}\n", good ? "ok     " : "problem", what, detail));
  return good;
}

int doctor() {
  const driver::Environment env = environment();
  if (const auto root = env.check_root(); !root) return report(root.error());
  bool good = true;
  const auto names = arch::list(env.arch_library());
  good &= line(names.has_value(), "architectures",
               names ? fmt::format("{} in {}", names->size(), env.arch_library())
                     : names.error().front().message);
  const auto program = ir::verify_text("program p(input x: f32[2]) -> (y) { let y = relu(x) }");
  good &= line(program.has_value(), "prelude",
               program ? fmt::format("{} files", ir::prelude_files().size())
                       : program.error().front().message);
  auto pool = frontend::WorkerPool::start(env.pool_options());
  if (!pool) {
    good &= line(false, "workers", pool.error().front().message);
  } else {
    // A request that needs no source: an unknown file is answered by a worker that works.
    const auto facts = frontend::inspect(*pool, env.root + "/examples/mlp.py");
    good &= line(
        facts.has_value(), "workers",
        facts ? fmt::format("PyTorch works under {}", env.python) : facts.error().front().message);
    if (!facts) return report(facts.error());
  }
  return good ? kDone : kProblem;
}

}  // namespace

void add_doctor(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("doctor", "does everything that solar needs work?");
  command->footer("example: solar doctor");
  command->callback([&run] { run = doctor; });
}

}  // namespace solar::cli

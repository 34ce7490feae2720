#include <fmt/format.h>

#include <chrono>

#include "base/file.h"
#include "command.h"
#include "exec/executor.h"
#include "exec/tensor_file.h"
#include "ir/verify.h"

namespace solar::cli {
namespace {

struct RunOptions {
  std::string path;
  std::string inputs;
  std::string out;
  std::vector<std::string> bindings;
  std::string executor = "jit";
  double memory_gib = 10;
};

/// Shows how far the run is, once it has taken a second.
std::function<void(int64_t, int64_t)> show_progress(const driver::Environment& env) {
  if (!env.progress) return {};
  using Clock = std::chrono::steady_clock;
  return [&env, next = Clock::now() + std::chrono::seconds(1)](int64_t done, int64_t all) mutable {
    const auto now = Clock::now();
    if (now < next) return;
    next = now + std::chrono::milliseconds(200);
    env.progress(fmt::format("run: {:.1f} % of {:.2g} points",
                             100 * static_cast<double>(done) / static_cast<double>(all),
                             static_cast<double>(all)));
  };
}

/// Which way the run went at each `if` and `while`.
void print_paths(const ir::Program& program, const std::vector<exec::ControlPath>& paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    const ir::Control& control = program.controls[i];
    const exec::ControlPath& path = paths[i];
    if (control.kind == ir::Control::Kind::If) {
      fmt::print("if `{}`: taken {}, not taken {}\n", control.name, path.taken, path.not_taken);
    } else {
      fmt::print("while `{}`: steps {}, entered {}\n", control.name, path.steps, path.entered);
    }
  }
}

int run_file(const RunOptions& options) {
  const driver::Environment env = environment();
  std::map<std::string, int64_t> bindings;
  if (!parse_pairs(options.bindings, "--bind", bindings)) return kUsage;
  const auto run = [&]() -> Result<Done> {
    SOLAR_TRY(const std::string text, read_file(options.path));
    SOLAR_TRY(const ir::VerifiedProgram program, ir::verify_text(text, {bindings}, options.path));
    exec::NamedTensors inputs;
    if (!options.inputs.empty()) {
      SOLAR_TRY(inputs, exec::read_tensors(options.inputs));
    }
    exec::RunOptions run_options;
    run_options.cancel = env.cancel;
    run_options.memory_limit = static_cast<int64_t>(options.memory_gib * 0x1p30);
    run_options.progress = show_progress(env);
    const auto executor = options.executor == "interpreter" ? exec::interpreter()
                          : options.executor == "compiled"  ? exec::jit(exec::Compile::Everything)
                                                            : exec::jit();
    auto ran = executor->run(program, inputs, run_options);
    clear_progress();
    SOLAR_TRY(exec::Outputs outputs, std::move(ran));
    exec::NamedTensors named = std::move(outputs.states);
    for (size_t i = 0; i < outputs.outputs.size(); ++i)
      named[program->output_names[i]] = outputs.outputs[i];
    print_paths(*program, outputs.paths);
    if (!options.out.empty()) return exec::write_tensors(options.out, named);
    for (const auto& [name, tensor] : named) {
      say(fmt::format("{}: {} =", name, exec::describe(tensor.type(), tensor.shape())));
      for (int64_t i = 0; i < std::min<int64_t>(tensor.count(), 8); ++i) {
        if (ir::is_float(tensor.type())) {
          fmt::print(" {:.6g}", tensor.get(i));
        } else {
          fmt::print(" {}", tensor.get_integer(i));
        }
      }
      fmt::print("{}\n", tensor.count() > 8 ? " ..." : "");
    }
    return Done{};
  }();
  return run ? kDone : report(run.error());
}

}  // namespace

void add_run(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("run", "execute an .alir file on tensors from a file");
  auto options = std::make_shared<RunOptions>();
  command->add_option("FILE", options->path, "the .alir file")->required();
  command->add_option("--inputs", options->inputs, "tensors by port name: .npz or .safetensors");
  command->add_option("-o,--out", options->out,
                      "file for the outputs (default: print their first elements)");
  add_list(*command, "--bind", options->bindings, "set a free dim: D=N");
  add_choice(*command, "--executor", options->executor, {"jit", "compiled", "interpreter"},
             "jit (default: compiles what is worth it), compiled (everything) or interpreter");
  add_memory_limit(*command, options->memory_gib);
  command->footer("example: solar run softmax.alir --inputs x.npz -o y.npz");
  command->callback([&run, options] { run = [options] { return run_file(*options); }; });
}

}  // namespace solar::cli

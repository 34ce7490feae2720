// Runs programs on request, for bench/run.py: it keeps them and their inputs, and times single
// runs.
//
//   load NAME FILE.alir INPUTS.npz THREADS EXECUTOR    -> the first run's seconds (with
//   compilation) run NAME                                           -> seconds save NAME
//   OUTPUTS.npz                              -> ok

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <map>
#include <sstream>

#include "base/file.h"
#include "exec/executor.h"
#include "exec/tensor_file.h"
#include "ir/verify.h"

namespace {

using namespace solar;

struct Loaded {
  ir::VerifiedProgram program;
  exec::NamedTensors inputs;
  exec::RunOptions options;
  std::unique_ptr<exec::Executor> executor;
};

std::map<std::string, Loaded> loaded;

Result<double> run(const std::string& name, exec::NamedTensors* results = nullptr) {
  const Loaded& one = loaded.at(name);
  const auto begin = std::chrono::steady_clock::now();
  SOLAR_TRY(exec::Outputs outputs, one.executor->run(one.program, one.inputs, one.options));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  if (results != nullptr) {
    for (size_t i = 0; i < outputs.outputs.size(); ++i)
      (*results)[one.program->output_names[i]] = outputs.outputs[i];
  }
  return spent.count();
}

Result<double> load(std::istringstream& words) {
  std::string name, file, inputs_file, executor;
  int threads = 0;
  words >> name >> file >> inputs_file >> threads >> executor;
  SOLAR_TRY(const std::string text, read_file(file));
  SOLAR_TRY(const ir::VerifiedProgram program, ir::verify_text(text, {}, file));
  SOLAR_TRY(exec::NamedTensors inputs, exec::read_tensors(inputs_file));
  Loaded one = {program, std::move(inputs), {}, {}};
  one.options.threads = threads;
  one.executor = executor == "jit" ? exec::jit() : exec::interpreter();
  loaded.insert_or_assign(name, std::move(one));
  return run(name);
}

Result<double> save(std::istringstream& words) {
  std::string name, file;
  words >> name >> file;
  exec::NamedTensors results;
  SOLAR_TRY(const double seconds, run(name, &results));
  SOLAR_TRY(const Done done, exec::write_tensors(file, results));
  static_cast<void>(done);
  return seconds;
}

Result<double> answer(const std::string& line) {
  std::istringstream words(line);
  std::string command, name;
  words >> command;
  if (command == "load") return load(words);
  if (command == "save") return save(words);
  words >> name;
  return run(name);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto seconds = answer(line);
    if (seconds) {
      std::cout << fmt::format("{:.9f}", *seconds) << std::endl;
    } else {
      std::cout << "error: " << seconds.error().front().message << std::endl;
    }
  }
}

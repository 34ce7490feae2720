// Runs and counts programs on request, for bench/run.py and bench/counting.py: it keeps them and
// their inputs, and times single runs.
//
//   load NAME FILE.alir INPUTS.npz THREADS EXECUTOR   -> the first run, with compilation
//   run NAME                                          -> a run
//   save NAME OUTPUTS.npz                             -> a run, with its outputs
//   count FILE.alir ROUNDS                            -> the median of lifting it, per node
//
// Answers are seconds passed and seconds of the processor.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

#include "base/file.h"
#include "einsum/lift.h"
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

struct Times {
  double passed = 0, processor = 0;
};

std::map<std::string, Loaded> loaded;

double now(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Result<Times> run(const std::string& name, exec::NamedTensors* results = nullptr) {
  const Loaded& one = loaded.at(name);
  const Times begin = {now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
  SOLAR_TRY(exec::Outputs outputs, one.executor->run(one.program, one.inputs, one.options));
  const Times spent = {now(CLOCK_MONOTONIC) - begin.passed,
                       now(CLOCK_PROCESS_CPUTIME_ID) - begin.processor};
  if (results != nullptr) {
    for (size_t i = 0; i < outputs.outputs.size(); ++i)
      (*results)[one.program->output_names[i]] = outputs.outputs[i];
  }
  return spent;
}

Result<Times> load(std::istringstream& words) {
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

Result<Times> save(std::istringstream& words) {
  std::string name, file;
  words >> name >> file;
  exec::NamedTensors results;
  SOLAR_TRY(const Times times, run(name, &results));
  SOLAR_TRY(const Done done, exec::write_tensors(file, results));
  static_cast<void>(done);
  return times;
}

Result<Times> count(std::istringstream& words) {
  std::string file;
  size_t rounds = 1;
  words >> file >> rounds;
  SOLAR_TRY(const std::string text, read_file(file));
  SOLAR_TRY(const ir::VerifiedProgram program, ir::verify_text(text, {}, file));
  std::vector<double> passed, processor;
  for (size_t i = 0; i < rounds; ++i) {
    const Times begin = {now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
    SOLAR_TRY(const einsum::Graph graph, einsum::lift(program));
    const auto nodes = static_cast<double>(std::max<size_t>(graph.nodes.size(), 1));
    passed.push_back((now(CLOCK_MONOTONIC) - begin.passed) / nodes);
    processor.push_back((now(CLOCK_PROCESS_CPUTIME_ID) - begin.processor) / nodes);
  }
  std::sort(passed.begin(), passed.end());
  std::sort(processor.begin(), processor.end());
  return Times{passed[passed.size() / 2], processor[processor.size() / 2]};
}

Result<Times> answer(const std::string& line) {
  std::istringstream words(line);
  std::string command, name;
  words >> command;
  if (command == "load") return load(words);
  if (command == "save") return save(words);
  if (command == "count") return count(words);
  words >> name;
  return run(name);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto times = answer(line);
    if (times) {
      std::cout << fmt::format("{:.9f} {:.9f}", times->passed, times->processor) << std::endl;
    } else {
      std::cout << "error: " << times.error().front().message << std::endl;
    }
  }
}

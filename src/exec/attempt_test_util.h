#pragma once
// What must hold of every text, whoever wrote it: it is refused with a diagnosis, or it runs within
// its limits and ends with a result or a diagnosis. Shared by the tests and by fuzz/.

#include <random>

#include "base/diagnostic_text.h"
#include "exec/executor.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/unify_dims.h"
#include "ir/verify.h"

namespace solar::exec {

struct Attempt {
  enum class End : uint8_t { Unparsed, Refused, TooLarge, Failed, Ran };
  End end = End::Unparsed;
  std::string wrong = {};  // which promise was broken; empty: none
};

inline constexpr int64_t kAttemptPoints = 300'000;
inline constexpr int64_t kAttemptBytes = int64_t{32} << 20;

/// Small numbers, now and then a wild one.
inline TensorData random_tensor(const ir::Tensor& port, std::mt19937_64& random) {
  TensorData tensor = *TensorData::make(port.type, port.shape);
  constexpr double kWild[] = {INFINITY, -INFINITY, NAN,  1e300, -1e300,
                              9.2e18,   -9.3e18,   -0.0, 1e-310};
  const bool wild = random() % 4 == 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const auto small = static_cast<double>(static_cast<int64_t>(random() % 12) - 3);
    tensor.set(i, wild && random() % 5 == 0 ? kWild[random() % std::size(kWild)] : small);
  }
  return tensor;
}

inline bool well_formed(const Diagnostics& diagnostics) {
  if (diagnostics.empty()) return false;
  for (const Diagnostic& d : diagnostics) {
    if (d.message.empty() || render_text(d).empty()) return false;
  }
  return true;
}

inline Attempt run_verified(const ir::VerifiedProgram& program, const Executor& executor,
                            std::mt19937_64& random) {
  Attempt attempt;
  attempt.end = Attempt::End::TooLarge;
  if (estimate_points(program) > kAttemptPoints) return attempt;
  if (predict_peak_bytes(program) > kAttemptBytes) return attempt;
  Inputs inputs;
  for (const ir::TensorId id : program->ports) {
    const ir::Tensor& port = program->tensor(id);
    if (port.role != ir::Role::Const) inputs.emplace(port.name, random_tensor(port, random));
  }
  RunOptions options;
  options.threads = 1;
  options.memory_limit = kAttemptBytes;
  const auto outputs = executor.run(program, inputs, options);
  if (!outputs) {
    attempt.end = Attempt::End::Failed;
    if (!well_formed(outputs.error())) attempt.wrong = "a run failed without a diagnosis";
    return attempt;
  }
  attempt.end = Attempt::End::Ran;
  if (outputs->outputs.size() != program->outputs.size()) attempt.wrong = "an output is missing";
  if (outputs->states.size() != program->updates.size()) attempt.wrong = "a state is missing";
  return attempt;
}

/// Parses, prints, verifies and runs.
inline Attempt attempt(const std::string& text, const Executor& executor, std::mt19937_64& random) {
  Attempt result;
  const auto file = ir::parse_text("mutated.alir", text);
  if (!file) {
    if (!well_formed(file.error())) result.wrong = "refused by the parser without a diagnosis";
    return result;
  }
  result.end = Attempt::End::Refused;
  const std::string printed = ir::print(*file);
  const auto again = ir::parse_text("printed.alir", printed);
  if (!again || ir::print(*again) != printed) {
    result.wrong = "what was printed reads differently:\n" + printed;
    return result;
  }
  const auto program = ir::verify(*file);
  const auto same = ir::verify(*again);
  if (program.has_value() != same.has_value()) {
    result.wrong = "what was printed is judged differently:\n" + printed;
    return result;
  }
  if (!program) {
    if (!well_formed(program.error())) result.wrong = "refused by the verifier without a diagnosis";
    return result;
  }
  static_cast<void>(ir::unify_dims(*file));
  return run_verified(*program, executor, random);
}

}  // namespace solar::exec

#pragma once
// Running program texts in tests, beside the reference evaluator.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/diagnostic_text.h"
#include "exec/executor.h"
#include "exec/reference_program_test_util.h"
#include "ir/verify.h"

namespace solar::exec {

using Values = std::vector<double>;

inline TensorData tensor(ElementType type, std::vector<int64_t> shape, const Values& values) {
  return *TensorData::from_doubles(type, std::move(shape), values);
}
inline TensorData counting(std::vector<int64_t> shape, ElementType type = ElementType::F32) {
  auto result = *TensorData::make(type, std::move(shape));
  for (int64_t i = 0; i < result.count(); ++i) result.set(i, static_cast<double>(i));
  return result;
}
inline Values values(const TensorData& data) {
  Values result;
  for (int64_t i = 0; i < data.count(); ++i) result.push_back(data.get(i));
  return result;
}

inline ir::VerifiedProgram verified(const std::string& text) {
  auto program = ir::verify_text(text);
  if (!program) {
    ADD_FAILURE() << render_text(program.error()) << text;
    std::abort();
  }
  return *program;
}

inline Diagnostic failure(const std::string& text, const Inputs& inputs,
                          const RunOptions& options = {}) {
  auto result = interpreter()->run(verified(text), inputs, options);
  EXPECT_FALSE(result);
  return result ? Diagnostic{} : result.error()[0];
}

/// Floats to a few roundings, everything else exactly.
inline ::testing::AssertionResult near(const TensorData& actual, const TensorData& expected) {
  if (actual.type() != expected.type() || actual.shape() != expected.shape())
    return ::testing::AssertionFailure() << describe(actual.type(), actual.shape());
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = actual.get(i), b = expected.get(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double tolerance = 64 * ir::epsilon(actual.type()) * std::max(1.0, std::fabs(b));
    if (std::fabs(a - b) <= tolerance) continue;
    return ::testing::AssertionFailure() << "element " << i << ": " << a << ", expected " << b;
  }
  return ::testing::AssertionSuccess();
}

inline bool operator==(const ControlPath& a, const ControlPath& b) {
  return a.taken == b.taken && a.not_taken == b.not_taken && a.entered == b.entered &&
         a.steps == b.steps;
}

/// Runs with one thread and with three; both must agree with the reference.
inline Outputs run_checked(const std::string& text, const Inputs& inputs) {
  const ir::VerifiedProgram program = verified(text);
  const Outputs expected = reference::ProgramEvaluator(*program).run(inputs);
  Outputs last;
  for (const int threads : {1, 3}) {
    auto result = interpreter()->run(program, inputs, {.threads = threads});
    if (!result) {
      ADD_FAILURE() << render_text(result.error());
      return expected;
    }
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      EXPECT_TRUE(near(result->outputs[i], expected.outputs[i])) << program->output_names[i];
    for (const auto& [name, value] : expected.states)
      EXPECT_TRUE(near(result->states.at(name), value)) << name;
    EXPECT_TRUE(result->paths == expected.paths);
    last = std::move(*result);
  }
  return last;
}

}  // namespace solar::exec

// The accuracy of compiled math functions, in units in the last place of f32, against the
// interpreter's f64. docs/performance.md states the limits that are tested here.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "exec/executor.h"
#include "exec/jit/engine.h"
#include "ir/verify.h"

namespace solar::exec::native {
namespace {

struct Function {
  const char* name;
  double low, high;  // of the arguments
  double limit;      // in ulp
};

constexpr Function kFunctions[] = {
    {"exp", -100, 88, 3},    {"log", 1e-30, 1e30, 2}, {"log1p", -0.99, 1e6, 2},
    {"expm1", -20, 80, 2},   {"sqrt", 0, 1e30, 0.5},  {"rsqrt", 1e-30, 1e30, 1.5},
    {"sin", -1000, 1000, 2}, {"cos", -1000, 1000, 2}, {"tan", -1.5, 1.5, 4},
    {"tanh", -12, 12, 4},    {"sinh", -80, 80, 4},    {"cosh", -80, 80, 4},
    {"asin", -1, 1, 4},      {"acos", -1, 1, 4},      {"atan", -100, 100, 4},
    {"erf", -5, 5, 4},       {"sigmoid", -80, 80, 4},
};

/// Half of the arguments evenly spread, half by magnitude, so that small ones are tried.
TensorData arguments_of(const Function& function, int64_t count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  auto data = TensorData::make(ElementType::F32, {count});
  for (int64_t i = 0; i < count; ++i) {
    double x = function.low + (function.high - function.low) * part(random);
    if (i % 2 == 0) {
      const double size = std::exp(std::log(1e-20) * part(random));
      const bool negative = function.low < 0 && i % 4 == 0;
      x = negative ? function.low * size : function.high * size;
      x = std::max(x, function.low);
    }
    data->set(i, x);
  }
  return std::move(*data);
}

std::unique_ptr<Executor> everything_compiled() {
  return std::make_unique<Interpreter>(make_engines({.compile_after = 0, .cache_folder = ""}));
}

Result<TensorData> evaluate(const Executor& executor, const std::string& type,
                            const Function& function, const TensorData& x) {
  const std::string text = fmt::format(
      "program p(input x: f32[{0}]) -> (y) {{\n"
      "  kernel y: {1}[{0}] {{ for i:{0}   y[i] = {2}({1}(x[i])) }}\n}}",
      x.count(), type, function.name);
  SOLAR_TRY(const ir::VerifiedProgram program, ir::verify_text(text));
  SOLAR_TRY(Outputs outputs, executor.run(program, {{"x", x}}));
  return std::move(outputs.outputs[0]);
}

double ulp_of(double value) {
  const auto single = static_cast<float>(std::max(std::fabs(value), 0x1p-126));
  return static_cast<double>(std::nextafter(single, INFINITY)) - static_cast<double>(single);
}

TEST(JitAccuracy, MathFunctionsStayWithinTheStatedUlp) {
  const auto exact = interpreter();
  const auto compiled = everything_compiled();
  for (const Function& function : kFunctions) {
    const TensorData x = arguments_of(function, 40000);
    const auto expected = evaluate(*exact, "f64", function, x);
    const auto found = evaluate(*compiled, "f32", function, x);
    ASSERT_TRUE(expected && found) << function.name;
    double worst = 0, worst_at = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
      const double error = std::fabs(found->get(i) - expected->get(i)) / ulp_of(expected->get(i));
      if (error > worst) worst = error, worst_at = x.get(i);
    }
    if (std::getenv("SOLAR_PRINT_ULP") != nullptr) fmt::print("{} {:.2f}\n", function.name, worst);
    EXPECT_LE(worst, function.limit) << function.name << "(" << worst_at << ")";
  }
}

TEST(JitAccuracy, SpecialValues) {
  const auto exact = interpreter();
  const auto compiled = everything_compiled();
  // Enough of each for vectors and for what is left over.
  auto x = TensorData::make(ElementType::F32, {19 * 7});
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {infinity, -infinity, std::nan(""), 0.0, -0.0, 1e-40, 3.4e38};
  for (int64_t i = 0; i < x->count(); ++i) x->set(i, values[i % 7]);
  for (const Function& function : kFunctions) {
    const auto expected = evaluate(*exact, "f32", function, *x);
    const auto found = evaluate(*compiled, "f32", function, *x);
    ASSERT_TRUE(expected && found) << function.name;
    for (int64_t i = 0; i < x->count(); ++i) {
      const double a = expected->get(i), b = found->get(i);
      const bool same = std::isnan(a) ? std::isnan(b)
                        : std::isinf(a) || std::isinf(b)
                            ? a == b
                            : std::fabs(a - b) <= function.limit * ulp_of(a);
      EXPECT_TRUE(same) << function.name << "(" << x->get(i) << ") is " << b << ", expected " << a;
    }
  }
}

}  // namespace
}  // namespace solar::exec::native

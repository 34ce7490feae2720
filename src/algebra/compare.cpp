#include "algebra/compare.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "exec/executor.h"

namespace solar::algebra {
namespace {

constexpr double kF64Tolerance = 1e-9;
/// Of values that are nothing but rounding, beside inputs of size 1.
constexpr double kF64Nothing = 1e-11;
/// Narrower types round at every store: a coarse check that f64 stands for what was written.
constexpr double kRounding = 16384;

/// A port's values in its type as written and as f64, which are the same numbers.
struct PortValues {
  exec::TensorData written = {};
  exec::TensorData wide = {};
};

std::optional<PortValues> draw(const ir::Tensor& port, std::mt19937_64& random, bool small) {
  auto written = exec::TensorData::make(port.type, port.shape);
  if (!written) return std::nullopt;
  std::normal_distribution<double> normal(0, 1);
  std::uniform_int_distribution<int64_t> integer(0, small ? 0 : 1);
  const bool real = ir::is_float(port.type);
  for (int64_t i = 0; i < written->count(); ++i) {
    if (real) {
      written->set(i, normal(random));
    } else {
      written->set_integer(i, integer(random));
    }
  }
  PortValues values{*written, *written};
  if (real) {
    auto wide = exec::TensorData::make(ir::ElementType::F64, port.shape);
    if (!wide) return std::nullopt;
    for (int64_t i = 0; i < wide->count(); ++i) wide->set(i, written->get(i));
    values.wide = *wide;
  }
  return values;
}

/// Variances and the like are not negative: such ports are drawn as squares.
void make_positive(PortValues& values) {
  for (int64_t i = 0; i < values.written.count(); ++i) {
    const double value = values.written.get(i);
    values.written.set(i, value * value + 0.5);
    values.wide.set(i, values.written.get(i));
  }
}

double largest(const exec::TensorData& data) {
  double size = 0;
  for (int64_t i = 0; i < data.count(); ++i) {
    const double value = std::abs(data.get(i));
    if (std::isfinite(value)) size = std::max(size, value);
  }
  return size;
}

/// How many of the elements are finite in both.
bool agree(const exec::TensorData& a, const exec::TensorData& b, double relative, double nothing,
           bool& told) {
  if (a.shape() != b.shape()) return false;
  const double tolerance = relative * largest(a) + nothing;
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = a.get(i);
    const double y = b.get(i);
    // Where the original leaves the finite numbers, nothing is promised (`finite-values`).
    if (!std::isfinite(x)) continue;
    told = true;
    if (!(std::abs(x - y) <= tolerance)) return false;
  }
  return true;
}

bool same_outputs(const exec::Outputs& a, const exec::Outputs& b, double relative, double nothing,
                  bool& told) {
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (!agree(a.outputs[i], b.outputs[i], relative, nothing, told)) return false;
  }
  for (const auto& [name, value] : a.states) {
    const auto other = b.states.find(name);
    if (other == b.states.end() || !agree(value, other->second, relative, nothing, told))
      return false;
  }
  return true;
}

double widest_epsilon(const ir::Program& program) {
  double epsilon = 0;
  for (const ir::Tensor& tensor : program.tensors)
    epsilon = std::max(epsilon, ir::epsilon(tensor.type));
  return epsilon;
}

}  // namespace

Verdict compare(const ir::VerifiedProgram& original, const ir::VerifiedProgram& original_f64,
                const ir::VerifiedProgram& rewritten_f64, int seeds,
                const std::atomic<bool>* cancel) {
  const auto executor = exec::interpreter();
  exec::RunOptions run;
  run.threads = 1;
  run.cancel = cancel;
  const double rounding = kRounding * widest_epsilon(*original);
  bool told = false;
  for (int seed = 0; seed < 2 * seeds; ++seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed) + 1);
    exec::Inputs written;
    exec::Inputs wide;
    for (const ir::TensorId id : original->ports) {
      const ir::Tensor& port = original->tensor(id);
      if (port.role == ir::Role::Const) continue;
      // Index tensors may point at anything; element 0 there always is.
      auto values = draw(port, random, seed >= seeds);
      if (!values) return Verdict::CannotRun;
      const bool stored = port.role == ir::Role::Buffer || port.role == ir::Role::State;
      if (stored && ir::is_float(port.type)) make_positive(*values);
      written[port.name] = values->written;
      wide[port.name] = values->wide;
    }
    const auto a = executor->run(original_f64, wide, run);
    const auto b = executor->run(rewritten_f64, wide, run);
    if (!a || !b) {
      if (seed + 1 < seeds) continue;
      if (seed + 1 < 2 * seeds && !told) continue;
      return told ? Verdict::Same : Verdict::CannotRun;
    }
    if (!same_outputs(*a, *b, kF64Tolerance, kF64Nothing, told)) return Verdict::Different;
    if (seed == 0 && rounding > 0) {
      const auto c = executor->run(original, written, run);
      if (!c) return Verdict::CannotRun;
      bool any = false;
      // Values in doubt are compared with the size of all results.
      double size = 1;
      for (const exec::TensorData& output : a->outputs) size = std::max(size, largest(output));
      if (!same_outputs(*a, *c, rounding, rounding * size, any)) return Verdict::Different;
    }
    if (told && seed + 1 >= seeds) return Verdict::Same;
  }
  return told ? Verdict::Same : Verdict::CannotRun;
}

}  // namespace solar::algebra

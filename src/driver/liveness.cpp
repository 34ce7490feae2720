#include "driver/liveness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "exec/executor.h"
#include "validate/rounding.h"
#include "validate/sizes.h"

namespace solar::driver {
namespace {

constexpr int kTries = 2;  // an argmax may stay where it was by chance
constexpr int kLeastRuns = 1 + kTries;
constexpr int64_t kElements = 16;      // of a port, that are changed one by one
constexpr int64_t kMostProbes = 1000;  // runs for that, in all

/// Other values of the same kind: floats keep their sign and size, so that a variance stays one;
/// integers and truth values, which may be indices, change places.
exec::TensorData changed(const exec::TensorData& old, std::mt19937_64& random) {
  exec::TensorData tensor = old;
  const int64_t count = tensor.count();
  if (!ir::is_float(tensor.type())) {
    const int64_t by =
        count > 1 ? 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(count - 1)) : 0;
    for (int64_t i = 0; i < count; ++i) tensor.set_integer(i, old.get_integer((i + by) % count));
    return tensor;
  }
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  for (int64_t i = 0; i < count; ++i) {
    const double value = old.get(i);
    if (!std::isfinite(value)) continue;
    tensor.set(i, value == 0 ? 0.1 * factor(random) : value * factor(random));
  }
  return tensor;
}

/// The same with one element changed, a float to a far larger or smaller one of its sign.
exec::TensorData changed_at(const exec::TensorData& old, int64_t element, bool larger) {
  exec::TensorData tensor = old;
  if (ir::is_float(tensor.type())) {
    const double value = old.get(element);
    tensor.set(element, value == 0 ? (larger ? 8.0 : 0.5) : value * (larger ? 8.0 : 0.125));
    return tensor;
  }
  for (int64_t i = 1; i < old.count(); ++i) {
    const int64_t other = old.get_integer((element + (larger ? i : old.count() - i)) % old.count());
    if (other == old.get_integer(element)) continue;
    tensor.set_integer(element, other);
    break;
  }
  return tensor;
}

class Prober {
 public:
  Prober(const ir::VerifiedProgram& program, const exec::NamedTensors& example,
         const LivenessOptions& options)
      : program_(program), options_(options), executor_(exec::jit()) {
    for (const auto& [name, tensor] : example) {
      if (name.starts_with("in/")) inputs_.emplace(name.substr(3), tensor);
    }
    rounding_ = validate::rounding_error(*program).relative();
  }

  /// Runs on the example.
  Result<Done> start() {
    SOLAR_TRY(base_, executor_->run(program_, inputs_, options_.run));
    return Done{};
  }

  /// Which results (outputs, then updated states, as `names` has them) a change of these ports
  /// changes, in any of a few tries.
  Result<std::vector<bool>> moved_by(const std::vector<std::string>& ports) {
    std::vector<bool> moved(base_.outputs.size() + base_.states.size(), false);
    for (int attempt = 0; attempt < kTries; ++attempt) {
      exec::Inputs inputs = inputs_;
      for (const std::string& port : ports) inputs[port] = changed(inputs_.at(port), random_);
      SOLAR_TRY([[maybe_unused]] const Done done, add_moved(inputs, moved));
      if (std::all_of(moved.begin(), moved.end(), [](bool m) { return m; })) break;
    }
    return moved;
  }

  /// Whether each of a few elements of the port moves some result by itself.
  Result<bool> needs_all_of(const std::string& port) {
    const exec::TensorData& old = inputs_.at(port);
    for (int64_t i = 0; i < std::min(kElements, old.count()); ++i) {
      const int64_t element =
          old.count() <= kElements
              ? i
              : static_cast<int64_t>(random_() % static_cast<uint64_t>(old.count()));
      std::vector<bool> moved(base_.outputs.size() + base_.states.size(), false);
      for (const bool larger : {true, false}) {
        if (std::find(moved.begin(), moved.end(), true) != moved.end()) break;
        exec::Inputs inputs = inputs_;
        inputs[port] = changed_at(old, element, larger);
        SOLAR_TRY([[maybe_unused]] const Done done, add_moved(inputs, moved));
      }
      if (std::find(moved.begin(), moved.end(), true) == moved.end()) return false;
    }
    return true;
  }

  const exec::Inputs& inputs() const { return inputs_; }

 private:
  Result<Done> add_moved(const exec::Inputs& inputs, std::vector<bool>& moved) {
    SOLAR_TRY(const exec::Outputs outputs, executor_->run(program_, inputs, options_.run));
    size_t at = 0;
    const auto add = [&](const exec::TensorData& before, const exec::TensorData& after) {
      moved[at] = moved[at] || !validate::compare(before, after, rounding_).equal;
      ++at;
    };
    for (size_t i = 0; i < base_.outputs.size(); ++i) add(base_.outputs[i], outputs.outputs[i]);
    for (const auto& [name, state] : base_.states) add(state, outputs.states.at(name));
    return Done{};
  }

  const ir::VerifiedProgram& program_;
  const LivenessOptions& options_;
  std::unique_ptr<exec::Executor> executor_;
  exec::Inputs inputs_ = {};
  exec::Outputs base_ = {};
  double rounding_ = 0;
  std::mt19937_64 random_{1};
};

bool can_change(const exec::TensorData& tensor) {
  if (ir::is_float(tensor.type())) return tensor.count() > 0;
  for (int64_t i = 1; i < tensor.count(); ++i) {
    if (tensor.get_integer(i) != tensor.get_integer(0)) return true;
  }
  return false;
}

}  // namespace

Result<Liveness> find_live(const ir::VerifiedProgram& program, const exec::NamedTensors& example,
                           const LivenessOptions& options) {
  Liveness found;
  const int64_t points = std::max<int64_t>(validate::weighted_points(program), 1);
  int64_t runs = options.points / points;
  if (runs < kLeastRuns) {
    found.reason = "the program is too large to be run on changed inputs";
    return found;
  }
  Prober prober(program, example, options);
  SOLAR_TRY([[maybe_unused]] const Done started, prober.start());
  std::vector<std::string> ports;
  for (const auto& [name, tensor] : prober.inputs()) {
    if (can_change(tensor)) ports.push_back(name);
  }
  SOLAR_TRY(const std::vector<bool> moved, prober.moved_by(ports));
  runs -= kLeastRuns;
  for (size_t i = 0; i < program->outputs.size(); ++i) {
    if (!moved[i]) found.constant_outputs.push_back(program->tensor(program->outputs[i]).name);
  }
  // The inputs first: they are what a caller hands over.
  std::stable_partition(ports.begin(), ports.end(), [&](const std::string& name) {
    return std::any_of(program->ports.begin(), program->ports.end(), [&](ir::TensorId id) {
      const ir::Tensor& tensor = program->tensor(id);
      return tensor.name == name && tensor.role == ir::Role::Input;
    });
  });
  for (const std::string& port : ports) {
    if (runs < kTries) break;
    runs -= kTries;
    SOLAR_TRY(const std::vector<bool> by_this, prober.moved_by({port}));
    const bool live = std::any_of(by_this.begin(), by_this.end(), [](bool m) { return m; });
    (live ? found.live : found.ignored).push_back(port);
  }
  // The largest first: they weigh most.
  std::vector<std::string> largest = found.live;
  std::stable_sort(largest.begin(), largest.end(), [&](const auto& a, const auto& b) {
    return prober.inputs().at(a).count() > prober.inputs().at(b).count();
  });
  int64_t probes = std::min(runs, kMostProbes);
  for (const std::string& port : largest) {
    const int64_t most = 2 * std::min(kElements, prober.inputs().at(port).count());
    if (probes < most) continue;
    probes -= most;
    SOLAR_TRY(const bool needed, prober.needs_all_of(port));
    if (needed) found.needed.push_back(port);
  }
  found.known = true;
  return found;
}

Result<Liveness> find_live(const Loaded& loaded, const LivenessOptions& options) {
  if (loaded.small) return find_live(loaded.small->program, loaded.small->example, options);
  if (!loaded.example.empty()) return find_live(*loaded.program, loaded.example, options);
  Liveness unknown;
  unknown.reason = "the program was not validated on example inputs";
  return unknown;
}

}  // namespace solar::driver

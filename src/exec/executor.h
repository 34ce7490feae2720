#pragma once
// Running a verified program on data. The interface is what callers use; interpreter() is the
// oracle behind it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/tensor.h"
#include "ir/core.h"

namespace solar::exec {

/// Every port but the constants, by name.
using Inputs = std::map<std::string, TensorData>;

/// Which way a run went at one `if` or `while`: If: how often each branch was taken; While: how
/// often it was entered, and the steps that took effect in all.
struct ControlPath {
  int64_t taken = 0, not_taken = 0;
  int64_t entered = 0, steps = 0;
};

struct Outputs {
  std::vector<TensorData> outputs = {};           // in the program's order
  std::map<std::string, TensorData> states = {};  // updated states, by port name
  std::map<std::string, TensorData> kept = {};    // RunOptions::keep, by tensor name
  std::vector<ControlPath> paths = {};            // per Program::controls
};

inline constexpr int64_t kDefaultMemoryLimit = int64_t{10} << 30;

struct RunOptions {
  int threads = 0;  // 0: one per processor
  int64_t memory_limit = kDefaultMemoryLimit;
  std::string memory_option = "--memory-limit";  // the name of that limit, for the message
  std::vector<std::string> keep = {};            // tensors to return besides the outputs
  /// Called with each tensor that a statement outside of loops and branches has computed. What it
  /// returns, of the same type and shape, stands for the tensor from there on; of a view, only the
  /// value is shown.
  std::function<std::optional<TensorData>(const std::string& name, const TensorData& value)>
      replace = {};
  /// Called on the calling thread now and then: points done, of all.
  std::function<void(int64_t done, int64_t all)> progress = {};
  const std::atomic<bool>* cancel =
      nullptr;  // when it turns true, the run ends with an `interrupted` diagnostic
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Inputs are checked against the ports (input-tensor), the predicted peak against the limit
  /// (memory-limit).
  virtual Result<Outputs> run(const ir::VerifiedProgram& program, const Inputs& inputs,
                              const RunOptions& options = {}) const = 0;
};

std::unique_ptr<Executor> interpreter();

/// Which kernels are compiled: those that have enough points to be worth it, or all of them, for
/// tests.
enum class Compile : uint8_t { Worthwhile, Everything };

/// The interpreter with compiled kernels, which are kept for later runs. Sums and products are
/// taken in another order, math functions differ by a few ulp (docs/performance.md). Where LLVM
/// cannot be had, it is the interpreter.
std::unique_ptr<Executor> jit(Compile which = Compile::Worthwhile);

/// Bytes of the buffers alive at once at worst: inputs and constants throughout, every value from
/// the statement that defines it to its last use, outputs and kept tensors to the end. A body's
/// tensors live within a step; what a repeat stacks is written in its place. Views share their
/// tensor's buffer where strides can express them. Saturates at INT64_MAX. Work buffers of up to a
/// few MiB a thread are not counted.
int64_t predict_peak_bytes(const ir::VerifiedProgram& program,
                           const std::vector<std::string>& keep = {});

/// Loop points of all kernels (guards ignored) plus elements copied, times the steps around them (a
/// while: its limit). Saturates at INT64_MAX.
int64_t estimate_points(const ir::VerifiedProgram& program);

}  // namespace solar::exec

#pragma once
// Running one kernel on data. Contractions go to contraction.h, everything else through strips.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "exec/nest.h"
#include "exec/parallel.h"
#include "exec/strip.h"

namespace solar::exec {

enum class KernelStatus : uint8_t { Done, Cancelled, Failed, NotApplicable };

struct KernelResult {
  KernelStatus status = KernelStatus::Done;
  Fault fault = {};  // Failed only
};

struct RunContext;

/// Something that runs kernels faster than strips do. NotApplicable when it does not handle this
/// one; then nothing was written. One per run; called from one thread.
class KernelEngine {
 public:
  virtual ~KernelEngine() = default;
  virtual KernelResult run(const Nest& nest, const RunContext& context) = 0;
};

/// What kernels of one run share.
struct RunContext {
  ThreadTeam* team = nullptr;
  KernelEngine* engine = nullptr;
  const std::atomic<bool>* cancel = nullptr;
  const int64_t* steps = nullptr;  // the values of the program's step variables now
  /// Called in the first thread with newly finished points.
  std::function<void(int64_t points)> finished = {};

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
};

/// Where the first element of a tensor lies.
using FindFirst = std::function<std::byte*(ir::TensorId)>;

/// A kernel joined with data once, that can run again after rebind(). `kernel` must outlive it.
class PreparedKernel {
 public:
  PreparedKernel(const ir::Kernel& kernel, const FindData& find, const RunContext& context);
  ~PreparedKernel();
  PreparedKernel(const PreparedKernel&) = delete;
  PreparedKernel& operator=(const PreparedKernel&) = delete;

  void rebind(const FindFirst& find);
  KernelResult run(const RunContext& context);

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// Fills the kernel's output tensors.
KernelResult run_kernel(const ir::Kernel& kernel, const FindData& find, const RunContext& context);

/// The same without the contraction path; for tests that compare the two.
KernelResult run_kernel_by_strips(const Nest& nest, const RunContext& context);

/// Estimated nanoseconds a point when `lane` is the lane loop and the expressions at `roots` are
/// evaluated.
double lane_cost(const Nest& nest, int lane, const std::vector<int32_t>& roots);

/// The accesses that the nodes under `roots` read.
std::vector<int32_t> accesses_under(const Nest& nest, const std::vector<int32_t>& roots);

int64_t loop_points(const Nest& nest);

/// The value that a reduction of this type starts from, as 8 bytes of its compute type.
int64_t identity_bits(ir::Reduction reduction, ElementType type);

}  // namespace solar::exec

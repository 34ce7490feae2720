#pragma once
// How a sum of products becomes matrix products of the library: which loops make up rows, columns
// and depth, which are stepped through around them, and which factors are first evaluated into a
// dense block by a compiled kernel (that is what makes a convolution a matrix product).

#include <memory>
#include <optional>
#include <vector>

#include "exec/jit/kernel_store.h"
#include "exec/nest.h"

namespace solar::exec::native {

/// One factor as a matrix: its own loops against the summed ones.
struct Factor {
  std::vector<int> loops = {};  // its matrix loops, outermost first
  int64_t size = 1;
  // Read where it lies:
  int32_t access = -1;
  int64_t own_stride = 0, depth_stride = 0;
  // Or evaluated into a block, own x depth or depth x own:
  std::unique_ptr<ir::Kernel> kernel = {};
  Nest pack = {};
  bool own_is_fast = false;
  bool masked = false;  // zeros stand where guards fail: the other factor must be finite
  CompiledKernel* compiled = nullptr;

  bool packed() const { return kernel != nullptr; }
};

/// An outer loop; of a split one, a block of values at a time.
struct OuterLoop {
  int loop = -1;
  int64_t count = 1;
  int64_t block = 1;
};

struct GemmPlan {
  std::vector<OuterLoop> outer = {};
  std::vector<int> summed = {};
  int64_t depth = 1;
  Factor rows = {}, columns = {};
  int64_t row_stride = 0, column_stride = 0;  // of the output
  int64_t row_chunks = 1, column_chunks = 1;  // shared out in so many parts
  int64_t tasks = 1;
  // `init`, if there is one: a kernel that writes it first.
  std::unique_ptr<ir::Kernel> init_kernel = {};
  Nest init = {};
  CompiledKernel* init_compiled = nullptr;

  /// Whether products can be written to the output itself.
  bool in_place(const Nest& nest) const {
    return (nest.output.type == ElementType::F32 || nest.output.type == ElementType::F64) &&
           column_stride == 1 && row_stride >= columns.size;
  }
};

/// Nothing where the kernel is no such sum, has guards that tie both factors, or, unless
/// `even_if_small`, is too small to gain.
std::unique_ptr<GemmPlan> plan_gemm(const Nest& nest, int threads, bool even_if_small);

}  // namespace solar::exec::native

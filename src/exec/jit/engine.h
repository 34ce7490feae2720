#pragma once
// The engine that runs compiled kernels.

#include <memory>

#include "exec/interpreter.h"
#include "exec/jit/kernel_store.h"

namespace solar::exec::native {

struct Options {
  /// Kernels are compiled once so many of their points have been interpreted, so that small
  /// programs start at once.
  int64_t compile_after = 1 << 20;
  std::string cache_folder = default_cache_folder();
  /// Sums of products go to the BLAS library, or to the interpreter's blocks; else to plain loops.
  bool library = true;
};

/// Engines that share one store of kernels.
MakeEngine make_engines(const Options& options, std::shared_ptr<KernelStore> store = {});

}  // namespace solar::exec::native

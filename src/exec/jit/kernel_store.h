#pragma once
// Compiled kernels by structure: in the process, and on disk.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "exec/jit/compiler.h"
#include "exec/jit/disk_cache.h"
#include "exec/jit/loop_order.h"

namespace solar::exec::native {

struct GemmPlan;

/// How a kernel is run; decided once.
enum class Way : uint8_t { Undecided, Interpreted, Compiled, Product };

struct CompiledKernel {
  LoopOrder order = {};
  std::atomic<Way> way = Way::Undecided;
  std::atomic<int64_t> points_interpreted = 0;  // before it was decided
  std::mutex deciding = {};
  // Set by the store's prepare():
  KernelFunction function = nullptr;
  bool refused = false;      // it cannot be compiled
  std::string problem = {};  // of the compiler, if refused
  // Set when `way` becomes Product:
  std::shared_ptr<GemmPlan> product = {};
};

/// How compiling went so far.
struct StoreStatistics {
  int64_t compiled = 0, from_disk = 0, refused = 0;
  double compile_seconds = 0;
};

class KernelStore {
 public:
  explicit KernelStore(std::string cache_folder) : disk_(std::move(cache_folder)) {}

  /// The entry of a nest's structure; lives as long as the store.
  CompiledKernel& entry(const Nest& nest);
  /// Compiles, or loads from disk, if that was not done before.
  void prepare(const Nest& nest, CompiledKernel& kernel);
  StoreStatistics statistics() const;

 private:
  mutable std::mutex mutex_;
  DiskCache disk_;
  std::unordered_map<std::string, std::unique_ptr<CompiledKernel>> kernels_ = {};
  StoreStatistics statistics_ = {};
};

}  // namespace solar::exec::native

#pragma once
// Writes through computed subscripts. Several values for one element are combined in loop order,
// whatever the number of threads.

#include <memory>
#include <optional>

#include "exec/kernel_run.h"

namespace solar::exec {

struct ScatterResult {
  KernelResult kernel = {};
  std::optional<int64_t> duplicate = {};  // a plain assignment's element that was written twice
};

/// A scatter joined with data once, that can run again after rebind(). `scatter` must outlive it.
class PreparedScatter {
 public:
  PreparedScatter(const ir::Scatter& scatter, const FindData& find, const RunContext& context);
  ~PreparedScatter();
  PreparedScatter(const PreparedScatter&) = delete;
  PreparedScatter& operator=(const PreparedScatter&) = delete;

  void rebind(const FindFirst& find);
  /// The output, row-major, holds the base. May throw std::bad_alloc.
  ScatterResult run(const RunContext& context);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace solar::exec

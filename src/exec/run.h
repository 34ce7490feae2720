#pragma once
// One run of a program: its buffers, and its statements executed in order. Private to exec/.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/executor.h"
#include "exec/kernel_run.h"
#include "exec/memory_plan.h"

namespace solar::exec {

Diagnostic run_problem(DiagnosticKind kind, std::string message, std::string hint = {},
                       Span span = {});
Diagnostic interrupted();
Diagnostic no_body(const ir::Program& program, const ir::Opaque& opaque, Span span);

/// Bool data from outside may hold any byte; inside it is 0 or 1.
TensorData normalised(TensorData tensor);

using Buffer = std::shared_ptr<std::byte>;
class PreparedScatter;

class Run {
 public:
  Run(const ir::Program& program, const Inputs& inputs, const RunOptions& options,
      KernelEngine* engine);

  Result<Outputs> run();

 private:
  // interpreter.cpp: what goes in and comes out
  Result<Done> check_kept() const;
  Result<Done> check_memory() const;
  Result<Done> check_bodies() const;
  Result<Done> bind_ports();
  Diagnostic missing_port(const ir::Tensor& port) const;
  Result<TensorData> take(ir::TensorId id);
  Result<Outputs> collect();

  // run_statement.cpp: statements without bodies
  Result<Done> run_block(const std::vector<ir::Statement>& body, size_t begin, size_t end);
  Result<Done> run_statement(const ir::Statement& statement);
  Result<Done> offer(const ir::Statement& statement);  // to RunOptions::replace
  Result<Done> run_body(const ir::Kernel& kernel, const ir::Statement& statement);
  Result<Done> run_body(const ir::View& view, const ir::Statement& statement);
  Result<Done> run_body(const ir::Concat& concat, const ir::Statement& statement);
  Result<Done> run_body(const ir::Scatter& scatter, const ir::Statement& statement);
  Result<Done> run_body(const ir::Sort& sort, const ir::Statement& statement);
  Result<Done> run_body(const ir::Compact& compact, const ir::Statement& statement);
  Result<Done> run_body(const ir::Opaque& opaque, const ir::Statement& statement);
  Result<Done> find_base(const ir::Scatter& scatter);
  Result<Done> run_kernel_at(const ir::Kernel& kernel, const ir::Statement& statement);
  Result<Done> move_view(const ir::View& view, const ir::Statement& statement);
  Result<Done> finish(const KernelResult& result, const ir::Statement& statement,
                      ir::TensorId output) const;
  Diagnostic out_of_range(const Fault& fault, const ir::Statement& statement,
                          ir::TensorId output) const;
  void report_points(int64_t done);

  // run_loops.cpp: statements with bodies
  Result<Done> run_body(const ir::Repeat& repeat, const ir::Statement& statement);
  Result<Done> run_body(const ir::While& loop, const ir::Statement& statement);
  Result<Done> run_body(const ir::If& branches, const ir::Statement& statement);
  Result<Done> enter(const std::vector<ir::Carried>& carried);
  Result<Done> stack_up(const ir::Repeat& repeat);
  Result<Done> carry(const std::vector<ir::Carried>& carried,
                     const std::vector<ir::Statement>& body);
  Result<Done> leave(const std::vector<ir::Carried>& carried,
                     const std::vector<ir::Stacked>& stacked);
  Diagnostic too_many_steps(const ir::While& loop, const ir::Statement& statement) const;
  void release(const std::vector<ir::TensorId>& ids);
  bool truth(ir::TensorId id);

  // buffers
  DataRef find(ir::TensorId id);
  std::byte* first_element(ir::TensorId id);
  Result<Done> allocate(ir::TensorId id);
  Result<Buffer> new_buffer(const ir::Tensor& tensor) const;
  /// A buffer that holds the tensor row-major: its own, or a copy of a view.
  Result<Buffer> whole(ir::TensorId id);
  const Placement& placement(ir::TensorId id) const { return plan_.placements[index(id)]; }

  /// A statement's kernel, planned once; in a body it is kept for the next step.
  struct Kept {
    ir::Kernel copy = {};  // of a view that is copied
    std::unique_ptr<PreparedKernel> kernel = {};
    std::shared_ptr<PreparedScatter> scatter = {};
  };

  const ir::Program& program_;
  const Inputs& inputs_;
  const RunOptions& options_;
  std::vector<ir::TensorId> kept_;
  MemoryPlan plan_;
  std::vector<Buffer> data_;      // per owner, while it lives
  std::vector<int64_t> offsets_;  // per tensor: of a moving view, now
  std::vector<int64_t> steps_;    // per step variable: its value now
  std::vector<ControlPath> paths_;
  std::unordered_map<const ir::Statement*, Kept> prepared_ = {};
  const std::vector<ir::TensorId>* released_ = nullptr;  // by the statement that runs now
  int depth_ = 0;                                        // of loops
  ThreadTeam team_;
  RunContext context_ = {};
  int64_t all_points_ = 0, done_points_ = 0, reported_points_ = 0;
};

}  // namespace solar::exec

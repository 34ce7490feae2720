#pragma once
// The interpreter's run of a program; executor.h has the interface.

#include <functional>
#include <memory>

#include "exec/executor.h"
#include "exec/kernel_run.h"

namespace solar::exec {

using MakeEngine = std::function<std::unique_ptr<KernelEngine>(const ir::Program&)>;

class Interpreter final : public Executor {
 public:
  /// Kernels go to an engine first, if one is given; a new one is made for each run.
  explicit Interpreter(MakeEngine make_engine = {}) : make_engine_(std::move(make_engine)) {}
  Result<Outputs> run(const ir::VerifiedProgram& program, const Inputs& inputs,
                      const RunOptions& options) const override;

 private:
  MakeEngine make_engine_;
};

/// The run itself, of a program that has been verified.
Result<Outputs> run_program(const ir::Program& program, const Inputs& inputs,
                            const RunOptions& options, KernelEngine* engine = nullptr);

}  // namespace solar::exec

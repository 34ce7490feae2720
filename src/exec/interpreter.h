#pragma once
// The interpreter's run of a program; executor.h has the interface.

#include "exec/executor.h"
#include "exec/memory_plan.h"

namespace solar::exec {

class Interpreter final : public Executor {
 public:
  Result<Outputs> run(const ir::VerifiedProgram& program, const Inputs& inputs,
                      const RunOptions& options) const override;
};

}  // namespace solar::exec

#include "validate/inside.h"

#include <fmt/format.h>

#include "ir/parser.h"
#include "ir/unify_dims.h"
#include "ir/verify.h"

namespace solar::validate {

Result<Inside> inside_of(const frontend::TracedProgram& trace) {
  SOLAR_TRY(std::vector<frontend::TraceStep> steps, frontend::read_steps(trace));
  SOLAR_TRY(const ir::ast::File raw, ir::parse_text(trace.name, trace.alir));
  SOLAR_TRY(const ir::ast::File file, ir::unify_dims(raw));
  SOLAR_TRY(ir::VerifiedProgram program, ir::verify(file));
  return Inside{std::move(steps), std::move(program)};
}

Result<exec::NamedTensors> original_inside(frontend::WorkerPool& pool,
                                           const frontend::SourceRequest& request,
                                           const frontend::TracedProgram& trace,
                                           const Inside& inside, size_t begin, size_t end,
                                           const Run& run, const std::string& folder,
                                           const Options& options) {
  frontend::GoldenRequest golden = request_for(request, ports_of(trace), run);
  golden.out = fmt::format("{}/steps.safetensors", folder);
  std::vector<std::string> nodes;
  for (size_t i = begin; i < end; ++i) nodes.push_back(inside.steps[i].node);
  SOLAR_TRY(const std::string path,
            frontend::run_steps(pool, golden, nodes, options.limits, {options.cancel, {}}));
  return take_tensors(path);
}

const exec::TensorData* value_of(const exec::NamedTensors& tensors, const frontend::TraceStep& step,
                                 size_t place) {
  const auto at = tensors.find(fmt::format("node/{}/{}", step.node, place));
  return at == tensors.end() ? nullptr : &at->second;
}

exec::RunOptions run_options(const Options& options) {
  exec::RunOptions run;
  run.memory_limit = options.full_bytes;
  run.cancel = options.cancel;
  run.threads = options.limits.threads;
  return run;
}

}  // namespace solar::validate

#include "exec/limits.h"

#include <fmt/format.h>

namespace solar::exec {
namespace {

void check(const std::string& what, size_t count, const char* parts, const Span& span,
           Diagnostics& problems) {
  if (count <= kMostLoops) return;
  Diagnostic problem;
  problem.kind = DiagnosticKind::NotSupported;
  problem.message =
      fmt::format("{} has {} {}, at most {} can be run", what, count, parts, kMostLoops);
  problem.span = span;
  problem.hint = "merge axes with a view, or split the kernel";
  problems.push_back(std::move(problem));
}

void check(const ir::Program& program, const std::vector<ir::Statement>& statements,
           Diagnostics& problems) {
  for (const ir::Statement& statement : statements) {
    const auto check_nest = [&](const ir::Kernel& nest) {
      check(fmt::format("the kernel of `{}`", program.tensor(nest.output).name), nest.loops.size(),
            "loops", statement.span, problems);
    };
    if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) check_nest(*kernel);
    if (const auto* scatter = std::get_if<ir::Scatter>(&statement.body)) check_nest(scatter->nest);
    if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body))
      check(program, repeat->body, problems);
    if (const auto* loop = std::get_if<ir::While>(&statement.body))
      check(program, loop->body, problems);
    if (const auto* branch = std::get_if<ir::If>(&statement.body)) {
      check(program, branch->taken.body, problems);
      check(program, branch->otherwise.body, problems);
    }
  }
}

}  // namespace

Result<Done> check_limits(const ir::Program& program) {
  Diagnostics problems;
  for (const ir::Tensor& tensor : program.tensors) {
    check(fmt::format("tensor `{}`", tensor.name), tensor.shape.size(), "axes", tensor.span,
          problems);
  }
  check(program, program.statements, problems);
  if (!problems.empty()) return problems;
  return Done{};
}

}  // namespace solar::exec
